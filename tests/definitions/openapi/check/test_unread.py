"""Pods in a CRD, by their shapes, and the count of its scale subresource are read by an expression."""

from typing import Any

import pytest

from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.check.check import check
from tests.support.rows import rows

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


_CONTAINER = _object(name=_TEXT, image=_TEXT, command={}, env={}, resources={}, volumeMounts={})
_POD: dict[str, Any] = _object(containers=_list(_CONTAINER), initContainers=_list(_CONTAINER), nodeSelector=_object())
_TEMPLATE = _object(metadata=_object(), spec=_POD)
_BAKERY = _object(**_POD["properties"], minReplicas=_NUMBER, worker=_POD)
"""A pod spec with fields of its own beside those of a pod."""


def _karta(pods: str, count: str = "", **annotations: str) -> dict[str, Any]:
    root: dict[str, Any] = {
        "name": "bakery",
        "kind": {"group": "example.io", "version": "v1", "kind": "Bakery"},
        "statusDefinition": {"statusMappings": {}},
    }
    if pods:
        form = "podSpecPath" if "shop" in pods else "podTemplateSpecPath"
        root["specDefinition"] = {form: pods}
    if count:
        root["scaleDefinition"] = {"replicasPath": count}
    texts = {f"karta-interpreter.io/{name}": text for name, text in annotations.items()}
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "bakery", "annotations": texts},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }


def _unread(spec: dict[str, Any], pods: str = "", count: str = "", scale: str = "", **annotations: str) -> list[str]:
    karta, wrong = read_karta(_karta(pods, count, **annotations))
    assert karta is not None, wrong
    found = check(karta, _object(spec=_object(**spec)), scale)
    return [each.message.removeprefix("no expression reads ") for each in found if each.rule == "crd-unread"]


@rows(
    ("spec", "pods", "unread"),
    [
        pytest.param({"template": _TEMPLATE}, ".spec.template", [], id="a template is read whole"),
        pytest.param({"template": _TEMPLATE}, "{spec: {containers: .spec.template.spec.containers}}", [],
            id="its containers"),
        pytest.param({"template": _TEMPLATE}, "", [".spec.template, a pod template"], id="a template"),
        pytest.param({"main": _object(template=_TEMPLATE),
            "canary": _list(_object(template=_TEMPLATE, replicas=_NUMBER))}, ".spec.main.template",
            [".spec.canary[].template, a pod template"], id="a template beside the one that is read"),
        pytest.param({"roles": {"type": "object", "additionalProperties": _object(pod=_POD)}}, "",
            [".spec.roles[].pod, a pod spec"], id="the pods of each role"),
        pytest.param({"sidecars": _list(_CONTAINER)}, "", [".spec.sidecars, a list of containers"], id="containers"),
        pytest.param({"template": _TEMPLATE, "sidecars": _list(_CONTAINER)},
            "{spec: (.spec.template.spec + {initContainers: .spec.sidecars})}", [],
            id="containers that are part of pods"),
        pytest.param({"shop": _BAKERY}, ".spec.shop", [".spec.shop.worker, a pod spec"],
            id="a pod spec covers the fields of a pod alone"),
        pytest.param({"images": _list(_object(name=_TEXT, image=_TEXT)), "template": {"type": "object"},
            "replicas": _NUMBER}, "", [], id="what only its name says"),
    ],
)  # fmt: skip
def test_pods_that_no_expression_reads_are_named(spec: dict[str, Any], pods: str, unread: list[str]) -> None:
    assert _unread(spec, pods) == unread


def test_annotation_reads_pods() -> None:
    assert _unread({"template": _TEMPLATE}, retain="- .spec.template") == []


def test_count_of_the_scale_subresource_is_named() -> None:
    counted = ".spec.ovens, the count of the scale subresource"
    assert _unread({"ovens": _NUMBER}) == []
    assert _unread({"ovens": _NUMBER}, scale=".spec.ovens") == [counted]
    assert _unread({"ovens": _NUMBER}, count=".spec.ovens", scale=".spec.ovens") == []


def test_key_of_a_map_in_the_scale_subresource_stands_for_all() -> None:
    roles = {"type": "object", "additionalProperties": _object(replicas=_NUMBER)}
    path = ".spec.roles.Worker.replicas"
    assert _unread({"roles": roles}, scale=path) == [".spec.roles[].replicas, the count of the scale subresource"]


@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param({"operations": "InterpretHealth, InterpretStatus"}, id="no operation counts"),
        pytest.param({"operations": "InterpretReplica",
            "lua": "replicaResource:\n  luaScript: function GetReplicas(obj) return 1, {} end\n"},
            id="a script counts"),
    ],
)  # fmt: skip
def test_nothing_is_named_where_no_expression_counts(annotations: dict[str, str]) -> None:
    assert _unread({"template": _TEMPLATE}, **annotations) == []


def _crd(spec: dict[str, Any]) -> dict[str, Any]:
    schema = {"openAPIV3Schema": _object(spec=_object(**spec))}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "bakeries.example.io"},
        "spec": {"group": "example.io", "names": {"kind": "Bakery"}, "versions": [version]},
    }


def test_pods_of_one_of_several_releases_are_named() -> None:
    old = {"template": _TEMPLATE}
    crds = [_crd(old), _crd({**old, "canary": _object(template=_TEMPLATE)})]
    text = str(_karta(".spec.template")).replace("'", '"')
    found = [each.message for each in contradictions(text, "karta.json", crds) if each.rule == "crd-unread"]
    assert found == ["no expression reads .spec.canary.template, a pod template"]
