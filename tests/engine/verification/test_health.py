import copy
import json
import sys
from typing import Any, NoReturn

import pytest

from karta_interpreter import Karta
from karta_interpreter.base.errors import InterpretationError, InterpreterError, LuaLimitError, QueryStoppedError
from karta_interpreter.engine.verification import Evidence, Question, Verdict, verify
from tests.engine.verification.member import (
    SHOP,
    Thing,
    ago,
    container,
    crashing,
    deployment,
    evidence,
    judged,
    pod,
    ready,
    workload,
)
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict

_UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


def _unavailable(obj: Thing) -> None:
    """The status of a Deployment whose pods are not available."""
    obj["status"]["conditions"] = [{"type": "Available", "status": "False"}, {"type": "Progressing", "status": "False"}]
    obj["status"] |= {"readyReplicas": 0, "availableReplicas": 0, "unavailableReplicas": 2}


def _refused(obj: Thing) -> None:
    """A quota refuses the pods of the new template, and those of the one before are ready."""
    obj["status"] |= {"updatedReplicas": 0}
    obj["status"]["conditions"] += [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}]


def _paused(obj: Thing) -> None:
    obj["spec"]["paused"] = True
    obj["status"] |= {"updatedReplicas": 0}


def _paused_of_kruise(api_version: str, kind: str, **strategy: Any) -> Thing:
    """An object of OpenKruise whose roll-out is paused before the first new pod."""
    spec = {"replicas": 2, "template": {"spec": {"containers": [container()]}}, "updateStrategy": strategy}
    counts = {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "expectedUpdatedReplicas": 2}
    return workload(api_version, kind, spec, {"observedGeneration": 1, "updatedReplicas": 0, **counts})


def _hiding(obj: Thing) -> None:
    obj["status"] = {"observedGeneration": 1, "phase": "Deployed"}


_PENDING: Thing = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False"}]}


def _serving(obj: Thing) -> None:
    """A status in which a definition could see that no pod is available, if it looked there."""
    obj["status"]["conditions"] += [{"type": "MinimumAvailable", "status": "False"}]


def _job(*conditions: Thing, parallelism: int = 1, **fields: Any) -> Thing:
    spec = {"parallelism": parallelism, "template": {"spec": {"containers": [container()]}}, **fields}
    return workload("batch/v1", "Job", spec, {"conditions": list(conditions), "active": 1, "startTime": ago(3000)})


ROWS: list[Any] = [
    pytest.param(evidence(deployment(), pod(1), pod(2)), OK, id="ready-and-healthy"),
    pytest.param(evidence(deployment(change=_unavailable), pod(1), pod(2)), DIFFERS, id="ready-and-unhealthy"),
    pytest.param(
        evidence(deployment(change=_unavailable), pod(1, status=ready(200)), pod(2)),
        UNJUDGED,
        id="ready-for-a-short-time",
    ),
    pytest.param(evidence(deployment(change=_paused), pod(1), pod(2)), UNJUDGED, id="paused-with-pods-of-before"),
    pytest.param(
        evidence(_paused_of_kruise("apps.kruise.io/v1alpha1", "CloneSet", paused=True), pod(1), pod(2)),
        UNJUDGED,
        id="a-paused-cloneset-with-pods-of-before",
    ),
    pytest.param(
        evidence(
            _paused_of_kruise("apps.kruise.io/v1beta1", "StatefulSet", rollingUpdate={"paused": True}), pod(1), pod(2)
        ),
        UNJUDGED,
        id="a-paused-advanced-statefulset-with-pods-of-before",
    ),
    pytest.param(evidence(deployment(change=_refused), pod(1), pod(2)), UNJUDGED, id="refused-with-pods-of-before"),
    pytest.param(evidence(deployment(change=_unavailable), pod(1)), UNJUDGED, id="unhealthy-and-a-pod-is-missing"),
    pytest.param(
        evidence(deployment(change=_unavailable), pod(1, status=crashing()), pod(2, status=crashing())),
        OK,
        id="crashing-and-unhealthy",
    ),
    pytest.param(evidence(deployment(), pod(1, status=crashing()), pod(2)), UNJUDGED, id="one-of-two-crashes"),
    pytest.param(evidence(deployment(), pod(1, status=_UNREADY), pod(2, status=_UNREADY)), UNJUDGED, id="neither"),
    pytest.param(
        evidence(deployment(change=_unavailable), pod(1, status=_PENDING), pod(2, status=_PENDING)),
        OK,
        id="never-ready-and-unhealthy",
    ),
    pytest.param(
        evidence(deployment(change=_serving), pod(1, status=_PENDING), pod(2, status=_PENDING)),
        DIFFERS,
        id="healthy-although-no-pod-was-ever-ready",
    ),
    pytest.param(
        evidence(deployment(change=_serving), pod(1, status=_PENDING, age=200), pod(2, status=_PENDING)),
        UNJUDGED,
        id="healthy-and-a-pod-is-new",
    ),
    pytest.param(evidence(deployment(replicas=0)), OK, id="scaled-to-0"),
    pytest.param(evidence(_job({"type": "Suspended", "status": "True"}, suspend=True)), OK, id="suspended"),
    pytest.param(evidence(_job(), pod(1, status=_PENDING)), OK, id="a-job-that-waits-for-room-is-healthy"),
    pytest.param(
        evidence(_job({"type": "Failed", "status": "True"}), pod(1, status={"phase": "Failed"})),
        OK,
        id="failed-and-unhealthy",
    ),
    pytest.param(
        evidence(_job(), pod(1, status={"phase": "Failed"})), UNJUDGED, id="a-job-may-replace-the-pod-that-failed"
    ),
    pytest.param(
        evidence(_job(), pod(1, status=crashing())), UNJUDGED, id="a-job-that-may-try-again-is-healthy-while-it-crashes"
    ),
    pytest.param(
        evidence(_job({"type": "Complete", "status": "True"}), pod(1, status={"phase": "Succeeded"})),
        OK,
        id="completed",
    ),
    pytest.param(
        evidence(_job({"type": "Failed", "status": "True"}), pod(1, status={"phase": "Succeeded"})),
        UNJUDGED,
        id="all-pods-succeeded-before-the-deadline",
    ),
    pytest.param(
        evidence(_job({"type": "Failed", "status": "True"}, parallelism=2), pod(1, status={"phase": "Succeeded"})),
        UNJUDGED,
        id="the-pod-that-failed-may-be-gone",
    ),
]


@rows(("shown", "verdict"), ROWS)
def test_health_is_compared_with_state_of_pods(shown: Evidence, verdict: Verdict) -> None:
    assert [each.verdict for each in judged(Question.HEALTH, shown)] == [verdict]


@rows(
    ("status", "verdict"),
    [
        pytest.param({"phase": "Deployed"}, UNJUDGED, id="nothing-shows-it"),
        pytest.param({"phase": "Deployed", "message": "no error"}, UNJUDGED, id="words-of-a-message"),
        pytest.param({"phase": "Deployed", "readyPods": 0}, DIFFERS, id="a-count-of-ready-pods"),
        pytest.param({"phase": "Deployed", "failedPods": 0}, UNJUDGED, id="a-count-of-failed-pods-that-is-0"),
        pytest.param({"phase": "Deployed", "health": "Degraded"}, DIFFERS, id="a-word"),
        pytest.param(
            {"phase": "Deployed", "conditions": [{"type": "Ready", "status": "False"}]}, DIFFERS, id="a-condition"
        ),
        pytest.param({"phase": "Deployed", "replicas": 2}, DIFFERS, id="Go-leaves-out-a-count-of-0"),
    ],
)
def test_crash_counts_if_the_status_shows_it(status: Thing, verdict: Verdict) -> None:
    shop = workload("example.io/v1", "Shop", {"template": {"spec": {"containers": [container()]}}}, status)
    shown = evidence(shop, pod(1, status=crashing("ImagePullBackOff")))

    assert [each.verdict for each in judged(Question.HEALTH, shown, SHOP)] == [verdict]


def test_wrong_health_names_mappings_and_status() -> None:
    (found,) = judged(Question.HEALTH, evidence(deployment(change=_unavailable), pod(1), pod(2)))

    assert found.field == "spec.structureDefinition.rootComponent.statusDefinition.statusMappings"
    assert found.reason == "unhealthy, and all its pods are ready"


def test_status_expression_without_answer_names_the_mappings() -> None:
    wrong = {"byExpression": {"expression": ".status.phase | length | tojson | fromjson | keys", "expectedResult": "a"}}
    manifest = copy.deepcopy(SHOP.definition.manifest)
    manifest["spec"]["structureDefinition"]["rootComponent"]["statusDefinition"]["statusMappings"]["running"] = [wrong]
    shop = workload("example.io/v1", "Shop", {"template": {"spec": {"containers": [container()]}}}, {"phase": "Up"})

    (found,) = judged(Question.HEALTH, evidence(shop, pod(1)), Karta.load(manifest))
    assert found.field == "spec.structureDefinition.rootComponent.statusDefinition.statusMappings"
    assert found.reason.startswith("there is no answer: ")


@pytest.mark.parametrize(
    ("phase", "verdict"), [pytest.param("Deployed", OK, id="healthy"), pytest.param("Idle", DIFFERS, id="unhealthy")]
)
def test_service_that_is_scaled_to_0_is_healthy(phase: str, verdict: Verdict) -> None:
    spec = {"replicas": 0, "template": {"spec": {"containers": [container()]}}}
    shown = evidence(workload("example.io/v1", "Shop", spec, {"phase": phase}))

    assert [each.verdict for each in judged(Question.HEALTH, shown, SHOP)] == [verdict]


_SUSPENDED = {"type": "Suspended", "status": "True"}
_UNHEALTHY: list[Any] = [
    # docs/health.md: a workload that runs to completion and waits is healthy.
    pytest.param("initializing", _job(), [_PENDING], DIFFERS, id="a-job-waits-for-room"),
    pytest.param("initializing", _job(parallelism=2), [_PENDING, ready()], DIFFERS, id="one-of-its-pods-waits"),
    pytest.param("initializing", _job(), [_UNREADY], DIFFERS, id="a-pod-has-not-been-ready"),
    pytest.param("initializing", _job(), [{"phase": "Failed"}, _PENDING], OK, id="a-job-tries-again"),
    pytest.param("initializing", _job(), [crashing()], OK, id="it-crashes"),
    pytest.param(
        "initializing",
        _job({"type": "Failed", "status": "True"}),
        [_PENDING],
        UNJUDGED,
        id="its-status-shows-a-failure",
    ),
    pytest.param("suspended", _job(_SUSPENDED, suspend=True), [], OK, id="a-job-is-to-rest"),
]


@rows(("missing", "obj", "pods", "verdict"), _UNHEALTHY)
def test_job_that_counts_as_unhealthy_before_it_fails_is_found(
    missing: str, obj: Thing, pods: list[Thing], verdict: Verdict
) -> None:
    manifest = copy.deepcopy(Karta.for_object(_job()).definition.manifest)
    mappings = manifest["spec"]["structureDefinition"]["rootComponent"]["statusDefinition"]["statusMappings"]
    mappings[missing] = [{"byConditions": [{"type": "Never", "status": "True"}]}]
    mappings["running"] = mappings[missing]
    shown = evidence(obj, *(pod(number, status=status) for number, status in enumerate(pods)))

    assert [each.verdict for each in judged(Question.HEALTH, shown, Karta.load(manifest))] == [verdict]


@pytest.mark.parametrize(("seconds", "verdict"), [(30, UNJUDGED), (90, DIFFERS)])
def test_object_that_was_stopped_less_than_a_minute_ago_is_not_judged(seconds: int, verdict: Verdict) -> None:
    fields = {"manager": "kubectl", "time": ago(seconds), "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    spec = {"replicas": 0, "template": {"spec": {"containers": [container()]}}}
    about = {"generation": 2, "managedFields": [fields]}
    shown = evidence(workload("example.io/v1", "Shop", spec, {"phase": "Idle", "observedGeneration": 2}, **about))

    assert [each.verdict for each in judged(Question.HEALTH, shown, SHOP)] == [verdict]


def test_failed_job_that_counts_as_running_is_found() -> None:
    manifest = copy.deepcopy(Karta.for_object(_job()).definition.manifest)
    mappings = manifest["spec"]["structureDefinition"]["rootComponent"]["statusDefinition"]["statusMappings"]
    mappings["running"] += mappings.pop("failed")
    del manifest["metadata"]["annotations"]["karta-interpreter.io/outcomes"]
    shown = evidence(_job({"type": "Failed", "status": "True"}), pod(1, status={"phase": "Failed"}))

    (found,) = judged(Question.HEALTH, shown, Karta.load(manifest))
    assert (found.verdict, found.reason) == (DIFFERS, "healthy, and its pods have failed or are gone")


def test_step_that_has_failed_is_no_failure_of_a_workflow() -> None:
    nodes = {"it-1": {"phase": "Failed"}, "it-2": {"phase": "Running"}}
    spec = {"entrypoint": "main", "templates": [{"name": "main", "container": container()}]}
    workflow = workload("argoproj.io/v1alpha1", "Workflow", spec, {"phase": "Running", "nodes": nodes})

    (found,) = judged(Question.HEALTH, evidence(workflow, pod(1, status={"phase": "Failed"})))
    assert found.verdict is UNJUDGED


def test_cluster_that_a_failed_job_leaves_running_does_not_make_it_healthy() -> None:
    # KubeRay deletes the RayCluster of a RayJob only with shutdownAfterJobFinishes.
    template = {"template": {"spec": {"containers": [container()]}}}
    spec = {"submissionMode": "HTTPMode", "rayClusterSpec": {"headGroupSpec": template}}
    job = workload("ray.io/v1", "RayJob", spec, {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED"})

    (found,) = judged(Question.HEALTH, evidence(job, pod(1, labels={"ray.io/node-type": "head"})))
    assert found.reason == "unhealthy, and all its pods are ready, but its status tells of a failure"
    assert found.verdict is UNJUDGED


@rows(
    ("mistake", "suspend", "verdict"),
    [
        pytest.param((".spec.suspend", ".spec.suspend"), False, OK, id="healthy-before-its-first-run"),
        pytest.param((".spec.suspend", ".spec.suspend"), True, OK, id="healthy-while-it-is-suspended"),
        pytest.param((".spec.suspend != true", ".spec.suspend == true"), False, DIFFERS, id="unhealthy-while-it-waits"),
        pytest.param((".spec.suspend == true", ".spec.suspend == 1"), True, OK, id="the-wish-to-rest-counts-alone"),
    ],
)
def test_object_that_starts_jobs_is_healthy_before_it_starts_one(
    mistake: tuple[str, str], verdict: Verdict, *, suspend: bool
) -> None:
    pods = {"spec": {"containers": [container()], "restartPolicy": "OnFailure"}}
    spec = {"schedule": "0 0 * * *", "suspend": suspend, "jobTemplate": {"spec": {"template": pods}}}
    shown = evidence(workload("batch/v1", "CronJob", spec))
    manifest = json.dumps(Karta.for_object(shown.object).definition.manifest).replace(*mistake)

    assert [each.verdict for each in judged(Question.HEALTH, shown, Karta.load(manifest))] == [verdict]


@rows(
    ("reason", "verdict"),
    [
        # Of pkg/kubelet/images/types.go and pkg/kubelet/kuberuntime/kuberuntime_container.go.
        pytest.param("RegistryUnavailable", DIFFERS, id="an-image-cannot-be-had"),
        pytest.param("SignatureValidationFailed", DIFFERS, id="an-image-is-not-signed"),
        pytest.param("PreCreateHookError", DIFFERS, id="a-hook-fails"),
        # Of pkg/kubelet/kubelet_pods.go.
        pytest.param("ContainerCreating", UNJUDGED, id="it-may-wait-for-a-volume"),
        pytest.param("PodInitializing", UNJUDGED, id="it-waits-for-others"),
        pytest.param("", UNJUDGED, id="no-reason-yet"),
    ],
)
def test_container_that_waits_for_more_than_its_start_has_failed(reason: str, verdict: Verdict) -> None:
    shown = evidence(deployment(change=_serving), *(pod(number, status=crashing(reason), age=200) for number in (1, 2)))

    assert [each.verdict for each in judged(Question.HEALTH, shown)] == [verdict]


@pytest.mark.parametrize("stopped", [QueryStoppedError("no time is left"), LuaLimitError("took longer than 1 s")])
def test_answer_that_a_busy_machine_stops_is_not_judged(
    stopped: InterpreterError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(*_: object) -> NoReturn:
        raise InterpretationError("the script failed", code=504) from stopped

    monkeypatch.setattr(sys.modules[verify.__module__], "judge_health", judge)
    (found,) = judged(Question.HEALTH, evidence(deployment(), pod(1), pod(2)))
    assert (found.verdict, found.reason) == (UNJUDGED, "there is no answer: the script failed")
