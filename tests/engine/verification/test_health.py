from typing import Any

import pytest

from karta_interpreter.engine.verification import Evidence, Question, Verdict
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


def _hiding(obj: Thing) -> None:
    obj["status"] = {"observedGeneration": 1, "phase": "Deployed"}


def _job(*conditions: Thing, parallelism: int = 1) -> Thing:
    spec = {"parallelism": parallelism, "template": {"spec": {"containers": [container()]}}}
    return workload("batch/v1", "Job", spec, {"conditions": list(conditions), "active": 1, "startTime": ago(3000)})


ROWS: list[Any] = [
    pytest.param(evidence(deployment(), pod(1), pod(2)), OK, id="ready-and-healthy"),
    pytest.param(evidence(deployment(change=_unavailable), pod(1), pod(2)), DIFFERS, id="ready-and-unhealthy"),
    pytest.param(
        evidence(deployment(change=_unavailable), pod(1, status=ready(200)), pod(2)),
        UNJUDGED,
        id="ready-for-a-short-time",
    ),
    pytest.param(evidence(deployment(change=_unavailable), pod(1)), UNJUDGED, id="unhealthy-and-a-pod-is-missing"),
    pytest.param(
        evidence(deployment(change=_unavailable), pod(1, status=crashing()), pod(2, status=crashing())),
        OK,
        id="crashing-and-unhealthy",
    ),
    pytest.param(evidence(deployment(), pod(1, status=crashing()), pod(2)), UNJUDGED, id="one-of-two-crashes"),
    pytest.param(evidence(deployment(), pod(1, status=_UNREADY), pod(2, status=_UNREADY)), UNJUDGED, id="neither"),
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
        DIFFERS,
        id="all-pods-succeeded-and-unhealthy",
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


@pytest.mark.parametrize(
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
    assert found.reason == "unhealthy, and all pods have been ready for five minutes"
