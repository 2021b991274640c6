"""From a document's parse events to its value and the positions of all parts.

Unquoted scalars mean what they mean to the API server (``sigs.k8s.io/yaml`` over ``go.yaml.in/yaml/v2``). That is YAML
1.1 with the numbers of Go: ``yes`` is true, ``0777`` and ``0o777`` are octal, times (``12:30``) and dates stay strings.
"""

import math
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from sys import intern
from typing import Any

import yaml
from yaml.events import CollectionStartEvent, NodeEvent

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.k8s.values import JSON, type_name

MAX_DEPTH = 200
"""Levels of nesting; JSON encoders stop a little above it."""

MAX_ALIASED = 100_000
"""Values that the aliases of one document may stand for, all together: ten lines can stand for billions."""

TEMPLATE = "`{{` is not YAML: render the template first, as `helm template` does, or quote what is text"
_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", _TAG + "str"})
_PLAIN_TAGS = frozenset({_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"})
_CONTAINER_TAGS = frozenset({"!", _TAG + "map", _TAG + "seq"})


@dataclass(slots=True)
class Mark:
    """The position of a value and of its parts in the text; lines and columns count from 1.

    ``size`` is the number of values in it, itself included, and ``depth`` the levels of nesting.
    """

    line: int
    column: int
    size: int = 1
    depth: int = 0
    parts: "dict[str | int, Mark]" = field(default_factory=dict)


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
        """The value that starts with an event, and its place; raises ManifestError for what JSON cannot hold."""
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
                mark.size += sum([part.size for part in parts])
                mark.depth = 1 + max([part.depth for part in parts], default=0)
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

    def _mapping(self, mark: Mark) -> dict[str, JSON]:
        values: dict[str, JSON] = {}
        merged: list[tuple[dict[str, JSON], Mark]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            # In quotes it is an ordinary key.
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "<<":
                merged += _merged(*self.read(next(self._events)))
            else:
                key = self._key(event, values)
                values[key], mark.parts[key] = self.read(next(self._events))
        for entry, place in merged:  # the mapping's own keys win, then the earlier of the merged ones
            for key in entry:
                if key not in values:
                    values[key], mark.parts[key] = entry[key], place.parts[key]
        return values

    def _key(self, event: NodeEvent, taken: dict[str, JSON]) -> str:
        mark = _mark(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise _error(
                TEMPLATE if isinstance(event, yaml.MappingStartEvent) else "a key must be a plain string", mark
            )
        key = _value(event, mark, self._texts)
        if not isinstance(key, str):
            raise _error(f"the key {event.value or '(empty)'} is {type_name(key)}, not a string; quote it", mark)
        if key in taken:
            raise _error(f'the key "{key}" appears twice in one mapping', mark)
        if event.anchor:
            self._anchors[event.anchor] = key, mark
        return intern(key)  # definitions are kept, and have the same keys

    def _alias(self, event: yaml.AliasEvent, mark: Mark) -> tuple[JSON, Mark]:
        target = self._anchors.get(event.anchor)
        if target is None:
            known = event.anchor in self._anchors
            problem = "refers to the value it is in" if known else "refers to no anchor before it"
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


def _merged(value: JSON, mark: Mark) -> list[tuple[dict[str, JSON], Mark]]:
    """The mappings of a merge key, ``<<``, and their places."""
    pairs = list(zip(value, mark.parts.values(), strict=True)) if isinstance(value, list) else [(value, mark)]
    for entry, place in pairs:
        if not isinstance(entry, dict):
            raise _error("<< needs a mapping or a list of mappings", place)
    return pairs


def _value(event: yaml.ScalarEvent, mark: Mark, texts: Container[str]) -> JSON:
    if event.tag is None and (not event.implicit[0] or event.value in texts):
        return event.value
    if event.tag in _TEXT_TAGS:
        return event.value
    if event.tag is not None and event.tag not in _PLAIN_TAGS:
        raise _error(_unknown_tag(event.tag), mark)
    try:
        return resolve(event.value)
    except ValueError as err:
        raise _error(str(err), mark) from err


def _mark(event: NodeEvent) -> Mark:
    start = event.start_mark
    return Mark(start.line + 1, start.column + 1) if start else Mark(0, 0)


def _unknown_tag(tag: str) -> str:
    return f"the tag {tag.replace(_TAG, '!!')} is not supported; a manifest holds plain JSON values"


def _error(message: str, mark: Mark) -> ManifestError:
    return ManifestError(message, line=mark.line, column=mark.column)


_WORDS: dict[str, JSON] = {
    **{word: True for name in ("y", "yes", "true", "on") for word in (name, name.title(), name.upper())},
    **{word: False for name in ("n", "no", "false", "off") for word in (name, name.title(), name.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
SWITCHES = frozenset(word for word in _WORDS if word.lower() in ("y", "yes", "on", "n", "no", "off"))
"""Words that are booleans in YAML 1.1, and text in YAML 1.2."""
_NOT_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_RADIX = re.compile(r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT64_MIN, _UINT64_MAX, _INT64_MAX = -(2**63), 2**64 - 1, 2**63 - 1


def resolve(text: str) -> JSON:
    """The JSON value of a plain scalar; raises ValueError for infinity and NaN, which JSON does not have.

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
    parts = _RADIX.fullmatch(digits)
    if parts is None:
        return None
    sign, hexadecimal, binary, octal = parts.groups()
    magnitude = int(hexadecimal or binary or octal, 16 if hexadecimal else 2 if binary else 8)
    return -magnitude if sign == "-" else magnitude
