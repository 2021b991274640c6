from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding, Severity, format_path
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Path
from karta_interpreter.definitions.karta import name_of
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.schema import read_karta
from tests.support.rows import rows

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]

STRUCTURE = ("spec", "structureDefinition")
ROOT = (*STRUCTURE, "rootComponent")
STATUS = (*ROOT, "statusDefinition")
CHILD = (*STRUCTURE, "childComponents", 1)


def test_toys_have_no_findings(toys: dict[str, Raw], findings_of: FindingsOf) -> None:
    assert {name: findings_of(raw) for name, raw in toys.items()} == {"brew": [], "orchestra": [], "harbor": []}


@rows(
    "form",
    [
        pytest.param({"apiVersion": "run.ai/v1alpha1", "kind": "Karta"}, id="today's form"),
        pytest.param(
            {"apiVersion": "optimization.nvidia.com/v1alpha1", "kind": "ResourceInterface"}, id="the older form"
        ),
        pytest.param({}, id="a bare spec"),
    ],
)  # fmt: skip
def test_forms(brew: Raw, form: Raw) -> None:
    karta, findings = read_karta({**form, "metadata": brew["metadata"], "spec": brew["spec"]})
    assert findings == []
    assert karta is not None
    assert karta.name == "brew"


@rows(
    ("metadata", "root", "name"),
    [
        pytest.param({"name": "given"}, {"name": "Root"}, "given", id="its own name"),
        pytest.param(None, {"name": "PyFlow"}, "pyflow", id="else that of the root component"),
        pytest.param({}, {"kind": {"kind": "PyFlow"}}, "pyflow", id="else its kind"),
        pytest.param({"name": 3}, {}, "", id="else none"),
        pytest.param({"name": "a\nb\x1b"}, {}, r"a\nb\x1b", id="escaped, as it is printed"),
        pytest.param({}, {"name": "A\nB"}, r"a\nb", id="so is that of the root component"),
    ],
)
def test_names(metadata: Any, root: Raw, name: str) -> None:
    raw = {"metadata": metadata, "spec": {"structureDefinition": {"rootComponent": root}}}
    assert name_of(raw) == name


@rows(
    ("name", "message"),
    [
        pytest.param("ray.io-rayjob-v1", "", id="a subdomain"),
        pytest.param("1", "", id="one digit"),
        pytest.param("a." * 126 + "a", "", id="as long as can be"),
        pytest.param("a\n2026 ERROR forged", r"a\n2026 ERROR forged", id="a line break"),
        pytest.param("a\n", r"a\n", id="a line break at the end"),
        pytest.param("RayJob", "RayJob", id="upper case"),
        pytest.param("-a", "-a", id="a dash at the beginning"),
        pytest.param("a-.b", "a-.b", id="a dash before a dot"),
        pytest.param("a..b", "a..b", id="two dots"),
        pytest.param("a_b", "a_b", id="an underscore"),
        pytest.param("\u0661", "\u0661", id="a digit of another script"),
        pytest.param("a" * 254, "a" * 253, id="too long"),
    ],
)
def test_name_must_be_accepted_by_kubernetes(brew: Raw, findings_of: FindingsOf, name: str, message: str) -> None:
    findings = findings_of(edit.set_value(brew, ("metadata", "name"), name))
    assert [(each.severity, each.rule, each.path, each.message) for each in findings] == (
        [(Severity.ERROR, "schema", ("metadata", "name"), f'"{message}" is not a name that Kubernetes accepts')]
        if message
        else []
    )
    assert all("lower-case letters, digits, - and ." in each.hint for each in findings)


def test_name_must_be_a_string(brew: Raw, findings_of: FindingsOf) -> None:
    (finding,) = findings_of(edit.set_value(brew, ("metadata", "name"), 3))
    assert (finding.message, finding.hint) == ("must be a string, not a number", "write it in quotes")


def test_defaults_of_the_schema_are_applied(orchestra: Raw) -> None:
    karta, _ = read_karta(orchestra)
    assert karta is not None
    status = karta.spec.structure_definition.root_component.status_definition
    assert status is not None
    rule = status.conditions_definition
    assert rule is not None
    names = (rule.type_field_name, rule.status_field_name, rule.message_field_name, rule.reason_field_name)
    assert names == ("type", "status", "message", "reason")


def test_explicit_null_is_an_absent_field(brew: Raw, findings_of: FindingsOf) -> None:
    raw = edit.set_value(brew, (*STATUS, "conditionsDefinition", "typeFieldName"), None)
    raw = edit.set_value(raw, (*STRUCTURE, "childComponents"), None)
    raw = edit.set_value(raw, ("spec", "optimizationInstructions"), None)
    assert findings_of(raw) == []


@rows("value", ["true", True, None, 0, {"a": 1}, '"Suspended"'])
def test_suspend_value_is_json_or_text_with_json(brew: Raw, findings_of: FindingsOf, value: JSON) -> None:
    at = (*ROOT, "suspendDefinition", "suspendActions", 0, "value")
    assert findings_of(edit.set_value(brew, at, value)) == []


@rows(
    ("metadata", "rules"),
    [
        pytest.param(None, ["name-missing"], id="no metadata"),
        pytest.param({}, ["name-missing"], id="no name"),
        pytest.param({"name": ""}, ["name-missing"], id="an empty name"),
        pytest.param({"name": "", "generateName": "brew-"}, [], id="the API server makes one of generateName"),
    ],
)
def test_karta_without_name_is_a_warning(brew: Raw, findings_of: FindingsOf, metadata: JSON, rules: list[str]) -> None:
    findings = findings_of({**brew, "metadata": metadata})
    assert [each.rule for each in findings] == rules
    assert all((each.severity, each.path) == (Severity.WARNING, ("metadata", "name")) for each in findings)
    assert load_definition({**brew, "metadata": metadata}).name == "brew", "a Karta is called after its root"
    assert findings_of({"spec": brew["spec"], "metadata": metadata}) == [], "a bare spec is called after its root"


@rows(
    ("value", "message"),
    [
        pytest.param([], "a Karta is an object, not a list", id="not an object"),
        pytest.param({}, "an object without apiVersion and kind is not a definition", id="nothing"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", "spec": {}}, "apiVersion v1, kind Pod", id="another kind"),
        pytest.param({"kind": "Karta", "spec": {}}, "kind Karta is not a definition", id="half a type"),
        pytest.param({"apiVersion": "run.ai/v1beta1", "kind": "Karta"}, "apiVersion run.ai/v1beta1, kind Karta",
            id="a version of the future"),
        pytest.param({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "x"}},
            "the field spec is missing", id="without a spec"),
    ],
)  # fmt: skip
def test_document_that_is_not_a_karta_is_refused(value: JSON, message: str) -> None:
    karta, findings = read_karta(value)
    assert karta is None
    (finding,) = findings
    assert finding.severity is Severity.ERROR
    assert message in finding.message


@rows(
    ("path", "value", "message", "hint"),
    [
        pytest.param(("metadata",), [], "must be an object, not a list", "", id="metadata"),
        pytest.param(("metadata", "annotations"), "x", "must be an object, not a string", "", id="annotations"),
        pytest.param(("metadata", "labels"), "x", "must be an object, not a string", "", id="labels"),
        pytest.param(("metadata", "annotations", "karta-interpreter.io/retain"), [".spec"],
            "must be a string, not a list", "", id="a list as an annotation"),
        pytest.param(("metadata", "labels", "team"), 7, "must be a string, not a number", "quotes", id="a label"),
        pytest.param(("spec",), None, "the field spec is missing", "indented", id="a spec without a value"),
        pytest.param(ROOT, None, "the field rootComponent is missing", "indented", id="a part without a value"),
        pytest.param(("spec",), [], "must be an object, not a list", "", id="spec"),
        pytest.param((*ROOT, "kind", "version"), 1, "must be a string, not a number", "quotes", id="a number"),
        pytest.param((*STATUS, "phaseDefinition", "path"), {".status.phase": None}, "must be a string, not an object",
            "", id="{.status.phase}, which YAML reads as an object"),
        pytest.param((*STATUS, "phaseDefinition", "path"), {"path": None}, "must be a string, not an object", "",
            id="an object that is not JSONPath"),
        pytest.param((*STATUS, "statusMappings", "failed", 0, "byConditions", 0, "status"), True,
            "must be a string, not a boolean", "quotes", id="an unquoted True"),
        pytest.param((*STATUS, "statusMappings", "running"), {"byPhase": "x"}, "must be a list, not an object", "dash",
            id="a matcher that is not in a list"),
        pytest.param((*ROOT, "specDefinition"), ".spec", "must be an object, not a string", "", id="a path as object"),
        pytest.param((*ROOT, "suspendDefinition", "resumeActions"), [], "needs at least one entry", "", id="no action"),
        pytest.param((*ROOT, "podSelector"), {"replicaSelector": {"keyPath": 1}}, "must be a string", "quotes",
            id="deep inside"),
    ],
)  # fmt: skip
def test_wrong_types(brew: Raw, findings_of: FindingsOf, path: Path, value: JSON, message: str, hint: str) -> None:
    (finding,) = findings_of(edit.set_value(brew, path, value))
    assert finding.severity is Severity.ERROR
    assert finding.rule == "schema"
    assert finding.path[: len(path)] == path
    assert message in finding.message
    assert hint in finding.hint


@rows(
    ("name", "value"),
    [
        pytest.param("team", "data and AI", id="a space"),
        pytest.param("team", 7, id="a number"),
        pytest.param("team", "a" * 64, id="too long"),
        pytest.param("example.com/", "a", id="no name"),
        pytest.param("-team", "a", id="a name that begins with a dash"),
    ],
)
def test_label_that_no_api_server_takes_is_an_error(brew: Raw, findings_of: FindingsOf, name: str, value: JSON) -> None:
    (finding,) = findings_of(edit.set_value(brew, ("metadata", "labels"), {name: value}))
    assert (finding.severity, finding.rule) == (Severity.ERROR, "schema")
    assert finding.path == ("metadata", "labels", name)


def test_label_that_an_api_server_takes_is_no_finding(brew: Raw, findings_of: FindingsOf) -> None:
    labels = {"team": "", "example.com/part-of": "data_and.AI", "a" * 63: "1"}
    assert findings_of(edit.set_value(brew, ("metadata", "labels"), labels)) == []


@rows(
    "path",
    [
        STRUCTURE,
        ROOT,
        (*ROOT, "name"),
        (*ROOT, "kind", "group"),
        (*STATUS, "statusMappings"),
        (*STATUS, "phaseDefinition", "path"),
        (*STATUS, "statusMappings", "failed", 0, "byConditions", 0, "type"),
        (*STATUS, "statusMappings", "degraded", 0, "byExpression", "expectedResult"),
        (*ROOT, "suspendDefinition", "resumeActions"),
        (*ROOT, "suspendDefinition", "suspendActions", 0, "value"),
    ],
    ids=format_path,
)
def test_missing_fields(brew: Raw, findings_of: FindingsOf, path: Path) -> None:
    (finding,) = findings_of(edit.remove(brew, path))
    assert (finding.severity, finding.rule, finding.path) == (Severity.ERROR, "schema", path)
    assert finding.message == f"the field {path[-1]} is missing"


@rows(
    ("path", "severity", "hint"),
    [
        pytest.param((*CHILD, "specDefinition", "fragmentedPodDefinition"), "error",
            "did you mean fragmentedPodSpecDefinition?", id="as older documents have it"),
        pytest.param((*STRUCTURE, "referencedComponents"), "warning", "there are: rootComponent", id="it did nothing"),
        pytest.param((*CHILD, "scaleDefinition", "replicaPath"), "error", "did you mean replicasPath?", id="a slip"),
        pytest.param((*CHILD, "scaleDefinition", "replicas_path"), "error", "did you mean replicasPath?",
            id="snake case"),
        pytest.param((*STATUS, "conditionsDefinition", "TypeFieldName"), "error", "did you mean typeFieldName?",
            id="case"),
        pytest.param((*CHILD, "podSelector", "componentTypeSelector", "keypath"), "error", "did you mean keyPath?",
            id="deep"),
        pytest.param((*CHILD, "replicasPath"), "error", "it is a field of scaleDefinition", id="of a part of this one"),
        pytest.param((*CHILD, "specDefinition", "suspendDefinition"), "error", "field of rootComponent and child",
                     id="of the part around this one"),
        pytest.param((*ROOT, "childComponents"), "error", "a field of structureDefinition", id="a level too deep"),
        pytest.param(("structureDefinition",), "error", "it is a field of spec", id="a level too high"),
        pytest.param(("annotations",), "error", "it is a field of metadata", id="of the metadata"),
        pytest.param((*CHILD, "podSelector", "componentInstanceSelector", "path"), "error",
                     "did you mean idPath?", id="of a part like this one"),
        pytest.param((*CHILD, "colour"), "warning", "there are: name, kind", id="something else"),
        pytest.param(("spec", "expressionLanguages"), "warning", "there are: struct", id="something else in the spec"),
        pytest.param(("specs",), "error", "did you mean spec?", id="beside the spec"),
        pytest.param(("colour",), "warning", "there are: apiVersion", id="something else next to the spec"),
    ],
)  # fmt: skip
def test_unknown_fields(orchestra: Raw, findings_of: FindingsOf, path: Path, severity: str, hint: str) -> None:
    (finding,) = findings_of(edit.set_value(orchestra, path, "x"))
    assert (finding.severity, finding.rule, finding.path) == (severity, "unknown-field", path)
    assert f"there is no field {path[-1]}" in finding.message
    assert hint in finding.hint


@pytest.mark.parametrize("label", ["team", "value"], ids=["any label", "a label with the name of a field"])
def test_unknown_field_of_matched_label_is_found(brew: Raw, findings_of: FindingsOf, label: str) -> None:
    sizes = {
        "name": "sizes",
        "gvk": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "list": {"matchLabels": {label: {"value": "x", "expresion": ".spec.team"}}},
    }
    finding, _ = findings_of(edit.set_value(brew, (*STRUCTURE, "references"), [sizes]))
    assert finding.path == (*STRUCTURE, "references", 0, "list", "matchLabels", label, "expresion")
    assert finding.hint == "did you mean expression?"


def test_unknown_field_in_place_of_needed_one_is_found(brew: Raw, findings_of: FindingsOf) -> None:
    sizes = {
        "name": "sizes",
        "gvk": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "list": {"matchLabels": {"team": {"expresion": ".spec.team"}}},
    }
    rules = {finding.rule for finding in findings_of(edit.set_value(brew, (*STRUCTURE, "references"), [sizes]))}
    assert rules == {"unknown-field", "schema"}


def test_everything_is_said_at_once(brew: Raw, findings_of: FindingsOf) -> None:
    raw = edit.remove(brew, (*ROOT, "name"))
    raw = edit.set_value(raw, (*ROOT, "nmae"), "brew")
    raw = edit.set_value(raw, (*ROOT, "kind", "version"), 1)
    raw = edit.set_value(raw, ("spec", "expressionLanguage"), "jsonata")
    rules = sorted((finding.rule, format_path(finding.path[3:])) for finding in findings_of(raw))
    assert rules == [
        ("expression-language", ""),
        ("schema", "kind.version"),
        ("schema", "name"),
        ("unknown-field", "nmae"),
    ]


def test_only_jq_is_spoken(brew: Raw, findings_of: FindingsOf) -> None:
    assert findings_of(edit.set_value(brew, ("spec", "expressionLanguage"), "jq")) == []
    (finding,) = findings_of(edit.set_value(brew, ("spec", "expressionLanguage"), "jsonata"))
    assert finding.severity is Severity.ERROR
    assert finding.message == "the expression language jsonata is not supported"


@rows(
    ("changes", "found"),
    [
        pytest.param({"expressionLanguage": "cel"}, "expressionLanguage", id="language, which the issue proposes"),
        pytest.param({"expressionLanguage": "CEL"}, "expressionLanguage", id="language in capitals"),
        pytest.param(
            {"variables": [{"name": "threads", "expression": 'object[?"spec"][?"threads"].orValue(1)'}]},
            "variables",
            id="variables, which pull request 352 proposes",
        ),
        pytest.param(
            {"structureDefinition.rootComponent.scaleDefinition.replicas": {"expression": "variables.threads"}},
            "structureDefinition.rootComponent.scaleDefinition.replicas",
            id="expression in place of a path",
        ),
        pytest.param(
            {
                "structureDefinition.rootComponent.statusDefinition.phaseDefinition": {
                    "expression": "object.status.phase"
                }
            },
            "structureDefinition.rootComponent.statusDefinition.phaseDefinition.expression",
            id="expression in place of the phase's path",
        ),
        pytest.param(
            {"structureDefinition.rootComponent.suspendDefinition": {"pathWrite": "/spec/suspend"}},
            "structureDefinition.rootComponent.suspendDefinition.pathWrite",
            id="a place to write to",
        ),
        pytest.param(
            {"structureDefinition.rootComponent.fields": {"tier": {"expression": "object.spec.tier"}}},
            "structureDefinition.rootComponent.fields",
            id="fields",
        ),
    ],
)
def test_definition_in_cel_has_one_finding(
    brew: Raw, findings_of: FindingsOf, changes: dict[str, JSON], found: str
) -> None:
    for path, value in changes.items():
        brew = edit.set_value(brew, ("spec", *path.split(".")), value)
    brew = edit.set_value(brew, ("spec", "replicas"), 1)
    (finding,) = findings_of(brew)
    assert (finding.rule, format_path(finding.path)) == ("expression-language", f"spec.{found}")
    assert finding.message == (
        "Kartas in CEL are not read: they are a proposal of upstream (workload-map #330), and in no release"
    )
    assert finding.hint == "write the expressions in jq, in apiVersion: run.ai/v1alpha1"


@rows("version", ["v1beta1", "v1alpha2", "v1"])
def test_other_version_in_cel_has_one_finding(brew: Raw, findings_of: FindingsOf, version: str) -> None:
    brew = edit.set_value(brew, ("apiVersion",), f"run.ai/{version}")
    (finding,) = findings_of(brew)
    assert finding.hint == "write apiVersion: run.ai/v1alpha1 and kind: Karta"
    replicas = {"replicas": {"expression": "object.spec.n", "pathWrite": "/spec/n"}}
    (finding,) = findings_of(edit.set_value(brew, (*ROOT, "scaleDefinition"), replicas))
    assert finding.rule == "not-a-karta"
    assert "Kartas in CEL are not read" in finding.message
    assert finding.hint == "write the expressions in jq, in apiVersion: run.ai/v1alpha1"


def test_expression_in_jq_at_a_wrong_place_is_an_unknown_field(brew: Raw, findings_of: FindingsOf) -> None:
    phase = (*ROOT, "statusDefinition", "phaseDefinition", "expression")
    assert [finding.rule for finding in findings_of(edit.set_value(brew, phase, ".status.phase"))] == ["unknown-field"]
