"""A workload without pods that is wanted so is healthy: Karmada moves unhealthy ones to another cluster."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

import pytest

from karta_interpreter.base.errors import InterpretationError, QueryWriteError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import ScaleLocation, scale_locations
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies, of_all_kinds
from tests.catalogue.knowledge import knowing

_HEALTH = Operation.INTERPRET_HEALTH
_NO_COUNTER = re.compile("generation|revision|index|port|restart", re.IGNORECASE)
_NEVER_ZERO = {
    "Cluster": "the CRD requires an instance, and a cluster hibernates by an annotation (cluster_types.go)",
    "Job": "Volcano refuses fewer pods than minAvailable (admit_job.go)",
}


@pytest.mark.slow
@of_all_kinds
@applies(answers(_HEALTH, scripted=False))
def test_healthy_workload_scaled_to_zero_stays_healthy(definition: Definition, cases: Sequence[Case]) -> None:
    if definition.gvk.kind in _NEVER_ZERO:
        return
    counted = [case.call.object for case in cases if case.call.operation is Operation.INTERPRET_REPLICA]
    for case in cases:
        if case.call.operation is not _HEALTH or not _is_healthy(definition, case.call.object):
            continue
        obj = _scaled_to_zero(definition, case.call.object, counted)
        assert obj is None or _is_healthy(definition, obj), case.name


def _is_healthy(definition: Definition, obj: Object) -> bool:
    try:
        healthy: bool = interpret(knowing(definition, obj), Call(_HEALTH, obj))["healthy"]
    except InterpretationError:
        return False
    return healthy


def _scaled_to_zero(definition: Definition, obj: Object, counted: Iterable[Object]) -> Object | None:
    """Return the object, with a spec of another case if its own has no counts, with 0 in all counts and counters."""
    wanted = {key: value for key, value in obj.items() if key != "spec"}
    for candidate in (obj, *({**wanted, "spec": {**each.get("spec", {}), **obj.get("spec", {})}} for each in counted)):
        if (counts := _counts(definition, candidate)) and all(each.count for each in counts):
            if not _is_healthy(definition, candidate):
                continue
            zero = candidate
            with suppress(QueryWriteError):  # a count that the definition never answers as 0
                for count in (each.count for each in counts if each.count):
                    zero = count.write(zero, 0)
                return {**zero, "status": _without_pods(obj.get("status"))}
    return None


def _counts(definition: Definition, obj: Object) -> Sequence[ScaleLocation]:
    try:
        return scale_locations(knowing(definition, obj), obj)
    except InterpretationError:
        return ()


def _without_pods(status: JSON) -> JSON:
    if isinstance(status, dict):
        return {name: value if _NO_COUNTER.search(name) else _without_pods(value) for name, value in status.items()}
    if isinstance(status, list):
        return [*map(_without_pods, status)]
    return 0 if type(status) is int else status
