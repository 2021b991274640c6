"""What a queue of the member owns of an object with its label."""

from typing import Any

import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask
from tests.support.rows import rows

LABELS = {"labels": {"kueue.x-k8s.io/queue-name": "team"}}
SWITCH = {
    "suspendDefinition": {
        "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
        "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
    }
}
ROOT = component("train", ".spec.template", ".spec.replicas // 1") | SWITCH
GATE = {"name": "kueue.x-k8s.io/topology"}


def obj(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "t", **(LABELS if metadata is None else metadata)}
    return {"apiVersion": "example.io/v1", "kind": "Train", "metadata": metadata, "spec": {"replicas": 1, **spec}}


def pods(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"spec": {**template()["spec"], **spec}}
    return found if metadata is None else {"metadata": metadata, **found}


def retain(definition: Definition, desired: dict[str, Any], observed: dict[str, Any]) -> Any:
    retained = ask(definition, Call(Operation.RETAIN, desired, observed=observed))["retained"]
    again = ask(definition, Call(Operation.RETAIN, retained, observed=observed))["retained"]
    assert again == retained, "retaining is idempotent"
    return retained


ADDED = pods(
    {"labels": {"podset": "a"}, "annotations": {"workload": "w"}},
    nodeSelector={"pool": "gpu"},
    tolerations=[{"key": "gpu"}],
    schedulingGates=[GATE],
)


@rows(
    ("ours", "theirs", "kept"),
    [
        pytest.param({"suspend": True}, {"suspend": False}, {"suspend": False}, id="let run"),
        pytest.param({"suspend": False}, {"suspend": True}, {"suspend": True}, id="held"),
        pytest.param({"suspend": True}, {}, {"suspend": False}, id="a member without the field runs"),
        pytest.param({}, {}, {}, id="and means the same as a template without it"),
        pytest.param({}, {"suspend": True}, {"suspend": True}, id="held, of a template without it"),
    ],
)
def test_queued_workload_keeps_switch_of_member(
    define: Define, ours: dict[str, Any], theirs: dict[str, Any], kept: dict[str, Any]
) -> None:
    definition = define(root=ROOT)
    assert retain(definition, obj(template=pods(), **ours), obj(template=pods(), **theirs)) == obj(
        template=pods(), **kept
    )


@rows(
    ("ours", "theirs", "kept"),
    [
        pytest.param(pods(), ADDED, ADDED, id="all that it has added"),
        pytest.param(ADDED, pods(), ADDED, id="what the template asks for after it was admitted"),
        pytest.param(pods(nodeSelector={"disk": "nvme", "pool": None}),
            pods(nodeSelector={"disk": "hdd", "pool": "gpu"}), pods(nodeSelector={"disk": "nvme", "pool": "gpu"}),
            id="the template changes a key of its own"),
        pytest.param(pods(tolerations=[{"key": "new"}, {"key": "own"}]),
            pods(tolerations=[{"key": "own"}, {"key": "gpu"}]),
            pods(tolerations=[{"key": "new"}, {"key": "own"}, {"key": "gpu"}]),
            id="the template's order, and behind it what the queue has added"),
        pytest.param(pods(), pods(affinity={"nodeAffinity": {}}, serviceAccountName="a"), pods(),
            id="nothing else of the pods"),
        pytest.param(None, ADDED, None, id="pods that the template does not have any more"),
        pytest.param({"metadata": {}}, pods(nodeSelector={"pool": "gpu"}), {"metadata": {}}, id="and no spec for them"),
    ],
)  # fmt: skip
def test_running_workload_keeps_additions_of_queue(define: Define, ours: Any, theirs: Any, kept: Any) -> None:
    desired, observed = obj(suspend=True, template=ours), obj(suspend=False, template=theirs)
    assert retain(define(root=ROOT), desired, observed) == obj(suspend=False, template=kept)


def test_held_workload_retains_only_its_gates(define: Define) -> None:
    retained = retain(define(root=ROOT), obj(template=pods()), obj(suspend=True, template=ADDED))
    assert retained == obj(suspend=True, template=pods(schedulingGates=[GATE]))


def test_workload_that_is_held_but_not_stopped_yet_keeps_all_additions(define: Define) -> None:
    """API servers refuse to change where the pods of a Job run until its start time is gone (`validateJobUpdate`)."""
    observed = obj(suspend=True, template=ADDED) | {"status": {"startTime": "2026-01-01T00:00:00Z"}}
    assert retain(define(root=ROOT), obj(template=pods()), observed) == obj(suspend=True, template=ADDED)


@rows(
    ("metadata", "annotation", "is_kept"),
    [
        pytest.param({}, None, False, id="no label"),
        pytest.param({"labels": {"example.io/queue": "a"}}, None, False, id="a label that nobody has named"),
        pytest.param(
            {"labels": {"example.io/queue": "a"}}, "kueue.x-k8s.io/queue-name, example.io/queue", True, id="one named"
        ),
        pytest.param({"labels": {"kueue.x-k8s.io/queue-name": "a"}}, "example.io/queue", False, id="Kueue's is not"),
        pytest.param({"labels": {"kueue.x-k8s.io/queue-name": "a"}}, "none", False, id="none is"),
        pytest.param({"labels": {"kueue.x-k8s.io/queue-name": ""}}, None, False, id="the name of no queue"),
    ],
)
def test_whom_the_label_means(define: Define, metadata: dict[str, Any], annotation: str | None, is_kept: bool) -> None:
    definition = define(root=ROOT, **({} if annotation is None else {"queue-labels": annotation}))
    retained = retain(definition, obj(metadata, suspend=True, template=pods()), obj(suspend=False, template=ADDED))
    assert retained["spec"] == {"replicas": 1, "suspend": not is_kept, "template": ADDED if is_kept else pods()}


def test_kind_without_suspension_is_not_queued(define: Define) -> None:
    definition = define(root=component("serve", ".spec.template", ".spec.replicas // 1"))
    desired = obj(template=pods())
    assert retain(definition, desired, obj(template=ADDED)) is desired


def test_pods_of_instances_are_matched_by_id(define: Define) -> None:
    groups = component("group", ".spec.groups[].template", ".spec.groups[].replicas // 1")
    groups |= {"instanceIdPath": ".spec.groups[].name"}
    groups["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.group"}
    definition = define(groups, root=SWITCH)
    ours, theirs = {"name": "new", "template": pods()}, {"name": "old", "template": ADDED}
    retained = retain(definition, obj(groups=[ours, theirs | {"template": pods()}]), obj(groups=[theirs]))
    assert retained["spec"]["groups"] == [ours, theirs]


@rows(
    ("pod_definition", "plain", "added"),
    [
        pytest.param(
            {"podTemplateSpecPath": ".spec | {metadata: .meta, spec: (.pod + {containers: [.pod.containers[], {}]})}"},
            {"pod": {"containers": []}},
            {"pod": {"containers": [], "nodeSelector": {"a": "b"}}, "meta": {"labels": {"c": "d"}}},
            id="a template that the definition completes",
        ),
        pytest.param({"podSpecPath": ".spec.pod", "metadataPath": ".spec.meta"}, {"pod": {"containers": []}},
            {"pod": {"containers": [], "nodeSelector": {"a": "b"}}, "meta": {"labels": {"c": "d"}}},
            id="a spec, and the metadata elsewhere"),
        pytest.param({"fragmentedPodSpecDefinition": {"labelsPath": ".spec.pod.tags", "imagePath": ".spec.pod.image"}},
            {"pod": {"image": "a"}}, {"pod": {"image": "a", "tags": {"c": "d"}}}, id="pieces"),
    ],
)  # fmt: skip
def test_wherever_the_definition_puts_pods(
    define: Define, pod_definition: dict[str, Any], plain: dict[str, Any], added: dict[str, Any]
) -> None:
    definition = define(root=ROOT | {"specDefinition": pod_definition})
    assert retain(definition, obj(**plain), obj(**added)) == obj(**added)


def test_computed_pods_keep_no_additions(define: Define) -> None:
    computed = {"podSpecPath": ".spec | {nodeSelector: (.all + .own), tolerations: [.one], containers: [{}]}"}
    desired = obj(own={"a": "b"}, suspend=True)
    retained = retain(define(root=ROOT | {"specDefinition": computed}), desired, obj(own={"c": "d"}, one={}))
    assert retained == obj(own={"a": "b"}, suspend=False)
