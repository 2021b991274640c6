from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding, Severity, Span, format_path
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import Path
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.definitions.karta.expressions import check_expression
from tests.support.rows import rows

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]

AT = ("spec", "x")


def only(text: str) -> Finding:
    _, (finding,) = check_expression(AT, text)
    return finding


@rows(
    ("text", "construct"),
    [
        pytest.param(".a = 1", "=", id="assignment"),
        pytest.param(".a |= 1", "|=", id="update"),
        pytest.param(".a += 1", "+=", id="addition in place"),
        pytest.param(".a //= 1", "//=", id="default in place"),
        pytest.param("del(.a)", "del", id="deletion"),
        pytest.param("..", "..", id="recursive descent"),
        pytest.param("[range(10)]", "range", id="range"),
        pytest.param("paths", "paths", id="paths"),
        pytest.param("recurse(.a)", "recurse", id="recurse"),
        pytest.param("walk(.)", "walk", id="walk"),
        pytest.param("repeat(.)", "repeat", id="repeat"),
        pytest.param("(.a | (.b = 1))", "=", id="in parentheses"),
        pytest.param("[.a, del(.b)]", "del", id="in an array"),
        pytest.param("{a: (.b |= 2)}", "|=", id="in an object"),
        pytest.param("if .a then .. else 1 end", "..", id="in a branch"),
        pytest.param(".a[(.b = 1):]", "=", id="in a slice"),
        pytest.param("def f: del(.a); f", "del", id="in a function"),
        pytest.param("def walk(f): .; walk(1)", "walk", id="by name, even when it is one's own"),
        pytest.param('"\\(.a = 1)"', "=", id="in a string"),
        pytest.param("env.HOME", "env", id="the environment"),
        pytest.param("$ENV.HOME", "$ENV", id="the environment as a variable"),
        pytest.param("input", "input", id="input"),
        pytest.param("debug", "debug", id="output"),
        pytest.param("spec.replicas", "spec", id="a path without its leading dot"),
    ],
)  # fmt: skip
def test_refused(text: str, construct: str) -> None:
    parsed, findings = check_expression(AT, text)
    assert parsed is None
    finding = findings[0]
    assert (finding.severity, finding.rule, finding.path) == (Severity.ERROR, "expression-refused", AT)
    assert finding.expression == text
    assert finding.span is not None
    assert construct in text[finding.span.start : finding.span.end]


def test_not_jq() -> None:
    finding = only(".a[")
    assert (finding.severity, finding.rule, finding.path) == (Severity.ERROR, "expression-syntax", AT)
    assert finding.expression == ".a["
    assert isinstance(finding.span, Span)


@rows("text", ["", "  ", "# nothing"])
def test_empty_text_is_not_an_expression(text: str) -> None:
    assert only(text).severity is Severity.ERROR


def test_refusals_of_expression_come_together() -> None:
    _, findings = check_expression(AT, "del(.a) | ..")
    assert len(findings) == 2


@rows("text", [".spec.replicas // 1", '.x[] | select(.a == "b") | .c', "1"])
def test_plain(text: str) -> None:
    parsed, findings = check_expression(AT, text)
    assert findings == []
    assert parsed is not None
    assert (parsed.path, parsed.text) == (AT, text)


def test_bounded_expression_is_a_warning() -> None:
    finding = only("reduce .x[] as $x (0; . + $x)")
    assert (finding.severity, finding.rule) == (Severity.WARNING, "bounded-expression")
    assert "`reduce`" in finding.message
    assert finding.span == Span(0, 29)


def test_how_an_expression_on_pods_runs_does_not_matter() -> None:
    parsed, findings = check_expression(AT, PodQuery("reduce .x[] as $x (0; . + $x)"))
    assert findings == []
    assert parsed is not None


ROOT = ("spec", "structureDefinition", "rootComponent")
CHILD = ("spec", "structureDefinition", "childComponents", 1)
GROUPS = ("spec", "optimizationInstructions", "gangScheduling", "podGroups")


@rows(
    "path",
    [
        (*CHILD, "specDefinition", "podTemplateSpecPath"),
        (*CHILD, "specDefinition", "metadataPath"),
        (*CHILD, "scaleDefinition", "replicasPath"),
        (*CHILD, "scaleDefinition", "minReplicasPath"),
        (*CHILD, "scaleDefinition", "maxReplicasPath"),
        (*CHILD, "instanceIdPath"),
        (*CHILD, "podSelector", "componentTypeSelector", "keyPath"),
        (*CHILD, "podSelector", "componentInstanceSelector", "idPath"),
        (*CHILD, "podSelector", "replicaSelector", "keyPath"),
        (*ROOT, "statusDefinition", "phaseDefinition", "path"),
        (*ROOT, "statusDefinition", "conditionsDefinition", "path"),
    ],
    ids=format_path,
)
def test_refused_expression_is_found_in_each_field(orchestra: Raw, findings_of: FindingsOf, path: Path) -> None:
    findings = findings_of(edit.set_value(orchestra, path, "del(.a)"))
    assert [finding.path for finding in findings if finding.rule == "expression-refused"] == [path]


@pytest.mark.parametrize(
    "field",
    [
        *("schedulerName", "labels", "annotations", "resources", "resourceClaims", "podAffinity"),
        *("nodeAffinity", "containers", "container", "priorityClassName", "image"),
    ],
)
def test_refused_expression_is_found_in_each_fragment(harbor: Raw, findings_of: FindingsOf, field: str) -> None:
    at = ("spec", "structureDefinition", "childComponents", 0, "specDefinition", "fragmentedPodSpecDefinition")
    path = (*at, f"{field}Path")
    assert [finding.path for finding in findings_of(edit.set_value(harbor, path, "del(.a)"))] == [path]


def test_expressions_in_lists_are_judged(brew: Raw, findings_of: FindingsOf) -> None:
    bad = "del(.a)"
    action = {"path": bad, "value": "1"}
    member = {"componentName": "brew", "groupByKeyPaths": [bad], "filters": [".a", bad]}
    matcher = {"byExpression": {"expression": bad, "expectedResult": "x"}}
    raw = edit.set_value(
        brew, (*ROOT, "suspendDefinition"), {"suspendActions": [action], "resumeActions": [{**action, "value": "0"}]}
    )
    raw = edit.set_value(raw, GROUPS, [{"name": "all", "members": [member]}])
    raw = edit.set_value(raw, (*ROOT, "statusDefinition", "statusMappings", "resuming"), [matcher])
    assert [finding.path for finding in findings_of(raw)] == [
        (*ROOT, "statusDefinition", "statusMappings", "resuming", 0, "byExpression", "expression"),
        (*ROOT, "suspendDefinition", "suspendActions", 0, "path"),
        (*ROOT, "suspendDefinition", "resumeActions", 0, "path"),
        (*GROUPS, 0, "members", 0, "groupByKeyPaths", 0),
        (*GROUPS, 0, "members", 0, "filters", 1),
    ]
