"""Fields of a CRD that look like references are followed by pods or dependencies, or left out on purpose."""

from typing import Any

import pytest

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s.dependencies import DEPENDENCY_NAMES, claim_dependencies, pod_dependencies
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.check.check import check
from tests.support.rows import rows

_TEXT = {"type": "string"}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


_NAMED = _object(name=_TEXT)
_KEY = _object(name=_TEXT, key=_TEXT, optional={"type": "boolean"})
_ENV = _list(_object(name=_TEXT, value=_TEXT, valueFrom=_object(secretKeyRef=_KEY)))
_CONTAINERS = _list(_object(name=_TEXT, image=_TEXT, env=_ENV, resources=_object(claims=_list(_NAMED))))
_CLAIM = _object(claimName=_TEXT)
_POD = _object(
    containers=_CONTAINERS,
    imagePullSecrets=_list(_NAMED),
    schedulingGates=_list(_NAMED),
    serviceAccountName=_TEXT,
    serviceAccount=_TEXT,
    volumes=_list(_object(name=_TEXT, persistentVolumeClaim=_CLAIM)),
)
_TEMPLATE = _object(metadata=_object(ownerReferences=_list(_NAMED)), spec=_POD)


def _findings(
    spec: dict[str, Any],
    dependencies: str = "",
    pods: str = "",
    form: str = "podTemplateSpecPath",
    operations: str = "",
) -> list[Finding]:
    texts = {"dependencies": dependencies, "operations": operations}
    annotations = {f"karta-interpreter.io/{name}": text for name, text in texts.items() if text}
    kind = {"group": "example.io", "version": "v1", "kind": "Bakery"}
    root: dict[str, Any] = {"name": "bakery", "kind": kind, "statusDefinition": {"statusMappings": {}}}
    if pods:
        root["specDefinition"] = {form: pods}
    karta, wrong = read_karta(
        {
            "apiVersion": "run.ai/v1alpha1",
            "kind": "Karta",
            "metadata": {"name": "bakery", "annotations": annotations},
            "spec": {"structureDefinition": {"rootComponent": root}},
        }
    )
    assert karta is not None, wrong
    return check(karta, _object(spec=_object(**spec)))


def _unexplained(spec: dict[str, Any], *definition: str) -> list[str]:
    findings = _findings(spec, *definition)
    assert {each.rule for each in findings} <= {"crd-reference", "crd-optional-template", "crd-unread"}
    return [each.message.partition(" ")[0] for each in findings if each.rule == "crd-reference"]


@rows(
    ("spec", "references"),
    [
        pytest.param({"secretName": _TEXT}, [".spec.secretName"], id="the name of a Secret"),
        pytest.param({"tls": _object(configMapName=_TEXT)}, [".spec.tls.configMapName"], id="within an object"),
        pytest.param({"certConfigMap": _TEXT}, [".spec.certConfigMap"], id="a text that is called after its kind"),
        pytest.param({"authRef": _TEXT}, [".spec.authRef"], id="a text that is a reference"),
        pytest.param({"pullSecrets": _list(_TEXT)}, [".spec.pullSecrets[]"], id="a list of names"),
        pytest.param({"password": _KEY}, [".spec.password.name"], id="the shape of a key of a Secret"),
        pytest.param({"owner": _NAMED}, [".spec.owner.name"], id="the shape of a local reference"),
        pytest.param(
            {"source": {"type": "object", "additionalProperties": _NAMED}}, [".spec.source[].name"], id="in a map"
        ),
        pytest.param(
            {"monitorRef": _object(name=_TEXT, port={"type": "integer"}, secretName=_TEXT)},
            [".spec.monitorRef"],
            id="a reference that has others is a group",
        ),
        pytest.param({"template": _TEMPLATE}, [".spec.template"], id="pods, of which nothing is known, are one"),
        pytest.param({"env": _ENV}, [".spec.env[].valueFrom.secretKeyRef.name"], id="variables outside of pods"),
        pytest.param({"mode": _object(name={**_TEXT, "enum": ["a", "b"]})}, [], id="a name from a list"),
        pytest.param({"ref": _object(branch=_TEXT, name=_TEXT)}, [], id="a branch"),
        pytest.param({"image": _object(reference=_TEXT)}, [], id="an image"),
        pytest.param({"size": _TEXT, "flags": _list(_object(name=_TEXT, value=_TEXT))}, [], id="names of settings"),
        pytest.param(
            {"claims": _list(_object(spec=_object(accessModes=_list(_TEXT), dataSource=_NAMED)))},
            [],
            id="the data of a claim",
        ),
    ],
)
def test_check_lists_fields_that_look_like_references(spec: dict[str, Any], references: list[str]) -> None:
    assert _unexplained(spec) == references


@rows(
    ("spec", "dependencies"),
    [
        pytest.param({"secretName": _TEXT}, "- {apiVersion: v1, kind: Secret, name: .spec.secretName}", id="a name"),
        pytest.param(
            {"uri": _TEXT, "secret": _TEXT},
            '- {apiVersion: v1, kind: Secret, name: ".spec.secret | split(\\"/\\") | .[0]"}',
            id="a part of a name",
        ),
        pytest.param(
            {"roles": {"type": "object", "additionalProperties": _object(secretName=_TEXT)}},
            "- {apiVersion: v1, kind: Secret, name: .spec.roles.main.secretName}",
            id="an entry of a map",
        ),
        pytest.param({"template": _TEMPLATE}, "- pods: .spec.template", id="pods"),
        pytest.param({"pod": _POD}, "- pods: '{spec: .spec.pod}'", id="the spec of pods"),
        pytest.param({"env": _ENV}, "- pods: '{spec: {containers: [{env: .spec.env}]}}'", id="variables of pods"),
        pytest.param(
            {"template": _TEMPLATE},
            "- pods: '{spec: (.spec.template.spec + {volumes: .spec.template.spec.volumes})}'",
            id="pods to which something is added",
        ),
        pytest.param(
            {"backup": _object(secretName=_TEXT, store=_KEY)}, "- {omit: .spec.backup, reason: none}", id="left out"
        ),
    ],
)
def test_check_accepts_references_in_dependencies(spec: dict[str, Any], dependencies: str) -> None:
    assert _unexplained(spec)
    assert _unexplained(spec, dependencies) == []


@rows(
    ("form", "path", "references"),
    [
        pytest.param("podTemplateSpecPath", ".spec.template", [], id="a template"),
        pytest.param("podSpecPath", ".spec.template.spec", [], id="a spec"),
        pytest.param(
            "podTemplateSpecPath",
            "{spec: {containers: .spec.template.spec.containers}}",
            [
                ".spec.template.spec.imagePullSecrets[].name",
                ".spec.template.spec.serviceAccountName",
                ".spec.template.spec.volumes[].persistentVolumeClaim.claimName",
            ],
            id="its containers",
        ),
    ],
)
def test_check_follows_pods_as_operations_do(form: str, path: str, references: list[str]) -> None:
    assert _unexplained({"template": _TEMPLATE}, "", path, form) == references


def test_check_of_a_value_on_the_way_covers_no_name() -> None:
    dependencies = "- {apiVersion: v1, kind: Secret, name: .spec.tls | select(. != null) | .id}"
    assert _unexplained({"tls": _object(id=_TEXT, secretName=_TEXT)}, dependencies) == [".spec.tls.secretName"]


def test_check_says_what_to_write_for_a_reference() -> None:
    [finding] = _findings({"secretName": _TEXT})
    assert finding.hint == (
        "add {apiVersion: v1, kind: Secret, name: .spec.secretName} to the annotation dependencies, "
        "or {omit: .spec.secretName, reason: …}"
    )


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        pytest.param(".spec.pod", "an object", id="the spec of a pod without its template"),
        pytest.param(".spec.pod.serviceAccountName", "a string", id="a text"),
    ],
)
def test_check_rejects_pods_that_are_no_templates(path: str, noun: str) -> None:
    findings = _findings({"pod": _POD}, f"- pods: {path}")
    assert [each.message for each in findings if each.rule == "crd-wrong-type"] == [
        f"{path} is {noun} in the CRD, not a pod template, with spec"
    ]


def test_names_in_pods_are_those_that_operations_follow() -> None:
    for path in DEPENDENCY_NAMES:
        spec: Any = "needed"
        for step in reversed(path.split(".")):
            spec = {step.removesuffix("[]"): [spec] if step.endswith("[]") else spec}
        named = (*pod_dependencies({"spec": spec}, ""), *claim_dependencies({"spec": spec}, ""))
        assert [each.name for each in named] == ["needed"], path


@rows(
    ("spec", "dependencies", "pods", "rules"),
    [
        pytest.param(
            {"secretName": _TEXT},
            "- {apiVersion: v1, kind: Secret, name: .spec.secretNam}",
            "",
            ["crd-unknown-field"],
            id="a name from a field that is not there",
        ),
        pytest.param(
            {"secretName": _TEXT},
            "- {apiVersion: v1, kind: secrets, name: .spec.secretName}",
            "",
            [],
            id="a kind that loading refuses",
        ),
        pytest.param({"template": _TEMPLATE}, "", ".spec.template.spec", ["crd-wrong-type"], id="a spec as a template"),
    ],
)
def test_check_lists_no_references_that_faults_may_cover(
    spec: dict[str, Any], dependencies: str, pods: str, rules: list[str]
) -> None:
    assert [each.rule for each in _findings(spec, dependencies, pods)] == rules


def test_check_of_a_kind_without_dependencies_lists_no_references() -> None:
    assert _findings({"secretName": _TEXT}, operations="InterpretHealth") == []
