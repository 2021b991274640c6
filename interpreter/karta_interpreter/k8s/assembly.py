"""From a document's parse events to its value and the place of every part of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from sys import intern
from typing import Any

import yaml

from karta_interpreter.errors import ManifestError
from karta_interpreter.k8s.scalars import resolve
from karta_interpreter.k8s.values import JSON, type_name

MAX_DEPTH = 200
"""Levels of nesting; JSON encoders stop a little above it."""

MAX_ALIASED = 100_000
"""Values that the aliases of one document may stand for, all together."""

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", _TAG + "str"})
_PLAIN_TAGS = frozenset({_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"})
_CONTAINER_TAGS = frozenset({"!", _TAG + "map", _TAG + "seq"})


@dataclass(slots=True)
class Mark:
    """Where a value and its parts stand in the text; lines and columns count from 1.

    ``size`` is the number of values in it, itself included, and ``depth`` the levels of nesting.
    """

    line: int
    column: int
    size: int = 1
    depth: int = 0
    parts: "dict[str | int, Mark]" = field(default_factory=dict)


@dataclass(slots=True)
class _Sequence:
    mark: Mark
    anchor: str | None
    value: list[JSON] = field(default_factory=list)

    def accept(self, value: JSON, mark: Mark) -> None:
        self.mark.parts[len(self.value)] = mark
        self.value.append(value)


@dataclass(slots=True)
class _Mapping:
    mark: Mark
    anchor: str | None
    value: dict[str, JSON] = field(default_factory=dict)
    key: str | None = None
    merging: bool = False
    merged: list[tuple[dict[str, JSON], Mark]] = field(default_factory=list)

    @property
    def awaits_key(self) -> bool:
        return self.key is None and not self.merging

    def accept(self, value: JSON, mark: Mark) -> None:
        if self.merging:
            self._merge(value, mark)
        elif self.key is not None:
            self.value[self.key] = value
            self.mark.parts[self.key] = mark
        self.key, self.merging = None, False

    def _merge(self, value: JSON, mark: Mark) -> None:
        entries = value if isinstance(value, list) else [value]
        marks = list(mark.parts.values()) if isinstance(value, list) else [mark]
        for entry, place in zip(entries, marks, strict=True):
            if not isinstance(entry, dict):
                raise _error("<< needs a mapping or a list of mappings", place)
            self.merged.append((entry, place))

    def finish(self) -> None:
        """Add what was merged in; the mapping's own keys win, then the earlier of the merged ones."""
        for entry, mark in self.merged:
            for key in entry:
                if key not in self.value:
                    self.value[key] = entry[key]
                    self.mark.parts[key] = mark.parts[key]


class Assembly:
    """Builds one document from its events, without recursion; ``value`` and ``mark`` are its result."""

    def __init__(self) -> None:
        self.value: JSON = None
        self.mark = Mark(1, 1)
        self._open: list[_Sequence | _Mapping] = []
        self._anchors: dict[str | None, tuple[JSON, Mark] | None] = {}
        self._aliased = 0
        self._handlers: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.SequenceStartEvent: self._start,
            yaml.MappingStartEvent: self._start,
            yaml.SequenceEndEvent: self._end,
            yaml.MappingEndEvent: self._end,
        }

    def add(self, event: yaml.Event) -> None:
        """Take the next event; raises ManifestError for what JSON cannot hold."""
        self._handlers[type(event)](event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark = _mark(event)
        container = self._open[-1] if self._open else None
        if isinstance(container, _Mapping) and container.awaits_key:
            if event.implicit[0] and event.value == "<<":
                container.merging = True
            else:
                container.key = _key(event, container, mark)
                self._name(event.anchor, container.key, mark)
            return
        self._place(_value(event, mark), mark, event.anchor)

    def _alias(self, event: yaml.AliasEvent) -> None:
        mark = _mark(event)
        self._refuse_as_key(mark)
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
        self._place(value, Mark(mark.line, mark.column, original.size, original.depth, original.parts), None)

    def _start(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        mark = _mark(event)
        self._refuse_as_key(mark)
        if event.tag is not None and event.tag not in _CONTAINER_TAGS:
            raise _error(_unknown_tag(event.tag), mark)
        self._check_depth(1, mark)
        if event.anchor:
            self._anchors[event.anchor] = None
        opened = _Mapping if isinstance(event, yaml.MappingStartEvent) else _Sequence
        self._open.append(opened(mark, event.anchor))

    def _end(self, _event: yaml.Event) -> None:
        container = self._open.pop()
        if isinstance(container, _Mapping):
            container.finish()
        parts = container.mark.parts.values()
        container.mark.size += sum(part.size for part in parts)
        container.mark.depth = 1 + max((part.depth for part in parts), default=0)
        self._place(container.value, container.mark, container.anchor)

    def _place(self, value: JSON, mark: Mark, anchor: str | None) -> None:
        self._name(anchor, value, mark)
        if self._open:
            self._open[-1].accept(value, mark)
        else:
            self.value, self.mark = value, mark

    def _name(self, anchor: str | None, value: JSON, mark: Mark) -> None:
        if anchor:
            self._anchors[anchor] = value, mark

    def _check_depth(self, depth: int, mark: Mark) -> None:
        if len(self._open) + depth > MAX_DEPTH:
            raise _error(f"nested more than {MAX_DEPTH} levels deep", mark)

    def _refuse_as_key(self, mark: Mark) -> None:
        if self._open and isinstance(container := self._open[-1], _Mapping) and container.awaits_key:
            raise _error("a key must be a plain string", mark)


def _key(event: yaml.ScalarEvent, mapping: _Mapping, mark: Mark) -> str:
    key = _value(event, mark)
    if not isinstance(key, str):
        shown = event.value or "(empty)"
        raise _error(f"the key {shown} is {type_name(key)}, not a string; quote it", mark)
    if key in mapping.value:
        raise _error(f'the key "{key}" appears twice in one mapping', mark)
    return intern(key)  # definitions are kept, and have the same keys


def _value(event: yaml.ScalarEvent, mark: Mark) -> JSON:
    if event.tag is None and not event.implicit[0]:
        return event.value
    if event.tag in _TEXT_TAGS:
        return event.value
    if event.tag is not None and event.tag not in _PLAIN_TAGS:
        raise _error(_unknown_tag(event.tag), mark)
    try:
        return resolve(event.value)
    except ValueError as err:
        raise _error(str(err), mark) from err


def _mark(event: yaml.Event) -> Mark:
    start = event.start_mark
    return Mark(start.line + 1, start.column + 1) if start else Mark(0, 0)


def _unknown_tag(tag: str) -> str:
    return f"the tag {tag.replace(_TAG, '!!')} is not supported; a manifest holds plain JSON values"


def _error(message: str, mark: Mark) -> ManifestError:
    return ManifestError(message, line=mark.line, column=mark.column)
