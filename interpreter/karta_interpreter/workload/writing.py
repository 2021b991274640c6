"""A plan of writes to one component, which all land or none.

Source: the merge write plan that Karta's library is getting (`writePlan` in `pkg/resource`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from karta_interpreter.errors import (
    InstanceCountMismatchError,
    InterpretationError,
    PathNotWritableError,
    QueryError,
    QueryWriteError,
    WriteVerificationError,
)
from karta_interpreter.jq import Location, Query
from karta_interpreter.jq.inprocess.values import equal
from karta_interpreter.k8s.edit import get, set_value
from karta_interpreter.k8s.values import JSON, Object, Path, field_path
from karta_interpreter.karta.definition import Component, Fragments
from karta_interpreter.karta.evaluation import evaluate, failure, instance_ids, query_failure
from karta_interpreter.karta.templates import templates
from karta_interpreter.workload.document import IDENTITY, named

Change = Callable[[JSON], JSON]
"""From what is at a place, None for nothing, to what will be there."""


@dataclass(frozen=True)  # with a __dict__, in which what was read is kept
class _Field:
    """One field of a definition and the values of its expression before any change."""

    component: Component
    name: str
    query: Query
    object: Object

    @cached_property
    def outputs(self) -> list[JSON]:
        return evaluate(self.component, self.name, self.query, self.object)

    @cached_property
    def locations(self) -> list[Location | None]:
        try:
            return self.query.locate_each(self.object)
        except QueryWriteError as err:
            raise PathNotWritableError(str(query_failure(self.component, self.name, self.query, err))) from err
        except QueryError as err:
            raise query_failure(self.component, self.name, self.query, err) from err

    def place(self, position: int) -> Path:
        """The place that an output is the value of; raises PathNotWritableError where there is none."""
        location = self.locations[position]
        if location is None or not location.is_unchanged:
            raise PathNotWritableError(
                self.said(f"result {position + 1} is computed; there is no place to write it to")
            )
        return location.path

    def said(self, reason: str) -> str:
        return str(failure(self.component, self.name, self.query, reason))


@dataclass(frozen=True, slots=True)
class _Write:
    """One value for one place, which is in what the field reads at ``position``."""

    field: _Field
    position: int
    place: Path
    value: JSON


class WritePlan:
    """Writes that are all computed from the same object and land together."""

    def __init__(self, component: Component, obj: Object) -> None:
        self._component = component
        self._object = obj
        self._ids = instance_ids(component, obj)
        self._fields: dict[str, _Field] = {}
        self._writes: dict[Path, _Write] = {}
        self._parents: dict[Path, _Write] = {}

    def stage(self, field: str, query: Query, changes: Mapping[str, Change], below: Path = ()) -> None:
        """Plan to change what is at ``below`` in the outputs of a field's expression, for instances by their id.

        What would not change is left out, so that even a computed value can be given as it was read. Raises
        PathNotWritableError and InstanceCountMismatchError.
        """
        source = self._fields.setdefault(field, _Field(self._component, field, query, self._object))
        if len(source.outputs) != len(self._ids):
            results = "1 result" if len(source.outputs) == 1 else f"{len(source.outputs)} results"
            reason = f"gives {results} for {len(self._ids)} instances; to be written, each needs one"
            raise InstanceCountMismatchError(source.said(reason))
        for position, name in enumerate(self._ids):
            if name in changes:
                old = get(source.outputs[position], below)
                new = changes[name](old)
                if not equal(old, new):
                    self._add(_Write(source, position, (*source.place(position), *below), new))

    def commit(self) -> Object:
        """The object with every write done, after reading all of them back; the same object without writes."""
        changed: JSON = self._object
        for write in self._writes.values():
            try:
                changed = set_value(changed, write.place, write.value)
            except InterpretationError as err:
                raise PathNotWritableError(write.field.said(str(err))) from err
        self._guard_identity(changed)
        self._read_back(changed)
        written: Object = changed
        return written

    def _add(self, write: _Write) -> None:
        above = [write.place[:depth] for depth in range(len(write.place))]
        others = (self._writes.get(place) for place in (write.place, *above))
        other = next(filter(None, others), None) or self._parents.get(write.place)
        if other is not None:
            places = f"its place {field_path(write.place)} overlaps {field_path(other.place)} of {other.field.name}"
            raise PathNotWritableError(write.field.said(f"{places}; write one of them"))
        self._writes[write.place] = write
        self._parents.update(dict.fromkeys(above, write))

    def _guard_identity(self, changed: JSON) -> None:
        for path in IDENTITY:
            if not equal(get(changed, path), get(self._object, path)):
                message = f"a change of pods would change {field_path(path)} of the workload"
                raise PathNotWritableError(f"{named(self._component)}: {message}")

    def _read_back(self, changed: Object) -> None:
        """Ask the definition again: it must find every value where it was put, for the same instances."""
        for field in {write.field.name: write.field for write in self._writes.values()}.values():
            try:
                read = field.query.evaluate(changed)
                ids = instance_ids(self._component, changed)
            except (QueryError, InterpretationError) as err:
                raise WriteVerificationError(field.said(f"fails after the change: {err}")) from err
            if ids != self._ids or len(read) != len(ids):
                raise WriteVerificationError(field.said("finds other instances after the change; nothing was changed"))
            for write in self._writes.values():
                if write.field is field and not equal(read[write.position], get(changed, field.place(write.position))):
                    reason = f"does not read {field_path(write.place)} back as it was written; nothing was changed"
                    raise WriteVerificationError(field.said(reason))


def check_pods_exist(component: Component, obj: Object, names: Iterable[str]) -> None:
    """Raise PathNotWritableError for an instance whose pods the object does not have.

    A change to them would bring half of them into being: a count without a template, a scheduler without
    containers. Pods given in pieces have no such half.
    """
    if component.pods is None or isinstance(component.pods, Fragments):
        return
    ids = instance_ids(component, obj)
    found = dict(zip(ids, templates(component, component.pods, obj, ids), strict=True))
    for name in names:
        if found[name] is None:
            instance = f" of {name}" if name else ""
            raise PathNotWritableError(f"{named(component)}: the workload has no pods{instance} to change")
