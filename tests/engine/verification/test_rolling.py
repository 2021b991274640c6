"""Roll-outs, by owners and templates as upstream's controllers make them. Labels with hashes are theirs, too."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from karta_interpreter.engine.verification import Evidence, Question, Verdict
from tests.engine.verification.member import Thing, ago, container, evidence, judged, pod, ready, verdicts, workload
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict

_OLD, _NEW = container("main", image="v1"), container("main", image="v2")
_EDITED = 1800
"""The seconds since the last edit of the template. Pods of before are older."""


def _template(main: Thing = _NEW, **annotations: Any) -> Thing:
    return {"metadata": {"labels": {"app": "a"}, "annotations": annotations}, "spec": {"containers": [main]}}


def _edited(obj: Thing, generation: int = 2) -> Thing:
    """Return an object whose spec somebody has changed."""
    fields = {"manager": "karmada", "time": ago(_EDITED), "fieldsV1": {"f:spec": {"f:template": {}}}}
    return {**obj, "metadata": {**obj["metadata"], "generation": generation, "managedFields": [fields]}}


def _owner(uid: str, kind: str, of: str = "it", **spec: Any) -> Thing:
    owned = {"ownerReferences": [{"uid": of, "controller": True}]}
    return {"apiVersion": "x/v1", "kind": kind, "metadata": {"name": uid, "uid": uid, **owned}, "spec": spec}


def _pods(owner: str, number: int, template: Thing, age: int = 900, labels: Thing | None = None) -> list[Thing]:
    metadata = template["metadata"]
    made = [
        pod(
            each,
            *copy.deepcopy(template["spec"]["containers"]),
            owner=owner,
            age=age,
            labels=metadata["labels"] | (labels or {}),
        )
        for each in range(number)
    ]
    return [{**each, "metadata": {**each["metadata"], "annotations": metadata["annotations"]}} for each in made]


def _replica_sets(
    hash_label: str, of: str = "it", new: Thing | None = None, old: Thing = _OLD
) -> tuple[list[Thing], tuple[Thing, ...]]:
    """Two ReplicaSets, one of before and one with ``new``: the pods have the label of the template's hash."""
    templates = {"old": _template(old), "new": new or _template()}
    ages = {"old": 2 * _EDITED, "new": 900}
    pods = [each for name in templates for each in _pods(name, 2, templates[name], ages[name], {hash_label: name})]
    return pods, tuple(_owner(name, "ReplicaSet", of, template=templates[name]) for name in templates)


def _deployment(generation: int = 2, **annotations: Any) -> Thing:
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 3)
    status = {"observedGeneration": generation, **counts, "conditions": [{"type": "Available", "status": "True"}]}
    return _edited(
        workload("apps/v1", "Deployment", {"replicas": 3, "template": _template(**annotations)}, status), generation
    )


def _rollout() -> Thing:
    status = {"observedGeneration": "2", "phase": "Healthy", "replicas": 4}
    return _edited(workload("argoproj.io/v1alpha1", "Rollout", {"replicas": 3, "template": _template()}, status))


def _united(replicas: int = 3, generation: int = 1, **patch: Any) -> Thing:
    """A UnitedDeployment (``pkg/controller/uniteddeployment/adapter`` of OpenKruise): a StatefulSet for each subset."""
    subsets = [{"name": "a"}, {"name": "b", **({"patch": patch} if patch else {})}]
    spec = {
        "replicas": replicas,
        "template": {"statefulSetTemplate": {"spec": {"template": _template()}}},
        "topology": {"subsets": subsets},
    }
    counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas", "updatedReadyReplicas"), replicas)
    status = {"observedGeneration": generation, **counts}
    return _edited(workload("apps.kruise.io/v1alpha1", "UnitedDeployment", spec, status), generation)


def _subsets(*templates: Thing, names: Sequence[str] = "ab") -> tuple[list[Thing], tuple[Thing, ...]]:
    """The StatefulSets of subsets with their pods. A revision has the name of its StatefulSet."""
    found = list(zip(names, templates, strict=True))
    pods = [
        each
        for name, template in found
        for each in _pods(name, 2, template, labels={"controller-revision-hash": f"it-{name}-5d9c"})
    ]
    return pods, tuple(_owner(name, "StatefulSet", template=template) for name, template in found)


def _shown(obj: Thing, found: tuple[list[Thing], tuple[Thing, ...]]) -> Evidence:
    return evidence(obj, *found[0], owners=found[1])


def _scaled_to_0() -> tuple[Thing, tuple[list[Thing], tuple[Thing, ...]]]:
    """A Deployment of which no pod has gone since the edit."""
    obj = _deployment()
    pods = _pods("new", 2, _template(), 2 * _EDITED)
    return {**obj, "spec": {**obj["spec"], "replicas": 0}}, (pods, (_owner("new", "ReplicaSet", template=_template()),))


_ROLLS = (UNJUDGED, "a roll-out replaces pods")
_RESTARTED = _template(restartedAt="now")


def _restarted() -> tuple[list[Thing], tuple[Thing, ...]]:
    """A Deployment that somebody restarts."""
    pods, sets = _replica_sets("pod-template-hash", "a", _RESTARTED, _NEW)
    return pods, (*sets, _owner("a", "Deployment", template=_RESTARTED))


@rows(
    ("shown", "expected"),
    [
        pytest.param(_shown(_deployment(), _replica_sets("pod-template-hash")), _ROLLS, id="a-surge"),
        pytest.param(_shown(_rollout(), _replica_sets("rollouts-pod-template-hash")), _ROLLS,
            id="a-surge-of-a-rollout"),
        pytest.param(_shown(_deployment(2, restartedAt="now"), _restarted()), _ROLLS, id="a-restart"),
        pytest.param(_shown(_united(), _restarted()), _ROLLS, id="a-restart-of-an-object-between"),
        pytest.param(_shown(_united(99), _subsets(_template(), _template())),
            (DIFFERS, "uniteddeployment has fewer pods than the answer"), id="each-owner-has-a-revision"),
        pytest.param(_shown(_united(99, spec={"containers": [_OLD]}), _subsets(_template(), _template(_OLD))),
            (DIFFERS, "uniteddeployment has fewer pods than the answer"), id="each-owner-has-a-template"),
        pytest.param(_shown(_united(3, 2), _subsets(_template(), _template(_OLD))), _ROLLS,
            id="one-owner-is-of-before"),
        pytest.param(_shown(*_scaled_to_0()), (DIFFERS, "deployment has more pods than the answer"),
            id="pods-of-before-and-a-0"),
    ],
)  # fmt: skip
def test_rollout_is_known_by_owners_and_templates(shown: Evidence, expected: tuple[Verdict, str]) -> None:
    assert verdicts(Question.COUNTS, shown) == [expected]


def _ray(kind: str, status: Thing, **spec: Any) -> Thing:
    group = {"groupName": "w", "replicas": 1, "maxReplicas": 1, "template": _template()}
    cluster = {"headGroupSpec": {"rayStartParams": spec, "template": _template()}, "workerGroupSpecs": [group]}
    named = {"RayService": "rayClusterConfig", "RayJob": "rayClusterSpec"}
    return _edited(workload("ray.io/v1", kind, {named[kind]: cluster}, {"observedGeneration": 2, **status}))


def _clusters(*ages: int) -> tuple[list[Thing], tuple[Thing, ...]]:
    """RayClusters, whose pods are alike: what the start parameters change is in the arguments of the operator."""
    pods = [
        each
        for number, age in enumerate(ages)
        for role in ("head", "worker")
        for each in _pods(f"c{number}", 1, _template(), age, {"ray.io/node-type": role, "ray.io/group": "w"})
    ]
    return pods, tuple(_owner(f"c{number}", "RayCluster") for number in range(len(ages)))


_READY = {"type": "Ready", "status": "True"}


@rows(
    ("obj", "clusters", "reasons"),
    [
        pytest.param(_ray("RayService", {"conditions": [_READY, {"type": "UpgradeInProgress", "status": "True"}]}),
            _clusters(3600, 900), {"its status is Initializing", "a roll-out replaces pods"},
            id="two-clusters-during-an-upgrade"),
        pytest.param(_ray("RayService", {"conditions": [_READY]}), _clusters(3600, 900), {"a roll-out replaces pods"},
            id="the-cluster-of-before-is-not-deleted-yet"),
        pytest.param(_ray("RayJob", {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED"}), _clusters(3600, 3000),
            {"its status is Failed"}, id="what-a-failed-job-leaves-running"),
        pytest.param(_ray("RayService", {"conditions": [_READY]}), _clusters(3600, 3000),
            {"head has more pods than the answer", "worker has more pods than the answer"},
            id="two-clusters-without-an-edit-since"),
    ],
)  # fmt: skip
def test_two_clusters_are_explained_by_edit_or_status(
    obj: Thing, clusters: tuple[list[Thing], tuple[Thing, ...]], reasons: set[str]
) -> None:
    assert {each.reason for each in judged(Question.COUNTS, _shown(obj, clusters))} <= reasons


def test_surge_of_a_leader_worker_set_is_explained_by_its_status() -> None:
    # The pods that surge have the hash of the others once all have been updated (wantReplicas in its controller).
    spec = {"replicas": 2, "leaderWorkerTemplate": {"size": 1, "workerTemplate": _template()}}
    status = {"conditions": [{"type": "Progressing", "status": "True"}]}
    labels = {
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
        "leaderworkerset.sigs.k8s.io/template-revision-hash": "x",
    }
    pods = _pods("it", 3, _template(), 900, labels)

    found = verdicts(
        Question.COUNTS,
        evidence(_edited(workload("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, status)), *pods),
    )
    assert found == [(UNJUDGED, "its status is Initializing")]


def test_pods_of_another_object_that_ends_with_the_workload_are_not_its_own() -> None:
    # kubectl and Helm name the workload as the owner of a Job, and not as its controller.
    beside = _owner("cleanup", "Job")
    beside["metadata"]["ownerReferences"] = [{"uid": "it"}]
    pods, sets = _replica_sets("pod-template-hash")
    own = [each for each in pods if each["metadata"]["labels"]["pod-template-hash"] == "new"]
    shown = evidence(
        _deployment(1),
        *own,
        *_pods("new", 1, _template()),
        *_pods("cleanup", 3, _template(_OLD)),
        owners=(*sets, beside),
    )

    assert verdicts(Question.COUNTS, shown) == [(OK, "")]
    assert verdicts(Question.REQUIREMENTS, shown) == [(OK, "")]


def test_pods_of_a_held_template_do_not_make_a_service_unhealthy() -> None:
    # docs/health.md: a roll-out is Initializing, although the pods of the previous template still serve.
    obj = _deployment()
    obj["status"] |= {"updatedReplicas": 0, "conditions": [{"type": "Progressing", "status": "False", "reason": "X"}]}
    pods = _pods("old", 3, _template(_OLD), 2 * _EDITED)
    shown = evidence(obj, *({**each, "status": ready()} for each in pods), owners=_replica_sets("any")[1])

    (found,) = judged(Question.HEALTH, shown)
    assert found.verdict is OK or found.reason.endswith("they may be of an earlier template")


def _requesting(cpu: str) -> Thing:
    return _template(container("main", cpu))


def _resized(age: int, made: str = "4", template: str = "1") -> Evidence:
    """A CloneSet whose pods are to request 4 cpu since the last edit: one pod of before, and another one."""
    spec = {"replicas": 2, "template": _requesting("4")}
    counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas", "availableReplicas"), 2)
    obj = _edited(workload("apps.kruise.io/v1alpha1", "CloneSet", spec, {"observedGeneration": 2, **counts}))
    pods = [*_pods("set", 1, _requesting("1"), 2 * _EDITED), *_pods("set", 1, _requesting(made), age)]
    return evidence(obj, *pods, owners=(_owner("set", "StatefulSet", template=_requesting(template)),))


@rows(
    ("shown", "verdict"),
    [
        pytest.param(_resized(900), UNJUDGED, id="a-newer-pod-requests-what-is-answered"),
        pytest.param(_resized(2 * _EDITED, made="1", template="4"), UNJUDGED, id="a-template-between-does"),
        pytest.param(_resized(900, made="1"), DIFFERS, id="nothing-does"),
        pytest.param(_resized(900, made="1", template="4"), DIFFERS, id="a-newer-pod-requests-something-else"),
    ],
)
def test_pod_of_before_the_edit_may_request_something_else(shown: Evidence, verdict: Verdict) -> None:
    assert {each.verdict for each in judged(Question.REQUIREMENTS, shown)} >= {verdict}
    assert (DIFFERS in {each.verdict for each in judged(Question.REQUIREMENTS, shown)}) is (verdict is DIFFERS)
