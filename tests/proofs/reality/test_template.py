"""Templates, by the rules of Karmada v1.18 (native/prune/prune.go, objectwatcher.go)."""

import copy

import pytest

from tests.proofs.reality.template import prepared, template_of
from tests.proofs.rig.api import Object

_LABELS = {"karmada.io/managed": "true"}
_NOTES = {"resourcetemplate.karmada.io/uid": "u", "resourcetemplate.karmada.io/generation": "4"}


def _stored(kind: str, spec: Object, **metadata: object) -> Object:
    return {"kind": kind, "metadata": {"name": "it", "uid": "u", "generation": 4, **metadata}, "spec": spec}


def test_template_has_no_fields_of_the_api_server() -> None:
    stored = _stored("X", {}, resourceVersion="9", creationTimestamp="t", finalizers=["f"], managedFields=[{}])
    stored["status"] = {"ready": 1}
    assert template_of(stored) == {
        "kind": "X",
        "metadata": {"name": "it", "labels": _LABELS, "annotations": _NOTES},
        "spec": {},
    }


def test_template_of_does_not_change_the_object() -> None:
    stored = _stored("Deployment", {"a": {"b": 1}}, annotations={"deployment.kubernetes.io/revision": "3", "mine": "x"})
    before = copy.deepcopy(stored)
    assert template_of(stored)["metadata"]["annotations"] == {"mine": "x", **_NOTES}
    assert stored == before


def test_template_of_revised_object_is_pruned_by_stored_one() -> None:
    stored = _stored("X", {"replicas": 4})
    assert template_of(stored, _stored("X", {"replicas": 2}))["spec"] == {"replicas": 2}


@pytest.mark.parametrize(
    ("manual", "selector", "labels"),
    [
        (False, {"matchLabels": {}}, {"mine": "x"}),
        (True, {"matchLabels": {"controller-uid": "u"}}, {"mine": "x", "job-name": "it", "controller-uid": "u"}),
    ],
    ids=["generated", "the user's own"],
)
def test_generated_selector_of_job_is_removed(manual: bool, selector: Object, labels: Object) -> None:
    spec = {
        "manualSelector": manual,
        "ttlSecondsAfterFinished": 5,
        "selector": {"matchLabels": {"controller-uid": "u"}},
        "template": {"metadata": {"labels": {"mine": "x", "job-name": "it", "controller-uid": "u"}}},
    }
    template = template_of(_stored("Job", spec))["spec"]
    assert template["selector"] == selector
    assert template["template"]["metadata"]["labels"] == labels
    assert "ttlSecondsAfterFinished" not in template


def test_metadata_added_by_members_is_kept() -> None:
    template = {"metadata": {"labels": {"a": "ours"}, "annotations": {}}, "spec": {"x": 1}}
    observed = {
        "metadata": {"resourceVersion": "7", "finalizers": ["f"], "labels": {"a": "theirs", "b": "theirs"}},
        "spec": {"x": 2},
    }
    assert prepared(template, observed) == {
        "metadata": {
            "labels": {"a": "ours", "b": "theirs"},
            "annotations": {},
            "resourceVersion": "7",
            "finalizers": ["f"],
        },
        "spec": {"x": 1},
    }
