from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.engine.evaluation.pod_states import other_owner, owner_uids, problem_of, uids_below
from tests.support.examples import EXAMPLES
from tests.support.rows import rows

KILLED = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
JOB = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "pi", "uid": "ours"}}


def _status(**state: Any) -> dict[str, Any]:
    return {"phase": "Running", "containerStatuses": [{"name": "main", **state}]}


# The reasons are those of the kubelet (pkg/kubelet/kuberuntime, pkg/kubelet/images) and of kube-scheduler.
@rows(
    ("status", "expected"),
    [
        pytest.param(_status(state={"running": {}}), "", id="it runs"),
        pytest.param(_status(state={"running": {}}, lastState=KILLED), "", id="it runs again"),
        pytest.param(_status(state={"waiting": {"reason": "ContainerCreating"}}), "", id="it starts"),
        pytest.param(_status(state={"waiting": {"reason": "ImagePullBackOff"}}), "ImagePullBackOff", id="no image"),
        pytest.param(
            _status(state={"waiting": {"reason": "CrashLoopBackOff"}}, lastState=KILLED),
            "CrashLoopBackOff after OOMKilled",
            id="why it ended before it waits",
        ),
        pytest.param(_status(state=KILLED), "OOMKilled", id="out of memory"),
        pytest.param(
            _status(state={"terminated": {"reason": "Error", "exitCode": 3}}), "exit code 3", id="Error tells less"
        ),
        pytest.param(_status(state={"terminated": {"reason": "Completed", "exitCode": 0}}), "", id="one has completed"),
        pytest.param({"phase": "Failed", "reason": "Evicted"}, "Evicted", id="the reason of the pod"),
        pytest.param({"phase": "Failed"}, "Failed", id="no reason at all"),
        pytest.param(
            {"phase": "Succeeded", "containerStatuses": [{"state": KILLED}]}, "", id="a sidecar is killed at the end"
        ),
        pytest.param(
            {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
            },
            "Unschedulable",
            id="no node",
        ),
        pytest.param(
            {"initContainerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}], **_status(state={})},
            "ErrImagePull",
            id="an init container comes before the others",
        ),
        pytest.param({}, "", id="no status"),
    ],
)
def test_reason_why_pod_does_not_run(status: dict[str, Any], expected: str) -> None:
    assert problem_of({"status": status}) == expected


def _owned(*owners: tuple[str, str, str]) -> dict[str, Any]:
    references = [{"apiVersion": version, "kind": kind, "name": "x", "uid": uid} for version, kind, uid in owners]
    return {"metadata": {"ownerReferences": references}}


@rows(
    ("pod", "expected"),
    [
        pytest.param(_owned(("kubeflow.org/v2beta1", "MPIJob", "ours")), "", id="its own"),
        pytest.param(_owned(("kubeflow.org/v2beta1", "MPIJob", "theirs")), "MPIJob x", id="another object's"),
        pytest.param(_owned(("kubeflow.org/v1", "MPIJob", "theirs")), "MPIJob x", id="in another version"),
        pytest.param(_owned(("example.io/v1", "MPIJob", "theirs")), "", id="a kind of another group"),
        pytest.param(
            _owned(("kubeflow.org/v2beta1", "MPIJob", "theirs"), ("kubeflow.org/v2beta1", "MPIJob", "ours")),
            "",
            id="two owners",
        ),
        pytest.param(_owned(("batch/v1", "Job", "of-theirs")), "MPIJob x", id="through an object between"),
        pytest.param(_owned(("batch/v1", "Job", "unknown")), "", id="through an unknown object"),
        pytest.param(_owned(("batch/v1", "Job", "circle")), "", id="through a circle"),
        pytest.param({"metadata": {}}, "", id="no owner"),
    ],
)
def test_owner_is_known_by_its_uid(pod: dict[str, Any], expected: str) -> None:
    between = {
        "of-theirs": _owned(("kubeflow.org/v2beta1", "MPIJob", "theirs")),
        "circle": _owned(("batch/v1", "Job", "circle")),
    }
    assert other_owner(JOB, pod, between) == expected


_UIDS = st.sampled_from(["job", "a", "b", "c", "d"])
_REFERENCES = st.lists(st.tuples(_UIDS, st.sampled_from(["Job", "ReplicaSet"])), max_size=3)


def _thing(uid: str, kind: str, references: list[tuple[str, str]]) -> Object:
    owners = [{"apiVersion": "batch/v1", "kind": named, "name": owner, "uid": owner} for owner, named in references]
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"uid": uid, "ownerReferences": owners}}


@settings(max_examples=EXAMPLES * 50)
@given(st.dictionaries(st.sampled_from("abcd"), _REFERENCES), _REFERENCES)
def test_pod_of_an_owner_below_has_no_other_owner(
    between: dict[str, list[tuple[str, str]]], references: list[tuple[str, str]]
) -> None:
    """The two are the same but for references that name their owner with another kind than it has."""
    kinds = {uid: "Job" if uid in ("job", "d") else "ReplicaSet" for uid in ("job", "a", "b", "c", "d")}
    named = {uid: [(owner, kinds[owner]) for owner, _ in owners] for uid, owners in between.items()}
    owners = {uid: _thing(uid, kinds[uid], owned_by) for uid, owned_by in named.items()}
    job = _thing("job", "Job", [])
    pod = _thing("pod", "Pod", [(owner, kinds[owner]) for owner, _ in references])
    if owner_uids(pod) & uids_below(job, owners):
        assert other_owner(job, pod, owners) == ""
