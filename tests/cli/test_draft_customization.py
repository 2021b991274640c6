"""``create karta --from-customization``: what the draft of scripts answers, and what it says it answers otherwise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.cli.program import UsageProblem

Run = Callable[..., Result]
Thing = dict[str, Any]

_LUA = {
    "replicaResource": """
        local kube = require("kube")
        function GetReplicas(obj)
          return obj.spec.ovens * obj.spec.shifts, kube.accuratePodRequirements(obj.spec.baker)
        end""",
    "dependencyInterpretation": """
        function GetDependencies(obj)
          return {{apiVersion = "v1", kind = "Secret", namespace = obj.metadata.namespace, name = obj.spec.recipe}}
        end""",
    "retention": """
        function Retain(desired, observed)
          desired.spec.paused = observed.spec.paused
          return desired
        end""",
    "healthInterpretation": "function InterpretHealth(obj) return true end",
    "componentResource": """
        local kube = require("kube")
        function GetComponents(obj)
          local baker = kube.accuratePodRequirements(obj.spec.baker)
          local driver = kube.accuratePodRequirements(obj.spec.driver)
          return {
            {name = "baker", replicas = obj.spec.ovens * obj.spec.shifts, replicaRequirements = baker},
            {name = "driver", replicas = 1, replicaRequirements = driver},
          }
        end""",
}


def _template(cpu: str) -> Thing:
    return {"spec": {"containers": [{"name": "main", "image": "main", "resources": {"requests": {"cpu": cpu}}}]}}


BAKERY: Thing = {
    "apiVersion": "example.io/v1",
    "kind": "Bakery",
    "metadata": {"name": "north", "namespace": "default"},
    "spec": {
        "ovens": 2,
        "shifts": 2,
        "doors": 4,
        "paused": False,
        "recipe": "rye",
        "baker": _template("2"),
        "driver": _template("1"),
    },
    "status": {"phase": "Baking"},
}
_NUMBER = {"type": "integer"}
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_SPEC = {"ovens": _NUMBER, "shifts": _NUMBER, "doors": _NUMBER, "recipe": {"type": "string"}}
_CONTAINERS = {"type": "array", "items": {"properties": {"name": {"type": "string"}, "image": {"type": "string"}}}}
_PODS = {"properties": {"spec": {"properties": {"containers": _CONTAINERS}}}}
_SCHEMA = {"properties": {"spec": {"properties": {**_SPEC, "baker": _PODS, "driver": _PODS}}, "status": _ANY}}
CRD: Thing = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "bakeries.example.io"},
    "spec": {
        "group": "example.io",
        "names": {"kind": "Bakery"},
        "versions": [{"name": "v1", "storage": True, "schema": {"openAPIV3Schema": _SCHEMA}}],
    },
}


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a function that writes scripts, and returns the options with them and with other files."""

    def write(*scripts: str, **others: Thing) -> list[str]:
        customization = {
            "apiVersion": "config.karmada.io/v1alpha1",
            "kind": "ResourceInterpreterCustomization",
            "metadata": {"name": "bakery"},
            "spec": {
                "target": {"apiVersion": "example.io/v1", "kind": "Bakery"},
                "customizations": {name: {"luaScript": _LUA[name]} for name in scripts},
            },
        }
        options = []
        for name, value in {"from-customization": customization, **others}.items():
            path = tmp_path / f"{name}.yaml"
            path.write_text(yaml.safe_dump(value), encoding="utf-8")
            options += [f"--{name}", str(path)]
        return options

    return write


def _component(draft: str) -> Thing:
    root: Thing = yaml.safe_load(draft)["spec"]["structureDefinition"]["rootComponent"]
    return {name: root.get(name) for name in ("specDefinition", "scaleDefinition")}


_DRAFTED = {
    "specDefinition": {"podTemplateSpecPath": ".spec.baker"},
    "scaleDefinition": {"replicasPath": "(.spec.ovens // 1) * (.spec.shifts // 1)"},
}


def test_one_object_is_enough_for_a_product_that_another_number_equals(
    run: Run, files: Callable[..., list[str]]
) -> None:
    result = run("create", "karta", *files("replicaResource", object=BAKERY))

    assert _component(result.stdout) == _DRAFTED
    assert "2 of 2 objects agree: the number of pods." in result.stdout
    assert "InterpretReplica\n" not in result.stderr


def test_sample_of_crd_is_asked_without_objects(run: Run, files: Callable[..., list[str]]) -> None:
    result = run("create", "karta", *files("replicaResource", crd=CRD))

    assert _component(result.stdout) == _DRAFTED


def test_components_of_script_are_components_with_labels_to_check(run: Run, files: Callable[..., list[str]]) -> None:
    result = run("create", "karta", *files("componentResource", object=BAKERY))

    children = yaml.safe_load(result.stdout)["spec"]["structureDefinition"]["childComponents"]
    counts = {child["name"]: child.get("scaleDefinition") for child in children}
    assert counts == {"baker": _DRAFTED["scaleDefinition"], "driver": None}
    assert result.stdout.count("CHECK: which label of a pod tells this?") == 2


def test_dependencies_and_retained_fields_of_scripts_are_lines(run: Run, files: Callable[..., list[str]]) -> None:
    result = run("create", "karta", *files("replicaResource", "dependencyInterpretation", "retention", object=BAKERY))

    annotations = yaml.safe_load(result.stdout)["metadata"]["annotations"]
    (dependency,) = yaml.safe_load(annotations["karta-interpreter.io/dependencies"])
    assert dependency == {"apiVersion": "v1", "kind": "Secret", "name": ".spec.recipe"}
    assert annotations["karta-interpreter.io/retain"] == "- .spec.paused\n"
    assert "InterpretDependency\n" not in result.stderr


def test_answers_that_the_draft_gives_otherwise_are_listed(run: Run, files: Callable[..., list[str]]) -> None:
    result = run("create", "karta", *files("healthInterpretation", object=BAKERY))

    assert "Bakery default/north: InterpretHealth\n  healthy\n  - true\n  + false\n" in result.stderr
    assert "the draft answers" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        pytest.param({}, "give --from-customization with --object, --crd or both", id="nothing to ask about"),
        pytest.param({"pods": BAKERY}, "and no other evidence", id="pods as well"),
        pytest.param({"object": CRD}, "there is no object of the kind example.io/v1, Kind=Bakery", id="another kind"),
        pytest.param({"from-customization": BAKERY}, "no ResourceInterpreterCustomization in it", id="not scripts"),
    ],
)
def test_wrong_arguments_are_named(
    run: Run, files: Callable[..., list[str]], others: dict[str, Thing], message: str
) -> None:
    options = files("replicaResource", **others)
    result = run("create", "karta", *options, *(["--object", options[1]] if "from-customization" in others else []))

    assert result.exit_code == UsageProblem.exit_code
    assert message in result.stderr
