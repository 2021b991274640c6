"""A member whose report cannot be read changes nothing of what the others say: it is as silent, and it is named."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object, Path, parts_within
from karta_interpreter.base.karmada import Results, unread_reports
from karta_interpreter.definitions.karta import AggregateRule
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Operation, StatusItem
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies
from tests.support.examples import SWEEPS_ALL

_BOOKKEEPING: Final = ("generation", "resourceTemplateGeneration")
_MARKS: Final = ("zzz", '"zzz": 1', "987654321")
_STATUSES: Final = 6 if SWEEPS_ALL else 2


class _Damage(NamedTuple):
    what: str
    path: Path
    status: JSON


def _deep(levels: int) -> JSON:
    value: JSON = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def _damages(status: Object) -> Iterator[_Damage]:
    """Yield all that a hostile member may make of an honest status."""
    yield _Damage("a list", (), [status])
    yield _Damage("a text", (), "zzz")
    yield _Damage("deep", ("zzz",), {**status, "zzz": _deep(300)})
    for path, value in parts_within(status):
        if not path or path[0] in _BOOKKEEPING:
            continue
        yield _Damage("deep at", path, edit.set_value(status, path, _deep(300)))
        if type(value) in (int, float):
            yield _Damage("a large number", path, edit.set_value(status, path, 2**63))
            yield _Damage("a number as text", path, edit.set_value(status, path, "zzz"))
            yield _Damage("a number as object", path, edit.set_value(status, path, {"zzz": 1}))
        elif type(value) is str and value:
            yield _Damage("a text as number", path, edit.set_value(status, path, 987654321))
            yield _Damage("a text as object", path, edit.set_value(status, path, {"zzz": 1}))
    if isinstance(conditions := status.get("conditions"), list):
        for damaged in ("zzz", {"zzz": 1}, ["zzz"], [*conditions, "zzz"]):
            yield _Damage("conditions", ("conditions",), {**status, "conditions": damaged})


_ALWAYS_NAMED: Final = {"a list", "a text", "deep", "deep at", "a large number"}


@pytest.mark.sweep
@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_unread_report_is_as_silent_and_named(definition: Definition, cases: Sequence[Case]) -> None:
    """Two honest clusters and a hostile one, which comes first by name.

    A value of a wrong type that no answer has, such as that of a field that is left out, need not be named.
    """
    compared = 0
    for status in _reported(cases):
        silent = _answer(definition, None, status, status)
        if isinstance(silent, str):
            continue
        for damage in _damages(status):
            answer, place = _answer(definition, damage.status, status, status), f"{damage.what} {damage.path}"
            assert not isinstance(answer, str), f"{place}: {answer}"
            (text, *others) = *unread_reports(answer), ""
            if text:
                assert answer["aggregatedStatus"] == silent["aggregatedStatus"], place
                assert "cluster hostile cannot be read: " in text or "cluster hostile must be " in text, place
                assert not any(others)
                compared += 1
            else:
                assert damage.what not in _ALWAYS_NAMED, place
                shown = json.dumps(answer["aggregatedStatus"])
                assert not any(mark in shown for mark in _MARKS), place
    assert compared


@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_honest_reports_are_read(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        if case.call.operation is Operation.AGGREGATE_STATUS and case.error is None:
            results = own_answer(definition, case.call, DEFAULT_OPTIONS)
            assert not unread_reports(results), f"{case.source}:{case.line}"


@pytest.mark.sweep
@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_condition_without_status_is_left_out(definition: Definition, cases: Sequence[Case]) -> None:
    """Conditions of the others are merged by type, whatever one cluster lists beside its own."""
    if definition.annotations.aggregate.get(("status", "conditions")) is AggregateRule.CONCAT:
        return
    for status in _reported(cases):
        conditions = status.get("conditions")
        if not isinstance(conditions, list) or not all(_is_condition(condition) for condition in conditions):
            continue
        whole = _answer(definition, status, status)
        damaged = _answer(definition, status, {**status, "conditions": [*conditions, {"type": "Zzz"}]})
        if conditions and not isinstance(whole, str):
            assert not isinstance(damaged, str)
            assert damaged["aggregatedStatus"] == whole["aggregatedStatus"]
            assert len(unread_reports(damaged)) == 1


def _is_condition(value: JSON) -> bool:
    return isinstance(value, dict) and {"type", "status"} <= value.keys()


def _reported(cases: Sequence[Case]) -> list[Object]:
    """Return statuses that clusters report in cases."""
    statuses = list[Object]()
    for case in cases:
        if case.call.operation is Operation.AGGREGATE_STATUS:
            for item in case.call.items:
                if isinstance(item.status, dict) and item.status and item.status not in statuses:
                    statuses.append(item.status)
    return statuses[:_STATUSES]


def _answer(definition: Definition, first: JSON, *others: JSON) -> Results | str:
    """Return the answer or the error. The ``first`` status is that of the cluster hostile."""
    metadata: Any = {"name": "a", "generation": 1}
    template = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, "metadata": metadata}
    names = ("hostile", *(f"member{number}" for number in range(len(others))))
    items = [
        StatusItem.of({"clusterName": name, "status": status, "applied": True}, "item")
        for name, status in zip(names, (first, *others), strict=True)
    ]
    try:
        return own_answer(definition, Call(Operation.AGGREGATE_STATUS, template, items=tuple(items)), DEFAULT_OPTIONS)
    except InterpretationError as error:
        return str(error)
