"""Parts of a CRD that look like what answers depend on are read by an expression, or left out on purpose."""

from typing import Any

import pytest

from karta_interpreter.base.findings import Finding
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.check.check import check
from tests.support.rows import rows

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_SWITCH = {"type": "boolean"}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


_RESOURCES = _object(limits=_object(), requests=_object())
_POD: dict[str, Any] = _object(
    containers=_list(_object(name=_TEXT, image=_TEXT, resources=_RESOURCES)), nodeSelector=_object()
)
_TEMPLATE = _object(metadata=_object(), spec=_POD)
_BAKERY = _object(**_POD["properties"], minReplicas=_NUMBER, oven=_object(resources=_RESOURCES))
"""A pod spec with fields of its own next to those of a pod."""


def _karta(pods: str, count: str, **annotations: str) -> dict[str, Any]:
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
    texts = {f"karta-interpreter.io/{name}": text for name, text in annotations.items() if text}
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "bakery", "annotations": texts},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }


def _findings(
    spec: dict[str, Any], pods: str = "", count: str = "", scale: str = "", **annotations: str
) -> list[Finding]:
    karta, wrong = read_karta(_karta(pods, count, **annotations))
    assert karta is not None, wrong
    found = check(karta, _object(spec=_object(**spec)), scale)
    return [finding for finding in found if finding.rule != "crd-optional-template"]


def _unread(*args: Any, **more: Any) -> list[str]:
    found = _findings(*args, **more)
    return [each.message.removeprefix("no expression reads ") for each in found if each.rule == "crd-unread"]


@rows(
    ("spec", "pods", "count", "unread"),
    [
        pytest.param({"template": _TEMPLATE}, ".spec.template", "", [], id="a template is read whole"),
        pytest.param(
            {"template": _TEMPLATE}, "{spec: {containers: .spec.template.spec.containers}}", "", [], id="its containers"
        ),
        pytest.param(
            {"template": _TEMPLATE, "sizes": _list(_NUMBER), "replicas": _NUMBER},
            ".spec.template",
            ".spec.sizes | length",
            [".spec.replicas, which looks like a count"],
            id="a count next to the one that is read",
        ),
        pytest.param(
            {"template": _TEMPLATE, "groups": _NUMBER, "replicasPerGroup": _NUMBER, "minPodsPerSet": _NUMBER},
            ".spec.template",
            ".spec.groups",
            [".spec.replicasPerGroup, which looks like a factor of a count"],
            id="a factor of the count",
        ),
        pytest.param(
            {
                "copies": _NUMBER,
                "pools": _list(_object(template=_TEMPLATE, size=_NUMBER, shards=_NUMBER, timeoutSeconds=_NUMBER)),
                "proxies": _object(ports=_NUMBER, threads=_NUMBER),
            },
            ".spec.pools[].template",
            ".spec.pools[].size",
            [
                ".spec.copies, which looks like a factor of a count",
                ".spec.pools[].shards, which looks like a factor of a count",
            ],
            id="plurals around a template",
        ),
        pytest.param(
            {"main": _object(template=_TEMPLATE), "canary": _list(_object(template=_TEMPLATE, replicas=_NUMBER))},
            ".spec.main.template",
            "1",
            [".spec.canary, which has pods and a count ([].template, [].replicas)"],
            id="a new part is one group",
        ),
        pytest.param(
            {"shops": _list(_object(pods=_POD, paused=_SWITCH, late=_object(size=_NUMBER, pods=_POD)))},
            "first(.spec.shops[].pods)",
            "",
            [
                ".spec.shops[].paused, which looks like a switch that suspends",
                ".spec.shops[].late, which has pods and a count (.size, .pods)",
            ],
            id="groups end where something is read",
        ),
        pytest.param(
            {"shop": _BAKERY},
            ".spec.shop",
            "",
            [".spec.shop.minReplicas, which looks like a count", ".spec.shop.oven, which has resources (.resources)"],
            id="a pod spec does not cover the fields next to it",
        ),
        pytest.param(
            {"shop": _BAKERY},
            "",
            ".spec.shop.minReplicas",
            [".spec.shop, which looks like pods", ".spec.shop.oven, which has resources (.resources)"],
            id="a count is not the pods around it",
        ),
        pytest.param(
            {"groups": _list(_object(replicas=_NUMBER))},
            "",
            ".spec.groups | length",
            [".spec.groups[], which has a count (.replicas)"],
            id="the length of a list reads no element",
        ),
    ],
)
def test_check_lists_parts_that_no_expression_reads(
    spec: dict[str, Any], pods: str, count: str, unread: list[str]
) -> None:
    assert sorted(_unread(spec, pods, count)) == sorted(unread)


@rows(
    ("spec", "annotations"),
    [
        pytest.param({"size": _NUMBER, "template": _TEMPLATE}, {"retain": "- .spec | .size, .template"}, id="retained"),
        pytest.param({"suspend": _SWITCH}, {"health": ".spec.suspend != true"}, id="a condition"),
        pytest.param({"nodeSelector": _object()}, {"health": "any(.spec; .nodeSelector)"}, id="whether it is there"),
        pytest.param(
            {"shop": _BAKERY}, {"unread": "- {omit: .spec.shop, reason: sold}"}, id="left out with its fields"
        ),
        pytest.param(
            {"groups": _list(_object(replicas=_NUMBER, suspend=_SWITCH))},
            {"unread": "- {omit: '.spec.groups[] | .replicas, .suspend', reason: the operator ignores both}"},
            id="several are left out",
        ),
    ],
)
def test_check_accepts_parts_in_annotations(spec: dict[str, Any], annotations: dict[str, str]) -> None:
    assert _unread(spec)
    assert _unread(spec, **annotations) == []


def test_check_of_dependencies_leaves_out_no_pods() -> None:
    dependencies = "- {omit: .spec.template, reason: no names}"
    assert _unread({"template": _TEMPLATE}, dependencies=dependencies) == [".spec.template, which looks like pods"]


def test_check_of_a_part_left_out_lists_no_references_in_it() -> None:
    spec = {"old": _object(secretName=_TEXT, replicas=_NUMBER)}
    assert [each.rule for each in _findings(spec)] == ["crd-unread", "crd-reference"]
    assert _findings(spec, unread="- {omit: .spec.old, reason: the operator ignores it}") == []


def test_check_says_what_to_write_for_an_unread_part() -> None:
    [finding] = _findings(
        {"groups": _list(_object(replicas=_NUMBER, name=_TEXT))}, count="[.spec.groups[].name] | length"
    )
    assert finding.hint == "read it, or add {omit: '.spec.groups[].replicas', reason: …} to the annotation unread"


def test_check_says_how_a_factor_is_read() -> None:
    pools = _list(_object(template=_TEMPLATE, size=_NUMBER, shards=_NUMBER))
    hints = [
        each.hint
        for each in _findings({"copies": _NUMBER, "pools": pools}, ".spec.pools[].template", ".spec.pools[].size")
    ]
    assert [hint.partition("`")[2].partition("`")[0] for hint in hints] == ["* .spec.copies", "* .shards"]


def test_check_names_the_field_for_an_unread_bound() -> None:
    [finding] = _findings({"autoscaling": _object(minReplicas=_NUMBER, maxReplicas=_NUMBER)})
    assert finding.hint.startswith("read it by minReplicasPath (and maxReplicasPath), or")


def test_check_says_how_to_count_pods_without_a_template() -> None:
    [finding] = _findings({"encoder": _object(workers=_NUMBER, image=_TEXT, cores=_NUMBER)})
    assert finding.message == "no expression reads .spec.encoder, which has a count (.workers)"
    assert finding.hint.startswith(
        "read it, for pods without a template by replicasPath and a podSpecPath that builds the pod "
        "(`.spec.encoder | {containers: ["
    )


def test_check_says_what_the_definition_was_written_from() -> None:
    [finding] = _findings({"replicas": _NUMBER}, **{"written-from": "Bakery 1.4"})
    assert finding.hint.endswith("; the CRD may be newer than Bakery 1.4, which the definition was written from")


def test_check_has_the_count_of_the_scale_subresource() -> None:
    assert _unread({"ovens": _NUMBER}) == []
    assert _unread({"ovens": _NUMBER}, "", "", ".spec.ovens") == [".spec.ovens, which looks like a count"]


@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param({"operations": "InterpretHealth, InterpretStatus"}, id="no operation counts"),
        pytest.param(
            {
                "operations": "InterpretReplica",
                "lua": "replicaResource:\n  luaScript: function GetReplicas(obj) return 1, {} end\n",
            },
            id="a script counts",
        ),
    ],
)
def test_check_lists_nothing(annotations: dict[str, str]) -> None:
    assert _unread({"replicas": _NUMBER})
    assert _unread({"replicas": _NUMBER}, **annotations) == []


def test_check_by_several_releases_lists_what_one_has() -> None:
    old = {"replicas": _NUMBER}
    crds = [_crd(old), _crd({**old, "canary": _object(replicas=_NUMBER)})]
    text = str(_karta("", ".spec.replicas")).replace("'", '"')
    found = [each.message for each in contradictions(text, "karta.json", crds) if each.rule == "crd-unread"]
    assert found == ["no expression reads .spec.canary, which has a count (.replicas)"]


def _crd(spec: dict[str, Any]) -> dict[str, Any]:
    schema = {"openAPIV3Schema": _object(spec=_object(**spec))}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "bakeries.example.io"},
        "spec": {"group": "example.io", "names": {"kind": "Bakery"}, "versions": [version]},
    }


def test_check_groups_an_inline_list_of_references() -> None:
    volumes = _list(_object(name=_TEXT, secret=_object(secretName=_TEXT), configMap=_object(name=_TEXT)))
    [finding] = _findings({"volumes": volumes})
    assert finding.message == (
        ".spec.volumes has 2 fields that look like references ([].secret.secretName, [].configMap.name), "
        "which neither pods nor dependencies cover"
    )
    assert finding.hint.endswith("or {omit: .spec.volumes, reason: …}")
