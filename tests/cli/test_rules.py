"""`explain RULE`: each rule has a purpose, an example that breaks it and one that follows it."""

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from click.testing import Result
from pydantic import TypeAdapter

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.cli.explain import described, rules
from karta_interpreter.definitions.karta import model
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.karta.rules import NO_ANSWER
from karta_interpreter.definitions.karta.schema_types import Schema
from karta_interpreter.definitions.openapi import objects
from karta_interpreter.definitions.openapi.check import object_contradictions
from karta_interpreter.engine.explain import count_warnings, misfits, pod_warnings, status_warnings
from karta_interpreter.languages.lua.customization import load_customizations
from tests.support.rows import few_rows, rows

_PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
_SECTIONS = dict(re.findall(r"^## (.*)\n((?:\|.*\n)+)", _PAGE, re.MULTILINE))
_RULES = {title: sorted({*re.findall(r"^\| `([a-z-]+)`", rows, re.MULTILINE)}) for title, rows in _SECTIONS.items()}
_STATUS = {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {"running": [{"byPhase": "Running"}]}}
_ROOT = {
    "name": "job",
    "kind": {"group": "example.com", "version": "v1", "kind": "Job"},
    "specDefinition": {"podTemplateSpecPath": ".spec.template"},
    "scaleDefinition": {"replicasPath": ".spec.replicas"},
    "statusDefinition": _STATUS,
}
_IN_STRUCTURE = ("childComponents", "additionalChildKinds", "references")
_SENTENCES = {"owners-too-deep"}
"""Rules whose bad example is a sentence."""
_WHOLE = {"not-a-karta", "unreadable"}
"""Rules whose example is a whole text."""
_SCRIPTS = (
    *("forbidden-function", "global-variable", "kept-value", "lua-syntax", "missing-function", "parameter-count"),
    *("unknown-global", "unknown-module", "empty-script", "loop-calls-table", "returns-no-object", "returns-nothing"),
    "no-resource-request",
)


def _karta(example: str) -> str:
    """Return a small Karta with parts that are replaced by those of an example."""
    parts: dict[str, Any] = yaml.safe_load(example) or {}
    metadata: dict[str, Any] = {"name": "job", "annotations": {}}
    structure: dict[str, Any] = {"rootComponent": {**_ROOT}}
    spec: dict[str, Any] = {"structureDefinition": structure}
    for name, value in parts.items():
        if name.startswith("karta-interpreter.io/"):
            metadata["annotations"][name] = value
        elif name == "metadata":
            metadata = value
        elif name == "gangScheduling":
            spec["optimizationInstructions"] = {name: value}
        elif name == "spec":
            spec |= value
        else:
            (structure if name in _IN_STRUCTURE else structure["rootComponent"])[name] = value
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": metadata, "spec": spec}
    comments = "".join(f"{line}\n" for line in example.splitlines() if line.startswith("#"))
    return comments + yaml.safe_dump(karta, sort_keys=False)


def _findings(rule: str, example: str) -> set[str]:
    text = example if rule in _WHOLE else _karta(example)
    return _names(finding for loaded in load_documents(text, "karta.yaml") for finding in loaded.findings)


def _names(findings: Iterable[Finding]) -> set[str]:
    return {finding.rule for finding in findings}


@rows("rule", sorted({rule for rules in _RULES.values() for rule in rules}))
def test_rules_of_page_are_explained(rule: str, run: Callable[..., Result]) -> None:
    result = run("explain", rule)

    assert result.exit_code == 0, result.output
    assert [line for line in result.output.splitlines() if line in (rule, "bad:", "good:")] == [rule, "bad:", "good:"]


def test_each_error_of_a_definition_has_its_reason() -> None:
    errors = set(re.findall(r"^\| `([a-z-]+)` \| error", _SECTIONS["Definitions"], re.MULTILINE))
    assert errors == NO_ANSWER.keys()


def test_explained_rules_are_those_of_page() -> None:
    on_page = {rule for rules in _RULES.values() for rule in rules}
    explained = {name for name, rule in rules().items() if "bad" in rule and not name.startswith("annotation-")}
    assert explained - on_page == {"no-definitions"}


def test_explained_warnings_are_those_of_page(run: Callable[..., Result]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
    table = page.partition("## Warnings")[2].partition("\n## ")[0]
    on_page = {
        rule for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for rule in re.findall(r"`(.*?)`", row)
    }
    assert {name for name, rule in rules().items() if "bad" not in rule} == on_page
    assert run("explain", "no-spec").stdout.startswith("no-spec\n\nThe object at podTemplateSpecPath has no `spec`.")


_SOURCES = [pod_warnings, count_warnings, status_warnings, misfits, objects]


@rows("module", _SOURCES, ids=lambda module: module.__name__)
def test_warnings_of_source_are_explained(module: ModuleType) -> None:
    texts = {node.value for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Constant)}
    named = {text for text in texts if isinstance(text, str) and re.fullmatch(r"(?!x-)[a-z]+(-[a-z]+)+", text)}

    assert named
    assert named <= rules().keys()


@few_rows("rule", sorted({*_RULES["Definitions"]} - _SENTENCES))
def test_examples_of_definitions_break_and_follow_the_rule(rule: str) -> None:
    assert rule in _findings(rule, rules()[rule]["bad"])
    assert rule not in _findings(rule, rules()[rule]["good"])


_TYPES = {"text": {"type": "string"}, "number": {"type": "integer"}}
_NAMED_PODS = {
    "type": "object",
    "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


_SPEC = {
    "replicas": _TYPES["number"],
    "workers": {"type": "integer", "minimum": 1},
    "template": _object(spec={"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    "scale": _object(replicas=_TYPES["number"]),
    "flavor": _TYPES["text"] | {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
    "surge": _object(template=_object(spec=_object(containers={"type": "array", "items": _object(name={}, image={})}))),
}
_PHASE = {"type": "string", "enum": ["Running", "Failed", "Unknown"]}


def _crd(examples: str) -> dict[str, Any]:
    """Return a CRD of which the spec has only the fields that examples name."""
    spec = _object(**{name: field for name, field in _SPEC.items() if f".{name}" in f".replicas .template {examples}"})
    status = {**_object(phase=_PHASE, queue=_TYPES["text"], port=_TYPES["number"]), "required": ["queue"]}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": _object(spec=spec, status=status)}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "jobs.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "Job", "plural": "jobs"}, "versions": [version]},
    }


@rows("rule", sorted({rule for rule in rules() if rule.startswith("crd-")} - {"crd-missing"}))
def test_examples_of_crds_break_and_follow_the_rule(rule: str) -> None:
    bad, good = (rules()[rule][name] for name in ("bad", "good"))

    def findings(example: str) -> set[str]:
        text = _karta(example)
        loaded = load_documents(text, "karta.yaml")
        assert not [finding for document in loaded for finding in document.findings if finding.severity == "error"]
        return _names(object_contradictions(yaml.safe_load(text), [_crd(f"{bad} {good}")]))

    assert rule in findings(bad)
    assert rule not in findings(good)


@rows("rule", sorted(rule for rule in rules() if rule.startswith("annotation-")))
def test_examples_of_annotations_break_the_rule(rule: str) -> None:
    assert rule in _findings(rule, rules()[rule]["bad"])


@rows("rule", _SCRIPTS)
def test_examples_of_scripts_break_and_follow_the_rule(rule: str) -> None:
    def findings(script: str) -> set[str]:
        fields = [slot.field for slot in SLOTS.values() if f"function {slot.function}(" in script]
        field = next(iter(fields), "healthInterpretation")
        customization = {
            "apiVersion": "config.karmada.io/v1alpha1",
            "kind": "ResourceInterpreterCustomization",
            "metadata": {"name": "job"},
            "spec": {
                "target": {"apiVersion": "example.com/v1", "kind": "Job"},
                "customizations": {field: {"luaScript": script}},
            },
        }
        return _names(load_customizations(yaml.safe_dump(customization), "job.yaml")[0].findings)

    assert rule in findings(rules()[rule]["bad"])
    assert rule not in findings(rules()[rule]["good"])


@rows(
    ("name", "shown"),
    [
        pytest.param("replicasPath", ["replicasPath, of ScaleDefinition"], id="a field"),
        pytest.param(
            "kind",
            ["kind, of ComponentDefinition", "kind, of GroupVersionKind", "kind, of ReferencedKind"],
            id="a field of three",
        ),
        pytest.param("retain", ["retain, of annotation"], id="an annotation"),
        pytest.param("karta-interpreter.io/retain", ["retain, of annotation"], id="an annotation with its prefix"),
        pytest.param("spec.structureDefinition.rootComponent", ["rootComponent, of StructureDefinition"], id="a path"),
    ],
)
def test_fields_and_annotations_are_explained(name: str, shown: list[str], run: Callable[..., Result]) -> None:
    lines = run("explain", name).stdout.splitlines()

    titles = [line for line in lines if line and not line.startswith("  ")]
    assert titles == shown if len(shown) > 1 else titles == [*shown, "example:"]
    assert len(lines) > len(titles)


_MODELS: dict[str, Any] = {name: value for name, value in vars(model).items() if inspect.isclass(value)}
_FIELDS = {
    (owner, str(field.alias)): field
    for owner, described_model in _MODELS.items()
    if issubclass(described_model, Schema)
    for field_name, field in described_model.model_fields.items()
}


@pytest.mark.catalogue
@rows(("owner", "name"), sorted(_FIELDS))
def test_example_of_a_field_is_a_value_of_the_field(owner: str, name: str) -> None:
    example = yaml.safe_load(described(name).partition("\nexample:\n")[2]) or {}

    assert example.keys() <= {name}
    for value in example.values():
        TypeAdapter(_FIELDS[owner, name].annotation).validate_python(value)


def test_example_of_a_field_is_one_of_the_catalogue(run: Callable[..., Result]) -> None:
    assert "\n  replicasPath: .spec." in run("explain", "replicasPath").stdout
    assert "\n  karta-interpreter.io/elastic: worker\n" in run("explain", "elastic").stdout
    assert "example" not in run("explain", "topologyName").stdout
