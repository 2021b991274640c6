"""Reading and writing of group, version and kind."""

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK, JSON
from tests.support.rows import rows


@rows(
    ("api_version", "kind", "expected", "text"),
    [
        pytest.param("v1", "Pod", GVK("", "v1", "Pod"), "v1, Kind=Pod", id="the core group has no name"),
        pytest.param("apps/v1", "Deployment", GVK("apps", "v1", "Deployment"), "apps/v1, Kind=Deployment",
            id="a named group"),
        pytest.param("kubeflow.org/v2beta1", "MPIJob", GVK("kubeflow.org", "v2beta1", "MPIJob"),
            "kubeflow.org/v2beta1, Kind=MPIJob", id="a group with dots"),
    ],
)  # fmt: skip
def test_reads_what_it_writes(api_version: str, kind: str, expected: GVK, text: str) -> None:
    assert GVK.parse(api_version, kind) == expected
    assert GVK.of({"apiVersion": api_version, "kind": kind, "metadata": {}}) == expected
    assert expected.api_version == api_version
    assert str(expected) == text


@rows(
    ("obj", "message"),
    [
        pytest.param({"kind": "Pod"}, "apiVersion; this one has none", id="no apiVersion"),
        pytest.param({"apiVersion": "v1"}, "kind; this one has none", id="no kind"),
        pytest.param({"apiVersion": "v1", "kind": ""}, "kind .* is empty", id="empty kind"),
        pytest.param({"apiVersion": "", "kind": "Pod"}, 'apiVersion ""', id="empty apiVersion"),
        pytest.param({"apiVersion": "apps/", "kind": "Pod"}, 'apiVersion "apps/"', id="group without version"),
        pytest.param({"apiVersion": "/v1", "kind": "Pod"}, 'apiVersion "/v1"', id="empty group before a slash"),
        pytest.param({"apiVersion": "a/b/v1", "kind": "Pod"}, 'apiVersion "a/b/v1"', id="two slashes"),
        pytest.param({"apiVersion": 1, "kind": "Pod"}, "apiVersion; this one has a number", id="a number"),
        pytest.param({"apiVersion": "v1", "kind": None}, "kind; this one has null", id="null"),
    ],
)
def test_object_without_type_is_bad_request(obj: dict[str, JSON], message: str) -> None:
    with pytest.raises(InterpretationError, match=message) as caught:
        GVK.of(obj)
    assert caught.value.code == 400


def test_types_are_sorted_by_group_then_version_then_kind() -> None:
    job, pod, deployment = GVK("batch", "v1", "Job"), GVK("", "v1", "Pod"), GVK("apps", "v1", "Deployment")
    assert sorted([job, pod, deployment]) == [pod, deployment, job]
