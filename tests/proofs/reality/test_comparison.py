"""Counts and requests next to pods; objects next to one another; what pods refer to."""

from typing import Any

import pytest

from tests.proofs.reality.comparison import Reality, active, compare_components, compare_replica
from tests.proofs.reality.controller import labelled, single
from tests.proofs.reality.difference import differences, same_meaning
from tests.proofs.reality.references import references
from tests.proofs.rig.api import Object
from tests.support.rows import rows


def _pod(role: str = "", cpu: str = "1", phase: str = "Running", **metadata: str) -> Object:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return {
        "metadata": {"labels": {"role": role}, **metadata},
        "spec": {"containers": containers},
        "status": {"phase": phase},
    }


def _component(name: str, replicas: int, cpu: str = "1") -> Object:
    return {"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}


_ROLE = labelled("role")
_PODS = [_pod("head"), _pod("worker", "2"), _pod("worker", "2000m")]


@pytest.mark.parametrize(
    ("answered", "problem"),
    [
        ([_component("head", 1, "1000m"), _component("worker", 2, "2")], ""),
        ([_component("head", 1), _component("worker", 2, "2"), _component("idle", 0, "9")], ""),
        ([_component("head", 1), _component("worker", 3, "2")], "worker: ours 3 pods, real 2"),
        ([_component("head", 1), _component("worker", 2, "1")], "worker: ours requests cpu 1, real cpu 2"),
        ([_component("worker", 2, "2")], "head: ours 0 pods, real 1"),
        ([], "head: ours 0 pods, real 1; worker: ours 0 pods, real 2"),
    ],
    ids=["equal", "one without pods", "count", "requests", "missing", "none"],
)
def test_components_are_compared_by_name(answered: list[Object], problem: str) -> None:
    finding = compare_components("x", answered, Reality.of(_PODS, _ROLE))
    assert (finding.what, finding.problem) == ("components (x)", problem)


def test_single_component_may_have_any_name() -> None:
    assert not compare_components("x", [_component("anything", 1)], Reality.of([_pod()], single)).problem


@pytest.mark.parametrize(
    ("replicas", "cpu", "problem"),
    [
        (3, "2", ""),
        (2, "2", "ours 2 pods, real 3"),
        (3, "1", "ours requests cpu 1, real cpu 2"),
    ],
)
def test_replicas_are_all_pods_and_the_most_that_one_requests(replicas: int, cpu: str, problem: str) -> None:
    answer = {"replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}
    assert compare_replica("x", answer, Reality.of(_PODS, _ROLE)).problem == problem


@pytest.mark.parametrize(
    ("groups", "cpu", "problem"),
    [
        (1, "5", ""),
        (2, "5", "ours 2 groups, real 3 pods"),
        (1, "2", "ours requests cpu 2 together, real cpu 5"),
    ],
)
def test_groups_request_the_sum_of_their_pods(groups: int, cpu: str, problem: str) -> None:
    answer = {"replicas": groups, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}
    assert compare_replica("x", answer, Reality.of(_PODS, _ROLE), is_of_groups=True).problem == problem


def test_without_pods_there_are_no_requests_to_compare() -> None:
    assert not compare_replica("x", {"replicaRequirements": {"resourceRequest": {"cpu": "5"}}}, Reality({})).problem


def test_pods_that_have_ended_or_are_deleted_do_not_count() -> None:
    ended = [_pod(phase="Succeeded"), _pod(phase="Failed"), _pod(deletionTimestamp="t")]
    assert active([*ended, _pod(phase="Pending")]) == [_pod(phase="Pending")]


@rows(
    ("before", "after", "lines"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [".a[1].b: 2 -> 3"]),
        ({"a": 1}, {"b": 1}, [".a: gone 1", ".b: new 1"]),
        ([1], [1, 2], [": [1] -> [1, 2]"]),
        ({"a": True}, {"a": 1}, [".a: true -> 1"]),  # equal to Python only
        ({"a": {}}, {"a": {}}, []),
    ],
)
def test_differences_are_lines(before: Any, after: Any, lines: list[str]) -> None:
    assert differences(before, after) == lines


@rows(
    ("before", "after", "same"),
    [
        ({"requests": {"cpu": 1}}, {"requests": {"cpu": "1000m"}}, True),
        ({"suspend": False, "metadata": {}, "list": []}, {}, True),
        ({"replicas": 0}, {}, False),  # Go's types keep a count of zero behind a pointer
        ({"suspend": True}, {}, False),
        ({"args": ["a"]}, {"args": ["b"]}, False),
    ],
)
def test_spelling_is_what_gos_types_change(before: Any, after: Any, same: bool) -> None:
    assert same_meaning(before, after) is same


def test_references_of_pod_are_all_read() -> None:
    spec = {
        "volumes": [
            {"name": "a", "configMap": {"name": "cm"}},
            {"name": "b", "secret": {"secretName": "s"}},
            {"name": "c", "persistentVolumeClaim": {"claimName": "pvc"}},
            {"name": "d", "projected": {"sources": [{"configMap": {"name": "pcm"}}, {"secret": {"name": "ps"}}]}},
            {"name": "e", "csi": {"driver": "x", "nodePublishSecretRef": {"name": "cs"}}},
            {"name": "f", "emptyDir": {}},
        ],
        "initContainers": [
            {"name": "i", "envFrom": [{"configMapRef": {"name": "ecm"}}, {"secretRef": {"name": "es"}}]}
        ],
        "containers": [
            {
                "name": "c",
                "env": [
                    {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "vcm", "key": "k"}}},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "vs", "key": "k"}}},
                    {"name": "C", "value": "x"},
                    {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                ],
            }
        ],
        "imagePullSecrets": [{"name": "pull"}],
        "serviceAccountName": "robot",
        "resourceClaims": [{"name": "x", "resourceClaimName": "rc"}, {"name": "y", "resourceClaimTemplateName": "rct"}],
    }
    assert references(spec) == {
        *(("ConfigMap", name) for name in ("cm", "pcm", "ecm", "vcm")),
        *(("Secret", name) for name in ("s", "ps", "cs", "es", "vs", "pull")),
        ("PersistentVolumeClaim", "pvc"),
        ("ServiceAccount", "robot"),
        ("ResourceClaim", "rc"),
        ("ResourceClaimTemplate", "rct"),
    }


def test_default_account_is_not_a_reference() -> None:
    assert references({"containers": [{"name": "c"}], "serviceAccountName": "default"}) == set()
