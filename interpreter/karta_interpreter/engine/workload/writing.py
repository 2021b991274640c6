"""Writes to the instances of a component, following a plan like `writePlan` in `pkg/resource` of Karta's library."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from karta_interpreter.base.errors import (
    InstanceCountMismatchError,
    InterpretationError,
    PathNotWritableError,
    QueryError,
    QueryWriteError,
    WorkloadError,
    WriteVerificationError,
)
from karta_interpreter.base.k8s import JSON, MOST_REPLICAS, Object, Path, field_path, get, set_value
from karta_interpreter.definitions.karta import ComponentRules, Fragments
from karta_interpreter.engine.evaluation import (
    instance_ids,
    instance_templates,
    replica_counts,
)
from karta_interpreter.engine.workload.document import IDENTITY
from karta_interpreter.languages.jq import Location, Query, equal

Change = Callable[[JSON], JSON]
"""Maps the present value at a place (None if missing) to the new one."""

Direction = Literal["suspend", "resume"]

_REPLICAS = "replicasPath"


@dataclass(frozen=True)  # with a __dict__, which caches the values read
class _Field:
    """One field of a definition and the values of its expression before any change."""

    name: str
    query: Query
    object: Object

    @cached_property
    def outputs(self) -> list[JSON]:
        return self.query.evaluate(self.object)

    @cached_property
    def locations(self) -> list[Location | None]:
        try:
            return self.query.locate_each(self.object)
        except QueryWriteError as err:
            raise PathNotWritableError(str(err)) from err

    def location(self, position: int, *, unchanged: bool = True) -> Location:
        """Return the place of an output, by default only of an ``unchanged`` one. Raises PathNotWritableError."""
        location = self.locations[position]
        if location is not None and (location.is_unchanged or not unchanged):
            return location
        raise PathNotWritableError(
            self.query.message(f"result {position + 1} is computed; there is no place to write it to")
        )


class _Write(NamedTuple):
    """One value for one place. The field reads the place at ``position``."""

    field: _Field
    position: int
    place: Path
    value: JSON


class WritePlan:
    """Writes that are computed from the same object and applied together."""

    def __init__(self, component: ComponentRules, obj: Object) -> None:
        self._component = component
        self._object = obj
        self._ids = instance_ids(component, obj)
        self._fields: dict[str, _Field] = {}
        self._writes: dict[Path, _Write] = {}
        # Every path above a write. Conflicts between a write to a whole and writes to its parts are found without
        # comparing all pairs.
        self._parents: dict[Path, _Write] = {}

    def stage(self, field: str, query: Query, changes: Mapping[str, Change]) -> None:
        """Plan to change the outputs of a field's expression, for instances by id.

        Values that stay the same are left out, so even a computed value can be given as it was read. Raises
        PathNotWritableError and InstanceCountMismatchError.
        """
        self.stage_parts(field, query, {name: {(): change} for name, change in changes.items()})

    def stage_parts(self, field: str, query: Query, changes: Mapping[str, Mapping[Path, Change]]) -> None:
        """Plan to change parts of the outputs of a field's expression, for instances by id, as `stage`."""
        source = self._fields.setdefault(field, _Field(field, query, self._object))
        if len(source.outputs) != len(self._ids):
            results = "1 result" if len(source.outputs) == 1 else f"{len(source.outputs)} results"
            raise InstanceCountMismatchError(
                source.query.message(f"gives {results} for {len(self._ids)} instances; to be written, each needs one")
            )
        for position, name in enumerate(self._ids):
            for part, change in changes.get(name, {}).items():
                old = get(source.outputs[position], part)
                new = change(old)
                # Checked before the place is looked up: a computed value that stays the same need not be written.
                if not equal(old, new):
                    self._add(_Write(source, position, (*source.location(position).path, *part), new))

    def commit(self) -> Object:
        """Return the object with every write applied and read back, or the same object without writes."""
        changed: Object = self._object
        for write in self._writes.values():
            try:
                changed = set_value(changed, write.place, write.value)
            except InterpretationError as err:
                raise PathNotWritableError(write.field.query.message(str(err))) from err
        # A template at `.`, as in a Pod, may be written to. The result must remain the same object.
        for path in IDENTITY:
            if not equal(get(changed, path), get(self._object, path)):
                raise PathNotWritableError(
                    f"{self._component}: a change of pods would change {field_path(path)} of the workload"
                )
        for name in dict.fromkeys(write.field.name for write in self._writes.values()):
            self._read_back(self._fields[name], changed)
        return changed

    def _add(self, write: _Write) -> None:
        above = [write.place[:depth] for depth in range(len(write.place))]
        others = (self._writes.get(path) for path in (write.place, *above))
        other = next(filter(None, others), None) or self._parents.get(write.place)
        if other is not None:
            places = f"its place {field_path(write.place)} overlaps {field_path(other.place)} of {other.field.name}"
            raise PathNotWritableError(write.field.query.message(f"{places}; write one of them"))
        self._writes[write.place] = write
        self._parents.update(dict.fromkeys(above, write))

    def _read_back(self, field: _Field, changed: Object) -> None:
        """Evaluate the definition again. It must find every value at its place, for the same instances."""
        try:
            outputs = field.query.evaluate(changed)
            ids = instance_ids(self._component, changed)
        except InterpretationError as err:
            raise WriteVerificationError(field.query.message(f"fails after the change: {err}")) from err
        if ids != self._ids or len(outputs) != len(ids):
            raise WriteVerificationError(
                field.query.message("finds other instances after the change; nothing was changed")
            )
        written = {write.position for write in self._writes.values() if write.field is field}
        for position, name in enumerate(ids):
            # Instances may share a place, and then one cannot change without the others.
            if position not in written and not equal(outputs[position], field.outputs[position]):
                raise WriteVerificationError(field.query.message(f"would change for {name} too; nothing was changed"))
            if position in written and not equal(outputs[position], get(changed, field.location(position).path)):
                place = field_path(field.location(position).path)
                raise WriteVerificationError(
                    field.query.message(f"does not read {place} back as it was written; nothing was changed")
                )


def check_pods_exist(component: ComponentRules, obj: Object, names: Iterable[str]) -> None:
    """Raise PathNotWritableError if the object has no pods for a named instance.

    A change would create only half of such pods: a count without a template, or a scheduler without containers. Pods
    given in pieces have no such half.
    """
    if component.pods is None or isinstance(component.pods, Fragments):
        return
    ids = instance_ids(component, obj)
    by_id = dict(zip(ids, instance_templates(component, component.pods, obj, ids), strict=True))
    for name in names:
        if by_id[name] is None:
            instance = f" of {name}" if name else ""
            raise PathNotWritableError(f"{component}: the workload has no pods{instance} to change")


def scale_to(component: ComponentRules, obj: Object, counts: Mapping[str, int]) -> Object:
    """Return the object with these replicas for the given instances. All other instances keep their replicas.

    A count is a value of `replicasPath`, for the whole workload with all factors multiplied in. Raises
    PathNotWritableError if no change at one place leads to that count.
    """
    for name, count in counts.items():
        if type(count) is not int or not 0 <= count <= MOST_REPLICAS:
            what = f"the replicas of {name}" if name else "the replicas"
            raise WorkloadError(f"{component}: {what} must be a whole number from 0 to {MOST_REPLICAS}, not {count!r}")
    if component.replicas is None:
        raise PathNotWritableError(f"{component}: there is no {_REPLICAS}, so there is no place to write to")
    check_pods_exist(component, obj, counts)
    before, scaled = _counts(component, obj), obj
    field = _Field(_REPLICAS, component.replicas, obj)
    for position, name in enumerate(before):
        if name in counts and not equal(field.outputs[position], counts[name]):
            location = field.location(position, unchanged=False)
            try:
                scaled = location.write(scaled, counts[name], " pods")
            except QueryWriteError as err:
                raise PathNotWritableError(component.replicas.message(str(err))) from err
    # Instances may share a place, such as a number of groups. Then one cannot change without the others.
    expected, actual = {**before, **counts}, _counts(component, scaled)
    if actual != expected:
        wrong = next((name for name in expected if actual.get(name) != expected[name]), "")
        become = f"would become {actual.get(wrong)}, not {expected.get(wrong)}; nothing was changed"
        raise WriteVerificationError(field.query.message(f"the replicas of {wrong or 'the component'} {become}"))
    return scaled


def _counts(component: ComponentRules, obj: Object) -> dict[str, int]:
    ids = instance_ids(component, obj)
    return dict(zip(ids, replica_counts(component, obj, ids), strict=True))


def apply_actions(components: Iterable[ComponentRules], direction: Direction, obj: Object) -> Object:
    """Return the object after actions in sequence, the same one without a change.

    Raises WorkloadError without actions, PathNotWritableError without a place.
    """
    owners = [*components]
    actions = [action for component in owners for action in getattr(component, direction)]
    if not actions:
        named = ", ".join(component.name for component in owners)
        raise WorkloadError(f"definition {owners[0].definition} has no {direction}Actions on {named}")
    changed = obj
    for action in actions:
        try:
            changed = action.path.assign(changed, action.value)
        except QueryError as err:
            raise PathNotWritableError(str(err)) from err
    return obj if equal(obj, changed) else changed
