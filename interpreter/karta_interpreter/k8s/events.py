"""YAML and JSON text as one kind of parse events, PyYAML's, each with its place in the text."""

import re
from bisect import bisect_right
from collections.abc import Iterator

import orjson
import yaml

from karta_interpreter.errors import ManifestError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|[^\s,:\[\]{}"]+')


def parse_events(text: str) -> Iterator[yaml.Event]:
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
            return yaml.ScalarEvent(None, None, (False, True), orjson.loads(lexeme), mark)
        case _:
            return yaml.ScalarEvent(None, None, (True, False), lexeme, mark)


def _yaml_events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        place = (mark.line, mark.column) if mark else (-1, -1)
        raise _error(_problem(err, text), place) from err
    except yaml.reader.ReaderError as err:
        raise _error(f"the character U+{err.character:04X} is not allowed", _place(text, err.position)) from err
    except UnicodeEncodeError as err:
        raise _error("half of a surrogate pair is not allowed", _place(text, err.start)) from err


def _problem(err: yaml.MarkedYAMLError, text: str) -> str:
    if err.problem_mark is not None and text[err.problem_mark.index :].startswith("\t"):
        return "a tab cannot indent YAML; use spaces"
    return ": ".join(part for part in (err.context, err.problem) if part)


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1


def _error(message: str, place: tuple[int, int]) -> ManifestError:
    """An error at a place whose line and column count from 0, as PyYAML's do."""
    return ManifestError(message, line=place[0] + 1, column=place[1] + 1)
