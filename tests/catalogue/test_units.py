"""Kinds in which one field multiplies all pods are counted, charged and divided in units of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.edit import get, set_value
from karta_interpreter.base.k8s.patch import changes
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.base.k8s.values import Object, Path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, Options, interpret
from tests.catalogue.entries import Entry, applies, entries
from tests.catalogue.knowledge import knowing

_REPLICAS: Final[Path] = ("spec", "replicas")
_FIELDS: Final[dict[str, Path]] = {
    "LeaderWorkerSet": _REPLICAS,
    "PodCliqueSet": _REPLICAS,
    "ModelServing": _REPLICAS,
    "StormService": _REPLICAS,
    "RayClusterFleet": _REPLICAS,
    "RoleBasedGroupSet": _REPLICAS,
    "DisaggregatedSet": ("spec", "slices"),
}
"""The field of each kind, as its operator reads it."""
_WEIGHTS: Final = ((1, 1), (2, 1), (3, 2))
_UNITS: Final = range(2, 8)


def _has_unit(entry: Entry) -> bool:
    return entry.definition is not None and entry.definition.annotations.unit is not None


UNITS = applies(_has_unit)


def _ask(definition: Definition, operation: Operation, obj: Object, replicas: int | None = None) -> Any:
    return interpret(knowing(definition, obj), Call(operation, obj, replicas=replicas))


def _with_units(definition: Definition, objects: Sequence[Object], units: int) -> Iterator[Object]:
    for obj in objects:
        changed = set_value(obj, _FIELDS[definition.gvk.kind], units)
        with suppress(InterpretationError):
            if _ask(definition, Operation.INTERPRET_COMPONENT, changed)["components"]:
                yield changed


def _total(pods: Sequence[Any]) -> tuple[int, Counter[str]]:
    """Return the number of pods, and what they request together."""
    requests = Counter[str]()
    for each in pods:
        for name, amount in get(each, ("replicaRequirements", "resourceRequest"), {}).items():
            requests[name] += Quantity.parse(amount).nanos * each["replicas"]
    return sum(each["replicas"] for each in pods), requests


def _division(units: int, weights: tuple[int, int]) -> tuple[int, int]:
    first = -(-units * weights[0] // sum(weights))
    return first, units - first


def test_kinds_are_the_ones_with_a_field_that_multiplies_all_pods() -> None:
    kinds = {entry.definition.gvk.kind for entry in entries() if entry.definition and _has_unit(entry)}
    assert kinds == _FIELDS.keys()


@UNITS
def test_requirement_of_a_unit_times_units_is_the_sum_over_the_components(
    definition: Definition, objects: Sequence[Object]
) -> None:
    for obj in _with_units(definition, objects, 1):
        pods, requests = _total(_ask(definition, Operation.INTERPRET_COMPONENT, obj)["components"])
        # There is no set without a slice.
        for units in (1, 5) if definition.gvk.kind == "DisaggregatedSet" else (0, 1, 5):
            changed = set_value(obj, _FIELDS[definition.gvk.kind], units)
            answer = _ask(definition, Operation.INTERPRET_REPLICA, changed)
            made = _total(_ask(definition, Operation.INTERPRET_COMPONENT, changed)["components"])
            assert answer["replica"] == units
            assert made == (pods * units, Counter({name: amount * units for name, amount in requests.items()}))
            one = get(answer, ("requires", "resourceRequest"), {}) if answer["requires"] else {}
            assert {name: Quantity.parse(amount).nanos for name, amount in one.items()} == {
                name: amount for name, amount in requests.items() if amount
            }


@UNITS
def test_every_division_is_written_and_changes_the_unit_only(definition: Definition, objects: Sequence[Object]) -> None:
    field, divided = _FIELDS[definition.gvk.kind], {rule.value.text for rule in definition.annotations.divided}
    for units in _UNITS:
        for obj in _with_units(definition, objects, units):
            pods, _ = _total(_ask(definition, Operation.INTERPRET_COMPONENT, obj)["components"])
            for weights in _WEIGHTS:
                shares = tuple(filter(None, _division(units, weights)))  # a cluster without a share gets nothing
                revised = [_ask(definition, Operation.REVISE_REPLICA, obj, share)["revised"] for share in shares]
                counted = [_ask(definition, Operation.INTERPRET_REPLICA, each)["replica"] for each in revised]
                made = [
                    _total(_ask(definition, Operation.INTERPRET_COMPONENT, each)["components"])[0] for each in revised
                ]
                written = {change.path for each in revised for change in changes(obj, each)}
                assert tuple(counted) == shares
                assert sum(made) == pods
                assert divided or written <= {field}


@UNITS
def test_more_units_than_the_object_has_are_refused(definition: Definition, objects: Sequence[Object]) -> None:
    for obj in _with_units(definition, objects, 5):
        for share in (6, 13, 20):
            with pytest.raises(InterpretationError, match="a share is never more"):
                _ask(definition, Operation.REVISE_REPLICA, obj, share)


@UNITS
def test_kind_can_be_counted_in_pods(definition: Definition, objects: Sequence[Object]) -> None:
    for name in (definition.gvk.kind.lower(), f"{definition.gvk.api_version}/*"):
        options = Options(count_pods=(name,))
        for obj in _with_units(definition, objects, 2):
            pods, _ = _total(_ask(definition, Operation.INTERPRET_COMPONENT, obj)["components"])
            known = knowing(definition, obj)
            assert interpret(known, Call(Operation.INTERPRET_REPLICA, obj), options)["replica"] == pods
            revised = interpret(known, Call(Operation.REVISE_REPLICA, obj, replicas=pods), options)["revised"]
            assert get(revised, _FIELDS[definition.gvk.kind]) == 2
