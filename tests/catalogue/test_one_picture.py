"""An aggregated status is one picture: it means what the status of the worst cluster means."""

import json
from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import FAILING, Status
from karta_interpreter.engine.evaluation.status import match_status
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.aggregate.member_status import STATUSES_WORST_FIRST
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies

_GENERATION = 5
_OF_GENERATIONS = ("observedGeneration", "generation", "resourceTemplateGeneration")

_A_PART_EACH = "clusters have a part of the pods each, and the counters of all are compared with the whole template"
_A_PARTITION_EACH = "a partition is a number of pods of one cluster, and the counters are those of all"
_REASONS = {
    ("DaemonSet.apps.kruise.io", Status.SUSPENDING): _A_PARTITION_EACH,
    ("Deployment.apps", Status.INITIALIZING): _A_PART_EACH,
    ("InferenceService.serving.kserve.io", Status.DEGRADED): (
        "one cluster is not ready, and the model of another cannot be loaded"
    ),
    ("LLMInferenceService.serving.kserve.io", Status.SUSPENDING): (
        "a cluster that is to stop has no condition of its own for it"
    ),
    ("Milvus.milvus.io", Status.INITIALIZING): "the Deployments of a cluster, by which a roll-out shows, are its own",
    ("ModelServing.workload.serving.volcano.sh", Status.INITIALIZING): _A_PART_EACH,
    ("PodCliqueSet.grove.io", Status.DEGRADED): _A_PART_EACH,
    ("PodCliqueSet.grove.io", Status.INITIALIZING): _A_PART_EACH,
    ("RayCluster.ray.io", Status.DEGRADED): (
        "a cluster that has lost its head has been provisioned, and the whole has not"
    ),
    ("ReplicaSet.apps", Status.INITIALIZING): _A_PART_EACH,
    ("SidecarSet.apps.kruise.io", Status.SUSPENDING): _A_PARTITION_EACH,
    ("StatefulSet.apps", Status.INITIALIZING): _A_PART_EACH,
    ("StatefulSet.apps.kruise.io", Status.DEGRADED): _A_PART_EACH,
    ("StormService.orchestration.aibrix.ai", Status.INITIALIZING): _A_PART_EACH,
    ("UnitedDeployment.apps.kruise.io", Status.INITIALIZING): _A_PART_EACH,
}
"""Kinds, and statuses of the worst cluster, of which the aggregate may have another status."""


@pytest.mark.sweep
@applies(answers(Operation.AGGREGATE_STATUS, scripted=False))
def test_aggregate_has_the_status_of_the_worst_cluster(definition: Definition, cases: Sequence[Case]) -> None:
    deviating: dict[Status, str] = {}
    for template, statuses in _alike(cases):
        for pair in permutations(statuses, 2):
            worst, aggregate = _statuses(definition, template, pair)
            # Work goes on while it does in one cluster.
            goes_on = aggregate is Status.RUNNING and _completes(definition) and worst not in FAILING
            if worst is not aggregate and not goes_on:
                deviating[worst] = f"{aggregate}: {json.dumps(pair)}"
    reasons = {status for kind, status in _REASONS if kind == f"{definition.gvk.kind}.{definition.gvk.group}"}
    assert not {status: example for status, example in deviating.items() if status not in reasons}
    assert deviating.keys() == reasons, "each reason is needed"


def _completes(definition: Definition) -> bool:
    return definition.status is not None and Status.COMPLETED in dict(definition.status.mappings)


def _alike(cases: Sequence[Case]) -> Iterator[tuple[Object, list[Object]]]:
    """Yield templates and statuses of one form in the suites: a controller writes the same fields each time."""
    forms: dict[str, tuple[Object, dict[str, Object]]] = {}
    for case in cases:
        template = {key: value for key, value in case.call.object.items() if key != "status"}
        for status in filter(None, [case.call.object.get("status"), *(item.status for item in case.call.items)]):
            _, statuses = forms.setdefault(_form(template, status), (template, {}))
            statuses[json.dumps(status, sort_keys=True)] = status
    yield from ((template, list(statuses.values())) for template, statuses in forms.values())


def _form(template: Object, status: Object) -> str:
    conditions = status.get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    types = sorted(str(each.get("type")) for each in listed if isinstance(each, dict))
    fields = sorted(status.keys() - {*_OF_GENERATIONS})
    return json.dumps([template.get("spec"), fields, types], sort_keys=True)


def _statuses(definition: Definition, template: Object, pair: tuple[JSON, JSON]) -> tuple[Status, Status]:
    """Return the worst status of two clusters, and the status of what they make together."""
    template = {**template, "metadata": {**template.get("metadata", {}), "generation": _GENERATION}}
    current = list(map(_current, pair))
    items = tuple(StatusItem(f"member{number}", status) for number, status in enumerate(current))
    try:
        aggregate = interpret(definition, Call(Operation.AGGREGATE_STATUS, template, items=items))["aggregatedStatus"]
        worst = min((_worst(definition, {**template, "status": status}) for status in current), key=_rank)
        return worst, _worst(definition, aggregate)
    except InterpretationError:
        return Status.UNDEFINED, Status.UNDEFINED


def _current(status: JSON) -> JSON:
    """Return a status whose controller has seen the template as it is."""
    return status | dict.fromkeys(_OF_GENERATIONS, _GENERATION) if "observedGeneration" in status else status


def _worst(definition: Definition, obj: Object) -> Status:
    return min(match_status(definition, obj).matched, key=_rank)


def _rank(status: Status) -> int:
    return STATUSES_WORST_FIRST.index(status)
