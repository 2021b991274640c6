"""New counts for the instances of a component."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from karta_interpreter.errors import (
    PathNotWritableError,
    QueryError,
    QueryWriteError,
    WorkloadError,
    WriteVerificationError,
)
from karta_interpreter.jq import Location, Query
from karta_interpreter.jq.inprocess.values import equal
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Component
from karta_interpreter.karta.evaluation import failure, instance_ids, query_failure
from karta_interpreter.karta.scale import LARGEST, replica_counts
from karta_interpreter.workload.document import named
from karta_interpreter.workload.writing import check_pods_exist

_FIELD = "replicasPath"


def scale_to(component: Component, obj: Object, counts: Mapping[str, int]) -> Object:
    """The object for which the replicas of the given instances are the given ones, and those of all others as before.

    Counts are those of `replicasPath`: of the whole workload, all factors multiplied in. Raises
    PathNotWritableError where no object that differs in one place has that count.
    """
    _check(component, counts)
    query = component.replicas
    if not counts:
        return obj
    if query is None:
        raise PathNotWritableError(f"{named(component)}: there is no {_FIELD}, so there is no place to write to")
    check_pods_exist(component, obj, counts)
    ids = instance_ids(component, obj)
    before = dict(zip(ids, replica_counts(component, obj, ids), strict=True))
    scaled = _written(component, query, obj, [counts.get(name) for name in ids])
    _read_back(component, query, scaled, {**before, **counts})
    return scaled


def _check(component: Component, counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        if type(count) is not int or not 0 <= count <= LARGEST:
            what = f"the replicas of {name}" if name else "the replicas"
            message = f"{what} must be a whole number from 0 to {LARGEST}, not {count!r}"
            raise WorkloadError(f"{named(component)}: {message}")


def _written(component: Component, query: Query, obj: Object, counts: Sequence[int | None]) -> Object:
    """The object with each count, where there is one, at the place of its instance."""
    try:
        outputs = query.evaluate(obj)
        wanted = {at: count for at, count in enumerate(counts) if count is not None and not equal(outputs[at], count)}
        locations = query.locate_each(obj) if wanted else []
        for position, count in wanted.items():
            obj = _place(locations, position).write(obj, count)
    except QueryWriteError as err:
        raise PathNotWritableError(str(query_failure(component, _FIELD, query, err))) from err
    except QueryError as err:
        raise query_failure(component, _FIELD, query, err) from err
    return obj


def _place(locations: Sequence[Location | None], position: int) -> Location:
    location = locations[position]
    if location is None:
        raise QueryWriteError(f"result {position + 1} is computed; there is no place to write it to")
    return location


def _read_back(component: Component, query: Query, obj: Object, expected: Mapping[str, int]) -> None:
    """Instances may share a place, such as a number of groups: then one cannot change alone."""
    ids = instance_ids(component, obj)
    found = dict(zip(ids, replica_counts(component, obj, ids), strict=True))
    if found != expected:
        wrong = next((name for name in expected if found.get(name) != expected[name]), "")
        reason = (
            f"the replicas of {wrong or 'the component'} would become {found.get(wrong)}, not {expected.get(wrong)}"
        )
        raise WriteVerificationError(str(failure(component, _FIELD, query, f"{reason}; nothing was changed")))


Direction = Literal["suspend", "resume"]


def apply_actions(components: Iterable[Component], direction: Direction, obj: Object) -> Object:
    """The object after the actions of the components, in sequence; the same where that changes nothing.

    Raises PathNotWritableError for an action whose path names no place.
    """
    changed = obj
    for component in components:
        actions = component.suspend if direction == "suspend" else component.resume
        for index, action in enumerate(actions):
            try:
                changed = action.path.assign(changed, action.value)
            except QueryError as err:
                field = f"{direction}Actions[{index}].path"
                raise PathNotWritableError(str(query_failure(component, field, action.path, err))) from err
    return obj if equal(obj, changed) else changed
