"""YAML and JSON text as documents that know the positions of their values."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.k8s.assembly import TEMPLATE, Assembly, Mark
from karta_interpreter.base.k8s.values import JSON, Path

MOST_DOCUMENTS = 10_000
"""How many documents, and how many objects in lists, a text may hold: each takes a kilobyte or more of memory."""
_BYTE_ORDER_MARK = "\ufeff"
# PyYAML may have been built without libyaml, which is many times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|[^\s,:\[\]{}"]+')
_LIKE_JSON = re.compile(r'\s*[\[{][\[{\s]*["\]}]')
# What no line of YAML may have; the parser stops at it, or on the next line.
_CULPRITS = {
    re.compile(r"""^[^#"']*?(\{\{)"""): TEMPLATE,
    re.compile(r"(?:^ *|[-:,?\[{] *)([\xa0\u2000-\u200b\u202f\u3000\ufeff])"): (
        "this is not a space but U+00A0, a no-break space, or one that looks like it: write a space instead"
    ),
}
# By the problem in the words of libyaml: the mistake, and whether it is where the context of the problem begins.
_PROBLEMS = {
    "mapping values are not allowed in this context": (
        "no key may begin here: indent it like the keys above it, and quote a value that has `: ` in it",
        False,
    ),
    "did not find expected key": (
        "a key must begin here: indent it like the keys above it, and quote a whole value, not a part of it",
        False,
    ),
    "did not find expected '-' indicator": (
        "an entry of a list must begin here: indent the line like the keys of an entry, or like those above the list",
        False,
    ),
    "could not find expected ':'": ("this line has no key with `: ` behind it", True),
    "found unexpected end of stream": ("this quote is never closed", True),
    "did not find expected ',' or ']'": ("the list in [ ] goes on with , or ends with ] here", False),
    "did not find expected ',' or '}'": ("the mapping in { } goes on with , or ends with } here", False),
    "found character that cannot start any token": ("a value cannot begin with this character: quote the value", False),
    "found unknown escape character": ("double quotes have no such escape: use single quotes, or double the \\", False),
    "block sequence entries are not allowed in this context": (
        "no entry of a list may begin here: write it on a line of its own, indented like the entries above it",
        False,
    ),
    "did not find expected <document start>": (
        "this belongs to nothing above it: indent it, or write --- above it where another document begins",
        False,
    ),
    "did not find expected node content": ("a value must stand here", False),
}


@dataclass(frozen=True)
class Document:
    """One document of a manifest; ``index`` counts from 0 and ``line`` from 1."""

    value: JSON
    source: str
    index: int
    line: int
    _mark: Mark = field(repr=False, compare=False)

    def position(self, path: Path) -> tuple[int, int]:
        r"""Line and column, from 1, of the value at ``path``, or of its nearest ancestor that exists.

        >>> (document,) = read_documents("kind: Job\nspec:\n  suspend: true\n", "job.yaml")
        >>> document.position(("spec", "suspend"))
        (3, 12)
        """
        mark = self._mark
        for step in path:
            if step not in mark.parts:
                break
            mark = mark.parts[step]
        return mark.line, mark.column


def read_documents(text: str, source: str, texts: Container[str] = ()) -> list[Document]:
    r"""The documents of a manifest in their order, the empty ones left out.

    YAML means what it means to the API server, but a key that appears twice, a key that is not a string, and
    NaN or infinity are refused, and so are more than 10,000 documents. ``source`` names the text in the documents;
    ``texts`` are plain scalars that stay text, such as `assembly.SWITCHES`.
    Raises ManifestError; its message leaves out source, line and column.

    >>> [document.value for document in read_documents("replicas: 2\n---\n# nothing\n---\n[on]", "-")]
    [{'replicas': 2}, [True]]
    """
    documents: list[Document] = []
    events: Iterator[Any] = _events(text.removeprefix(_BYTE_ORDER_MARK))
    for event in events:
        if not isinstance(event, yaml.DocumentStartEvent):
            continue  # the start or the end of the text, or the end of a document
        value, mark = Assembly(events, texts).read(next(events))
        if len(documents) == MOST_DOCUMENTS:
            raise ManifestError(f"more than {MOST_DOCUMENTS} documents in one text", line=mark.line, column=mark.column)
        if value is not None:
            documents.append(Document(value, source, len(documents), mark.line, mark))
    return documents


def read_objects(text: str, source: str, *kinds: str) -> list[tuple[Document, Path, JSON]]:
    r"""Return every object of a manifest with its document and its path in that.

    The items of a ``List``, and of the lists of these ``kinds``, are returned one by one. Raises ManifestError as
    `read_documents`, and for more than 10,000 objects.

    >>> [(path, value) for _, path, value in read_objects("kind: JobList\nitems: [{kind: Job}]", "-", "Job")]
    [(('items', 0), {'kind': 'Job'})]
    """
    lists = ("List", *(f"{kind}List" for kind in kinds))
    found: list[tuple[Document, Path, JSON]] = []
    for document in read_documents(text, source):
        value = document.value
        if isinstance(value, dict) and value.get("kind") in lists and isinstance(value.get("items"), list):
            found += [(document, ("items", index), item) for index, item in enumerate(value["items"])]
        else:
            found.append((document, (), value))
        if len(found) > MOST_DOCUMENTS:
            raise ManifestError(f"more than {MOST_DOCUMENTS} objects in one text", line=document.line, column=1)
    return found


def _events(text: str) -> Iterator[yaml.Event]:
    """The events of YAML text, or of JSON text where it is JSON.

    Most JSON is YAML too, but not surrogate escapes, keys of more than 1024 characters or U+0085 in a string.
    Raises ManifestError where the text is neither.
    """
    return _json_events(text) if _is_json(text) else _yaml_events(text)


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _json_events(text: str) -> Iterator[yaml.Event]:
    """The events of text that is known to be JSON."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    yield yaml.DocumentStartEvent()
    for match in _JSON_TOKEN.finditer(text):
        start = match.start()
        line = bisect_right(lines, start) - 1
        yield _json_event(match.group(), yaml.Mark("", start, line, start - lines[line], "", 0))
    yield yaml.DocumentEndEvent()


def _json_event(lexeme: str, mark: yaml.Mark) -> yaml.Event:
    match lexeme[0]:
        case "{":
            return yaml.MappingStartEvent(None, None, implicit=True, start_mark=mark)
        case "[":
            return yaml.SequenceStartEvent(None, None, implicit=True, start_mark=mark)
        case "}":
            return yaml.MappingEndEvent()
        case "]":
            return yaml.SequenceEndEvent()
        case '"':
            # As PyYAML marks a scalar in quotes, which stays text; below a plain one, which may be a number.
            return yaml.ScalarEvent(None, None, (False, True), orjson.loads(lexeme), mark)
        case _:
            return yaml.ScalarEvent(None, None, (True, False), lexeme, mark)


def _yaml_events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as err:
        raise _mistake(err, text) from err
    except yaml.reader.ReaderError as err:
        raise _error(f"the character U+{err.character:04X} is not allowed", _place(text, err.position)) from err
    except UnicodeEncodeError as err:
        raise _error("half of a surrogate pair is not allowed", _place(text, err.start)) from err


def _mistake(err: yaml.MarkedYAMLError, text: str) -> ManifestError:
    """The mistake behind an error of the parser, which may see no more than its consequences."""
    if _LIKE_JSON.match(text):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as wrong:
            return ManifestError(f"broken JSON: {wrong.msg}", line=wrong.lineno, column=wrong.colno)
    mark = err.problem_mark or yaml.Mark("", 0, -1, -1, "", 0)
    if text[mark.index :].startswith("\t"):
        return _error("a tab cannot indent YAML; use spaces", (mark.line, mark.column))
    lines = text.splitlines()[: mark.line + 1]
    for number in [number for number, line in enumerate(lines) if line.strip()][:-3:-1]:
        for pattern, message in _CULPRITS.items():
            if match := pattern.search(lines[number]):
                return _error(message, (number, match.start(1)))
    message, is_at_start = _PROBLEMS.get(
        err.problem or "", (": ".join(filter(None, (err.context, err.problem))), False)
    )
    begun = err.context_mark if is_at_start and err.context_mark else mark
    return _error(message, (begun.line, begun.column))


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1


def _error(message: str, place: tuple[int, int]) -> ManifestError:
    """An error at a place whose line and column count from 0, as PyYAML's do."""
    return ManifestError(message, line=place[0] + 1, column=place[1] + 1)
