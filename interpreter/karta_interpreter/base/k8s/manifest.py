"""YAML and JSON text as documents that know the positions of their values.

Unquoted scalars mean the same as for the API server (``sigs.k8s.io/yaml`` over ``go.yaml.in/yaml/v2``). That is YAML
1.1 with the numbers of Go: ``yes`` is true, ``0777`` and ``0o777`` are octal, times (``12:30``) and dates stay strings.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from sys import intern
from typing import Any, NamedTuple

import msgspec
import orjson
import yaml
from yaml.events import CollectionStartEvent, NodeEvent

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.k8s.values import JSON, MAX_DEPTH, NewObject, Path, before_object, type_name

MAX_ALIASED = 100_000
"""Values that the aliases of one document may stand for, all together: ten lines can stand for billions."""

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", _TAG + "str"})
_PLAIN_TAGS = frozenset({_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"})
_CONTAINER_TAGS = frozenset({"!", _TAG + "map", _TAG + "seq"})

MOST_DOCUMENTS = 10_000
"""How many documents, and how many objects in lists, a text may hold: each takes a kilobyte or more of memory."""
_BYTE_ORDER_MARK = "\ufeff"
# PyYAML may have been built without libyaml, which is many times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|[^\s,:\[\]{}"]+')
# Text whose first line of a document is indented, after comments and marks.
_INDENTED = re.compile(r"(?:(?:#[^\n]*|---[^\n]*|[ \t]*)\n)* +[^ #\n]")
_LIKE_JSON = re.compile(r'\s*[\[{][\[{\s]*["\]}]')


class Mark(msgspec.Struct):
    """The position of a value and of its parts in the text. Lines and columns count from 1.

    ``size`` is the number of values in it, itself included, and ``depth`` the levels of nesting.
    """

    line: int
    column: int
    size: int = 1
    depth: int = 0
    parts: "dict[str | int, Mark]" = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """One document of a manifest. ``line`` counts from 1."""

    value: JSON
    source: str
    line: int
    _mark: Mark = field(repr=False, compare=False)

    def position(self, path: Path) -> tuple[int, int]:
        r"""Return line and column, from 1, of the value at ``path``, or of its nearest ancestor that exists.

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
    r"""Return the documents of a manifest in their order, without the empty ones.

    YAML means the same as for the API server, but a key that appears twice, a key that is not a string, and NaN or
    infinity are refused. So are more than 10,000 documents. ``source`` names the text in the documents. ``texts`` are
    plain scalars that stay text, such as `SWITCHES`. Raises ManifestError. Its message leaves out source, line and
    column.

    >>> [document.value for document in read_documents("replicas: 2\n---\n# nothing\n---\n[on]", "-")]
    [{'replicas': 2}, [True]]
    """
    documents: list[Document] = []
    events: Iterator[Any] = _events(text.removeprefix(_BYTE_ORDER_MARK))
    for event in events:
        if not isinstance(event, yaml.DocumentStartEvent):
            continue  # the start or the end of the text, or the end of a document
        before_object.get()()
        value, mark = Assembly(events, texts).read(next(events))
        if len(documents) == MOST_DOCUMENTS:
            raise _error(f"more than {MOST_DOCUMENTS} documents in one text", mark)
        if value is not None:
            documents.append(Document(value, source, mark.line, mark))
    return documents


class PlacedValue(NamedTuple):
    """A value of a text, with its document and its path in that."""

    document: Document
    path: Path
    value: JSON

    def position(self, path: Path = ()) -> tuple[int, int]:
        """Return line and column of the part at a path of the value, or of its nearest ancestor that exists."""
        return self.document.position((*self.path, *path))


def read_objects(text: str, source: str, *kinds: str) -> list[PlacedValue]:
    r"""Return every object of a manifest with its place.

    The items of a ``List``, and of the lists of these ``kinds``, are returned one by one. An API server gives their
    kind with the list only. Raises ManifestError as
    `read_documents`, and for more than 10,000 objects.

    >>> text = "apiVersion: batch/v1\nkind: JobList\nitems: [{spec: {}}]"
    >>> [(path, value) for _, path, value in read_objects(text, "-", "Job")]
    [(('items', 0), {'apiVersion': 'batch/v1', 'kind': 'Job', 'spec': {}})]
    """
    lists = ("List", *(f"{kind}List" for kind in kinds))
    objects: list[PlacedValue] = []
    for document in read_documents(text, source):
        value = document.value
        if isinstance(value, dict) and value.get("kind") in lists and isinstance(value.get("items"), list):
            of_list = (
                {}
                if value["kind"] == "List"
                else {"apiVersion": value.get("apiVersion"), "kind": value["kind"].removesuffix("List")}
            )
            objects += [
                PlacedValue(document, ("items", index), {**of_list, **item} if isinstance(item, dict) else item)
                for index, item in enumerate(value["items"])
            ]
        else:
            objects.append(PlacedValue(document, (), value))
        if len(objects) > MOST_DOCUMENTS:
            raise ManifestError(f"more than {MOST_DOCUMENTS} objects in one text", line=document.line, column=1)
    return objects


def elements_of(places: Iterable[PlacedValue]) -> Iterator[PlacedValue]:
    """Yield the elements of lists one by one, and every other value."""
    for place in places:
        if isinstance(place.value, list):
            for index, element in enumerate(place.value):
                yield PlacedValue(place.document, (*place.path, index), element)
        else:
            yield place


class Assembly:
    """Reads one document from the events of its text."""

    def __init__(self, events: Iterator[Any], texts: Container[str] = ()) -> None:
        """``texts`` are plain scalars that stay text."""
        self._events = events
        self._texts = texts
        self._depth = 0
        self._aliased = 0
        self._anchors: dict[str | None, tuple[JSON, Mark] | None] = {}  # None while the value is being read

    def read(self, event: NodeEvent) -> tuple[JSON, Mark]:
        """Return the value that starts with an event, and its place.

        Raise ManifestError for a value that JSON cannot hold.
        """
        mark = _mark(event)
        match event:
            case yaml.AliasEvent():
                return self._alias(event, mark)
            case yaml.ScalarEvent():
                value = _value(event, mark, self._texts)
            case CollectionStartEvent():
                self._open(event, mark)
                value = self._mapping(mark) if isinstance(event, yaml.MappingStartEvent) else self._sequence(mark)
                self._depth -= 1
                parts = mark.parts.values()
                mark.size += sum([child.size for child in parts])
                mark.depth = 1 + max([child.depth for child in parts], default=0)
        if event.anchor:
            self._anchors[event.anchor] = value, mark
        return value, mark

    def _open(self, event: CollectionStartEvent, mark: Mark) -> None:
        if event.tag is not None and event.tag not in _CONTAINER_TAGS:
            raise _error(_unknown_tag(event.tag), mark)
        self._check_depth(1, mark)
        self._depth += 1
        self._anchors[event.anchor] = None

    def _sequence(self, mark: Mark) -> list[JSON]:
        values: list[JSON] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            value, mark.parts[len(values)] = self.read(event)
            values.append(value)
        return values

    def _mapping(self, mark: Mark) -> NewObject:
        values: NewObject = {}
        merged: list[tuple[NewObject, Mark]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            # In quotes it is an ordinary key.
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "<<":
                merged += _merged(*self.read(next(self._events)))
            else:
                key = self._key(event, values)
                values[key], mark.parts[key] = self.read(next(self._events))
        for entry, merged_mark in merged:  # the mapping's own keys win, then the earlier of the merged ones
            for key in entry:
                if key not in values:
                    values[key], mark.parts[key] = entry[key], merged_mark.parts[key]
        return values

    def _key(self, event: NodeEvent, keys: NewObject) -> str:
        mark = _mark(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise _error("a key must be a plain string", mark)
        key = _value(event, mark, self._texts)
        if not isinstance(key, str):
            raise _error(f"the key {event.value or '(empty)'} is {type_name(key)}, not a string; quote it", mark)
        if key in keys:
            advice = "keep one, join both, or write a list; --- stands between objects"
            raise _error(f'the key "{key}" appears twice in one mapping: {advice}', mark)
        if event.anchor:
            self._anchors[event.anchor] = key, mark
        return intern(key)  # definitions are kept, and have the same keys

    def _alias(self, event: yaml.AliasEvent, mark: Mark) -> tuple[JSON, Mark]:
        target = self._anchors.get(event.anchor)
        if target is None:
            is_open = event.anchor in self._anchors
            problem = "refers to the value it is in" if is_open else "refers to no anchor before it"
            raise _error(f"*{event.anchor} {problem}", mark)
        value, original = target
        self._aliased += original.size
        if self._aliased > MAX_ALIASED:
            raise _error(f"the aliases of this document stand for more than {MAX_ALIASED} values", mark)
        self._check_depth(original.depth, mark)
        return value, Mark(mark.line, mark.column, original.size, original.depth, original.parts)

    def _check_depth(self, depth: int, mark: Mark) -> None:
        if self._depth + depth > MAX_DEPTH:
            raise _error(f"nested more than {MAX_DEPTH} levels deep", mark)


def _merged(value: JSON, mark: Mark) -> list[tuple[NewObject, Mark]]:
    """Return the mappings of a merge key, ``<<``, and their places."""
    pairs = list(zip(value, mark.parts.values(), strict=True)) if isinstance(value, list) else [(value, mark)]
    for entry, entry_mark in pairs:
        if not isinstance(entry, dict):
            raise _error("<< needs a mapping or a list of mappings", entry_mark)
    return pairs


def _value(event: yaml.ScalarEvent, mark: Mark, texts: Container[str]) -> JSON:
    is_plain_text = event.tag is None and (not event.implicit[0] or event.value in texts)
    if is_plain_text or event.tag in _TEXT_TAGS:
        return event.value
    if event.tag is not None and event.tag not in _PLAIN_TAGS:
        raise _error(_unknown_tag(event.tag), mark)
    try:
        return resolve(event.value)
    except ValueError as err:
        raise _error(str(err), mark) from err


def _mark(event: NodeEvent) -> Mark:
    start = event.start_mark
    return _place(start.line, start.column) if start else Mark(0, 0)


def _unknown_tag(tag: str) -> str:
    return f"the tag {tag.replace(_TAG, '!!')} is not supported; a manifest holds plain JSON values"


def _error(message: str, mark: Mark) -> ManifestError:
    return ManifestError(message, line=mark.line, column=mark.column)


_WORDS: NewObject = {
    **{word: True for name in ("y", "yes", "true", "on") for word in (name, name.title(), name.upper())},
    **{word: False for name in ("n", "no", "false", "off") for word in (name, name.title(), name.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
SWITCHES = frozenset(word for word in _WORDS if word.lower() in ("y", "yes", "on", "n", "no", "off"))
"""Words that are booleans in YAML 1.1, and text in YAML 1.2."""
_NOT_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
# The Go library takes a sign behind `0b`, too.
_RADIX = re.compile(r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|(?<![-+]0)b([-+][01]+)|[oO]?([0-7]+))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT64_MIN, _UINT64_MAX, _INT64_MAX = -(2**63), 2**64 - 1, 2**63 - 1


def resolve(text: str) -> JSON:
    """Return the JSON value of a plain scalar. Raise ValueError for infinity and NaN, which JSON does not have.

    >>> [resolve(text) for text in ("yes", "1_000", "0x1F", "1e3", "2001-01-01", "1:30", "~")]
    [True, 1000, 31, 1000, '2001-01-01', '1:30', None]
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _NOT_JSON.fullmatch(text):
        raise ValueError(f"{text} is not a JSON number")
    number = _number(text.replace("_", ""))
    return text if number is None else number


def _number(digits: str) -> int | float | None:
    integer = _integer(digits)
    if integer is not None and _INT64_MIN <= integer <= _UINT64_MAX:
        return integer
    if not _FLOAT.fullmatch(digits):
        return None
    number = float(digits)
    if not math.isfinite(number):
        return None
    # Go writes an integral float without a fraction, and so it comes back as an integer.
    return int(number) if number.is_integer() and abs(number) <= _INT64_MAX else number


def _integer(digits: str) -> int | None:
    if _DECIMAL.fullmatch(digits):
        # Longer ones are floats to Go, and Python's `int` takes a time that grows with their square.
        return int(digits) if len(digits) <= len("-18446744073709551615") else None
    match = _RADIX.fullmatch(digits)
    if match is None:
        return None
    sign, hexadecimal, binary, signed_binary, octal = match.groups()
    binary = binary or signed_binary
    magnitude = int(hexadecimal or binary or octal, 16 if hexadecimal else 2 if binary else 8)
    return -magnitude if sign == "-" else magnitude


def _events(text: str) -> Iterator[yaml.Event]:
    """Yield the events of YAML text, or of JSON text if it is JSON.

    Most JSON is YAML too, but not surrogate escapes, keys of more than 1024 characters or U+0085 in a string. Raises
    ManifestError if the text is neither.
    """
    with suppress(orjson.JSONDecodeError):
        if text.lstrip().startswith(("{", "[")) and isinstance(orjson.loads(text), dict | list):
            return _json_events(text)
    return _yaml_events(text)


def _json_events(text: str) -> Iterator[yaml.Event]:
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
            # PyYAML marks a scalar in quotes this way, and it stays text. Below is a plain one, which may be a number.
            return yaml.ScalarEvent(None, None, (False, True), orjson.loads(lexeme), mark)
        case _:
            return yaml.ScalarEvent(None, None, (True, False), lexeme, mark)


def _yaml_events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as err:
        raise _mistake(err, text) from err
    except yaml.reader.ReaderError as err:
        raise _error(f"the character U+{err.character:04X} is not allowed", _place_at(text, err.position)) from err
    except UnicodeEncodeError as err:
        raise _error("half of a surrogate pair is not allowed", _place_at(text, err.start)) from err


def _mistake(err: yaml.MarkedYAMLError, text: str) -> ManifestError:
    """Return the problem in the words of the parser. Text that begins like JSON is read as JSON."""
    if _LIKE_JSON.match(text):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as wrong:
            return ManifestError(f"broken JSON: {wrong.msg}", line=wrong.lineno, column=wrong.colno)
    mark = err.problem_mark or yaml.Mark("", 0, -1, -1, "", 0)
    if err.context_mark and (err.context or "").startswith("while scanning"):
        mark = err.context_mark  # where the text begins that does not end
    problem = err.problem
    if problem and "<document start>" in problem:
        why = "the first line is indented, and this one is not" if _INDENTED.match(text) else "before it --- is missing"
        problem = f"the document ends above this line: {why}"
    return _error(": ".join(filter(None, (err.context, problem))), _place(mark.line, mark.column))


def _place_at(text: str, offset: int) -> Mark:
    return _place(text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1)


def _place(line: int, column: int) -> Mark:
    """Return a place from a line and a column that count from 0, as PyYAML's do."""
    return Mark(line + 1, column + 1)
