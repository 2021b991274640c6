"""Webhooks and controllers of others, who write into the workloads of any operator: see writers/families.yaml."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta import Definition
from tests.catalogue.entries import entries
from tests.catalogue.tables import Table, patched, with_version
from tests.catalogue.test_writers import retained_by
from tests.support.rows import rows

_HERE: Final = Path(__file__).parent
_FAMILIES: Final[list[Table]] = yaml.safe_load((_HERE / "writers" / "families.yaml").read_text(encoding="utf-8"))
_GROUPS: Final = {"", "apps", "batch", "argoproj.io", "serving.knative.dev"}
_PODS: Final = {"spec": {"containers": [{"name": "c", "image": "i:1"}, {"name": "other", "image": "o:1"}]}}
_SERVED: Final = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, **_PODS}}
_SPECS: Final[Object] = {
    "Pod": _PODS["spec"],
    "Job": {"template": _PODS},
    "CronJob": {"schedule": "@daily", "jobTemplate": {"spec": {"template": _PODS}}},
    "Deployment": {"replicas": 2, **_SERVED},
    "StatefulSet": {"replicas": 2, "serviceName": "s", **_SERVED},
    "ReplicaSet": {"replicas": 2, **_SERVED},
    "DaemonSet": _SERVED,
    "Rollout": {"replicas": 2, **_SERVED},
    "Service": {"template": _PODS},
}


def _definition(kind: str) -> Definition:
    found = (entry.definition for entry in entries())
    return next(each for each in found if each and each.gvk.kind == kind and each.gvk.group in _GROUPS)


def _met() -> Iterator[Any]:
    for family in _FAMILIES:
        for kind, met in family["kinds"].items():
            yield pytest.param(kind, met, id=f"{family['family']}: {kind}")


def test_each_family_has_three_kinds_and_a_source() -> None:
    for family in _FAMILIES:
        assert len(family["kinds"]) == 3, family["family"]
        assert family["source"]


def test_page_has_each_family() -> None:
    page = (_HERE.parents[1] / "docs" / "operations.md").read_text(encoding="utf-8")
    for family in _FAMILIES:
        assert family["family"].split(", ")[1] in page


@rows(("kind", "met"), _met())
def test_writer_of_any_workload_has_nothing_left_to_write(kind: str, met: Table) -> None:
    definition = _definition(kind)
    template = with_version({"spec": _SPECS[kind]}, definition.gvk)
    template = _patched(template, met.get("template", {}))
    member = _patched(template, met["writes"])
    edited = _patched(template, {"metadata": {"labels": {"edited": "true"}}})

    retained = retained_by(definition, edited, member)

    assert retained["metadata"]["labels"]["edited"] == "true", "the template's edit goes out"
    if met.get("returns"):
        assert _patched(retained, met["writes"]) == _patched(member, {"metadata": {"labels": {"edited": "true"}}})
        return
    assert retained["spec"] == member["spec"]
    assert retained_by(definition, retained, retained) == retained


def test_images_that_no_trigger_names_go_out() -> None:
    path = 'spec.template.spec.containers[?(@.name=="c")].image'
    named = [{"fieldPath": path}, {"fieldPath": "spec.template.spec.initContainers[0].image"}]
    annotations = {"image.openshift.io/triggers": json.dumps(named)}
    images = ("i", "j"), ("c", "other", "cc")
    pods = {
        version: {
            "spec": dict(
                zip(
                    ("initContainers", "containers"),
                    ([{"name": n, "image": version} for n in names] for names in images),
                    strict=True,
                )
            )
        }
        for version in ("old", "new")
    }
    for kind in ("Deployment", "StatefulSet", "DaemonSet"):
        definition = _definition(kind)
        template, member = (
            with_version(
                {"metadata": {"annotations": annotations}, "spec": {**_SPECS[kind], "template": pods[version]}},
                definition.gvk,
            )
            for version in ("new", "old")
        )

        kept = retained_by(definition, template, member)["spec"]["template"]["spec"]

        assert [each["image"] for each in kept["initContainers"]] == ["old", "new"]
        assert [each["image"] for each in kept["containers"]] == ["old", "new", "new"]


def test_variable_of_template_keeps_its_place_before_one_of_reloader() -> None:
    definition = _definition("Deployment")
    env = {"template": ["BASE", "URL"], "member": ["URL", "STAKATER_IT_SECRET", "GONE"]}
    template, member = (
        with_version(
            {
                "spec": {
                    **_SERVED,
                    "template": {"spec": {"containers": [{"name": "c", "env": [{"name": name} for name in env[of]]}]}},
                }
            },
            definition.gvk,
        )
        for of in ("template", "member")
    )

    (container,) = retained_by(definition, template, member)["spec"]["template"]["spec"]["containers"]

    assert [variable["name"] for variable in container["env"]] == ["BASE", "URL", "STAKATER_IT_SECRET"]


def _patched(obj: Object, patch: Object) -> Object:
    result = patched(obj, patch)
    assert isinstance(result, dict)
    return result
