from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.registered.operations import ServedKind, find_served, served_kinds, served_versions
from tests.support.rows import rows

JOB = GVK("batch", "v1", "Job")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
TOY = GVK("toys.example.com", "v1", "Toy")
OLD = GVK("toys.example.com", "v1beta1", "Toy")


def crd(*versions: Any, scope: str = "Namespaced") -> Any:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "toys.toys.example.com"},
        "spec": {"group": "toys.example.com", "names": {"kind": "Toy"}, "scope": scope, "versions": list(versions)},
    }


def version(name: str = "v1", *, served: bool = True, status: Any = None, subresource: bool = True) -> Any:
    properties = {"spec": {"type": "object"}} | ({"status": status} if status is not None else {})
    return {
        "name": name,
        "served": served,
        "storage": True,
        "subresources": {"status": {}} if subresource else {},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }


_OBSERVES = {"type": "object", "properties": {"observedGeneration": {"type": "integer", "format": "int64"}}}
_PHASE = {"type": "object", "properties": {"phase": {"type": "string"}}}
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@rows(
    ("manifest", "expected"),
    [
        pytest.param(crd(version(status=_OBSERVES)), ServedKind(observes_generation=True),
            id="the schema has the field"),
        pytest.param(crd(version(status=_PHASE)), ServedKind(observes_generation=False),
            id="the schema lacks the field"),
        pytest.param(crd(version()), ServedKind(observes_generation=False), id="an unknown status would be pruned"),
        pytest.param(crd(version(status=_OPEN)), ServedKind(), id="the status may hold anything"),
        pytest.param(crd({"name": "v1", "served": True, "schema": {"openAPIV3Schema": _OPEN}}),
            ServedKind(status_subresource=False), id="the whole object may hold anything"),
        pytest.param(crd(version(status=_OBSERVES, subresource=False)),
            ServedKind(status_subresource=False, observes_generation=True), id="no status subresource"),
        pytest.param(crd(version(status=_OBSERVES), scope="Cluster"),
            ServedKind(observes_generation=True, namespaced=False), id="cluster-scoped"),
        pytest.param(crd(version(served=False, status=_OBSERVES)), ServedKind(served=False, observes_generation=True),
            id="a version that is not served"),
    ],
)  # fmt: skip
def test_crd_tells_served_kind(manifest: Any, expected: ServedKind) -> None:
    assert served_kinds([manifest]) == {TOY: expected}


@rows(
    "manifest",
    [
        pytest.param({}, id="nothing"),
        pytest.param(
            {"spec": {"group": "a.io", "names": {"kind": "A"}, "versions": {}}}, id="versions of a wrong type"
        ),
        pytest.param({"spec": {"group": "a.io", "names": None, "versions": [{"name": "v1"}]}}, id="no kind"),
        pytest.param({"spec": {"group": "a.io", "names": {"kind": "A"}, "versions": ["v1", None]}}, id="no objects"),
    ],
)
def test_invalid_crd_tells_nothing(manifest: Any) -> None:
    assert served_kinds([manifest]) == {}


def test_built_in_kinds_need_no_crd() -> None:
    assert find_served(None, DEPLOYMENT) == ServedKind(observes_generation=True)
    assert find_served({}, JOB) == ServedKind(observes_generation=False)


def test_kind_without_crd_is_unknown_and_missing_version_not_served() -> None:
    known = served_kinds([crd(version(), version("v1alpha1", served=False))])

    assert find_served(None, TOY) is None
    assert find_served({}, TOY) is None
    assert find_served(known, TOY) == ServedKind(observes_generation=False)
    assert find_served(known, OLD) == ServedKind(served=False)
    assert served_versions(known, OLD) == ["v1"]
