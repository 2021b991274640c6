"""A workload that was divided has completed when its total is done, whatever became of the division meanwhile.

The members' statuses are as their operators write them: what has to succeed before they end is in their code.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.evaluation import Status, match_status
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import of_all_kinds
from tests.proofs.conformance.customizations import Pair, Tally, compare_ours
from tests.support.both_ways import ask
from tests.support.rows import rows

Thing = dict[str, Any]

_TOTAL: Final = 12
_ENDED: Final = ("Complete", "Completed", "Succeeded")


class Kind(NamedTuple):
    """How a template wants a number, what a cluster that has completed a share reports, and what ends it earlier."""

    api_version: str
    kind: str
    spec: Callable[[int], Thing]
    completed: Callable[[int], Thing]
    exempt: Sequence[Thing] = ()


def _condition(name: str) -> list[Thing]:
    return [{"type": name, "status": "True", "reason": name, "lastTransitionTime": "2026-01-01T00:01:00Z"}]


def _of_workers(field: str, **others: Any) -> Callable[[int], Thing]:
    def spec(total: int) -> Thing:
        return {field: {"Worker": {"replicas": total}}, **others}

    return spec


def _training(done: int) -> Thing:
    return {"replicaStatuses": {"Worker": {"succeeded": done}}, "conditions": _condition("Succeeded")}


KINDS: Final = {
    # Complete when succeeded reaches completions (pkg/controller/job/job_controller.go).
    "Job": Kind(
        "batch/v1",
        "Job",
        lambda total: {"parallelism": total, "completions": total},
        lambda done: {"succeeded": done, "conditions": [*_condition("SuccessCriteriaMet"), *_condition("Complete")]},
        [{"successPolicy": {"rules": [{"succeededCount": 2}]}}, {"completions": None}],
    ),
    # All Jobs of the policy have to succeed (success_policy.go). Each member has its own driver, and a worker less.
    "JobSet": Kind(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        lambda total: {"replicatedJobs": [_job("driver", 1), _job("workers", total - 1)]},
        lambda done: {
            "replicatedJobsStatus": [{"name": "workers", "succeeded": done - 1}, {"name": "driver", "succeeded": 1}],
            "conditions": _condition("Completed"),
        },
        [{"successPolicy": {"operator": "Any"}}, {"successPolicy": {"targetReplicatedJobs": ["driver"]}}],
    ),
    # Completed when all pods have ended, some of them badly (pkg/controllers/job/state/running.go).
    "Volcano Job": Kind(
        "batch.volcano.sh/v1alpha1",
        "Job",
        lambda total: {"minAvailable": 1, "tasks": [{"name": "w", "replicas": total}]},
        lambda done: {"succeeded": done - 1, "failed": 1, "state": {"phase": "Completed"}},
        [{"minSuccess": 1}, {"policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]}],
    ),
    # Without a master all workers have to succeed (UpdateJobStatus of each controller in pkg/controller.v1).
    "JAXJob": Kind("kubeflow.org/v1", "JAXJob", _of_workers("jaxReplicaSpecs"), _training),
    "PyTorchJob": Kind(
        "kubeflow.org/v1",
        "PyTorchJob",
        _of_workers("pytorchReplicaSpecs"),
        _training,
        [{"elasticPolicy": {"minReplicas": 1}}, {"pytorchReplicaSpecs": {"Master": {}, "Worker": {"replicas": 12}}}],
    ),
    "PaddleJob": Kind(
        "kubeflow.org/v1",
        "PaddleJob",
        _of_workers("paddleReplicaSpecs"),
        _training,
        [{"paddleReplicaSpecs": {"Master": {}, "Worker": {"replicas": 12}}}],
    ),
    "TFJob": Kind(
        "kubeflow.org/v1",
        "TFJob",
        _of_workers("tfReplicaSpecs", successPolicy="AllWorkers"),
        _training,
        [{"successPolicy": ""}, {"tfReplicaSpecs": {"ps": {"replicas": 2}, "Worker": {"replicas": 12}}}],
    ),
}

UNCOUNTED: Final[Mapping[str, str]] = {
    "AppWrapper": "its components end each in its own way",
    "BroadcastJob": "its number is one for each node",
    "FlinkDeployment": "the job ends, not the pods",
    "MPIJob": "the launcher ends it",
    "MiniCluster": "the lead broker ends it",
    "NIMCache": "it has one pod",
    "Pod": "it is one pod",
    "RayJob": "the driver ends it",
    "Sandbox": "it has one pod",
    "SparkApplication": "the driver ends it",
    "TrainJob": "its status counts Jobs, not nodes",
    "VirtualMachineInstance": "it has one pod",
    "Workflow": "it is divided by no number of its status",
    "XGBoostJob": "the master ends it",
}
"""Kinds that complete and are divided, and whose status does not tell how much of the total is done."""


def _job(name: str, replicas: int) -> Thing:
    return {"name": name, "replicas": replicas, "template": {"spec": {"template": {"spec": {}}}}}


def _template(kind: Kind, total: int, **spec: Any) -> Thing:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "t", "namespace": "d", "generation": 1},
        "spec": {**kind.spec(total), **spec},
    }


def _definition(kind: Kind) -> Definition:
    entry = find_in_catalogue(GVK.of({"apiVersion": kind.api_version, "kind": kind.kind}))
    assert entry
    return entry.definition


def _call(template: Thing, *statuses: Thing) -> Call:
    items = tuple(StatusItem(f"member{number}", status) for number, status in enumerate(statuses))
    return Call(Operation.AGGREGATE_STATUS, template, items=items)


def _after(kind: Kind, template: Thing, *shares: int) -> Thing:
    """Return the template after clusters have completed these shares."""
    return dict(ask(_definition(kind), _call(template, *map(kind.completed, shares)))["aggregatedStatus"])


def _has_completed(kind: Kind, template: Thing) -> bool:
    return Status.COMPLETED in match_status(_definition(kind), template).matched


_EVERY: Final = pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in KINDS.items()])


@_EVERY
@given(st.lists(st.integers(2, 2 * _TOTAL), min_size=1, max_size=4))
def test_success_is_claimed_when_total_is_done(kind: Kind, shares: list[int]) -> None:
    after = _after(kind, _template(kind, _TOTAL), *shares)
    assert _has_completed(kind, after) == (sum(shares) >= _TOTAL)
    if sum(shares) < _TOTAL:
        assert not [each for each in after["status"].get("conditions", ()) if each["type"] in _ENDED]


@_EVERY
def test_cluster_that_leaves_has_done_its_part(kind: Kind) -> None:
    before = _after(kind, _template(kind, _TOTAL), 4, 4)
    counted = {**before["status"], **kind.completed(_TOTAL), "conditions": [], "state": {"phase": "Running"}}
    assert _has_completed(kind, _after(kind, {**before, "status": counted}, 4))


@_EVERY
def test_success_stays_when_operator_stops_counting(kind: Kind) -> None:
    completed = _after(kind, _template(kind, _TOTAL), 8, 4)
    assert _has_completed(kind, _after(kind, completed, 2, 2))


@_EVERY
def test_cluster_without_the_number_says_nothing(kind: Kind) -> None:
    ended = kind.completed(4)
    silent = {name: value for name, value in ended.items() if name in ("conditions", "state")}
    answer = ask(_definition(kind), _call(_template(kind, _TOTAL), ended, silent))
    assert _has_completed(kind, dict(answer["aggregatedStatus"]))


@rows(("name", "spec"), [pytest.param(name, spec) for name, kind in KINDS.items() for spec in kind.exempt])
def test_workload_that_ends_earlier_is_complete_earlier(name: str, spec: Thing) -> None:
    kind = KINDS[name]
    assert _has_completed(kind, _after(kind, _template(kind, _TOTAL, **spec), 4, 4))


@_EVERY
def test_counts_that_are_left_to_members_are_no_total(kind: Kind) -> None:
    template = _template(kind, _TOTAL)
    template["metadata"]["labels"] = {RETAIN_REPLICAS: "true"}
    assert _has_completed(kind, _after(kind, template, 4, 4))


def test_completions_that_kueue_lowers_are_no_total() -> None:
    kind = KINDS["Job"]
    template = _template(kind, _TOTAL)
    template["metadata"]["annotations"] = {"kueue.x-k8s.io/job-completions-equal-parallelism": "true"}
    assert _has_completed(kind, _after(kind, template, 4, 4))


@_EVERY
def test_exported_script_answers_alike(kind: Kind) -> None:
    definition, tally = _definition(kind), Tally()
    templates = [_template(kind, _TOTAL), *(_template(kind, _TOTAL, **spec) for spec in kind.exempt)]
    before = [_after(kind, templates[0], 8, 4), _after(kind, templates[0], 4)]
    statuses = [[*map(kind.completed, shares)] for shares in ((8,), (8, 4), (4, 4), (12, 12))]
    left = _template(kind, _TOTAL)
    left["metadata"]["labels"] = {RETAIN_REPLICAS: "true"}
    calls = [_call(template, *ended) for template in (*templates, *before, left) for ended in statuses]
    script = Script(Operation.AGGREGATE_STATUS, script_of(definition, Operation.AGGREGATE_STATUS), definition.name)
    compare_ours(Pair(definition, Operation.AGGREGATE_STATUS, script, calls), tally)
    assert not tally.differences
    assert not tally.errors


@of_all_kinds
def test_every_kind_that_completes_and_is_divided_has_its_total_or_a_reason(definition: Definition) -> None:
    completes = bool(definition.status and definition.status.completes)
    is_divided = completes and bool(definition.counted) and not definition.annotations.is_indivisible
    names = {(kind.api_version, kind.kind) for kind in KINDS.values()}
    has_total = (definition.gvk.api_version, definition.gvk.kind) in names
    assert bool(definition.annotations.completions) == has_total
    if is_divided and not has_total:
        assert definition.gvk.kind in UNCOUNTED
