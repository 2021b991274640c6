"""A workload in several clusters comes to an end only with its parts."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.status import Status, match_status
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.call import StatusItem
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies
from tests.catalogue.knowledge import knowing

_TROUBLE = {Status.FAILED, Status.DEGRADED}

_ENDED_BY_DEFAULT = {
    "VirtualMachine": "an API server writes Stopped, the CRD's default, where a silent cluster leaves no state"
}
"""Kinds whose whole may be Completed beside a silent part, and why."""
_FAILED_BY_COUNTERS = {
    "RayCluster": "KubeRay 1.0 leaves the word failed until all workers run, and another cluster gains workers"
}
"""Kinds whose whole may be Failed without a part that is, and why."""


@pytest.mark.sweep
@applies(answers(Operation.AGGREGATE_STATUS))
def test_whole_completes_with_all_parts_and_never_fails_by_itself(
    definition: Definition, cases: Sequence[Case]
) -> None:
    # Of a part in trouble the whole has the state, and a broadcast may be completed and in trouble.
    compared = 0
    for template, parts in _pairs(cases):
        matched = [_statuses(definition, template, part) for part in parts]
        whole = _statuses(definition, template, _whole(definition, template, parts))
        if not any(_TROUBLE & part for part in matched):
            if definition.gvk.kind not in _ENDED_BY_DEFAULT or None not in parts:
                assert Status.COMPLETED not in whole or all(Status.COMPLETED in part for part in matched), parts
            if definition.gvk.kind not in _FAILED_BY_COUNTERS:
                assert Status.FAILED not in whole, parts
            compared += 1
    assert compared


def _pairs(cases: Sequence[Case]) -> Iterator[tuple[Object, tuple[JSON, JSON]]]:
    """Templates with what two clusters report of them; a cluster may also be silent."""
    live = [case.call.object for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    for one, other in product(live, [*live, None]):
        template = {key: value for key, value in one.items() if key != "status"}
        if other is None or _asked_for(one) == _asked_for(other):
            yield template, (one.get("status"), other.get("status") if other else None)


def _asked_for(obj: Object) -> tuple[JSON, JSON]:
    return obj.get("spec"), obj["metadata"].get("annotations")


def _statuses(definition: Definition, template: Object, status: JSON) -> set[Status]:
    return set(match_status(definition, {**template, "status": status}).matched)


def _whole(definition: Definition, template: Object, parts: Sequence[JSON]) -> JSON:
    items = tuple(StatusItem(cluster=f"cluster-{number}", status=part) for number, part in enumerate(parts))
    call = Call(Operation.AGGREGATE_STATUS, template, items=items)
    answer = interpret(knowing(definition, template), call)["aggregatedStatus"]
    assert isinstance(answer, dict)
    return answer.get("status")
