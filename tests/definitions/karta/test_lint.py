from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding, Severity, format_path
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Path

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]

STRUCTURE = ("spec", "structureDefinition")
ROOT = (*STRUCTURE, "rootComponent")
STATUS = (*ROOT, "statusDefinition")
CONDUCTOR = (*STRUCTURE, "childComponents", 0)
SECTION = (*STRUCTURE, "childComponents", 1)
SCALE = (*SECTION, "scaleDefinition")
GANG = ("spec", "optimizationInstructions", "gangScheduling")
ELASTIC = ("metadata", "annotations", "karta-interpreter.io/elastic")
SUSPEND = {"path": ".spec.pause", "value": "true"}

REMOVED = object()


def changed(raw: Raw, *changes: tuple[Path, JSON]) -> Raw:
    for path, value in changes:
        raw = edit.remove(raw, path) if value is REMOVED else edit.set_value(raw, path, value)
    return raw


def suspension(**action: JSON) -> Raw:
    return {"suspendActions": [{**SUSPEND, **action}], "resumeActions": [SUSPEND]}


_KETTLES = (*ROOT, "scaleDefinition", "replicasPath")
_NOT_COUNTED = {"Retain, InterpretHealth": 0, "Retain, InterpretReplica": 1}
_OPERATIONS = ("metadata", "annotations", "karta-interpreter.io/operations")
_SCRIPTS = ("metadata", "annotations", "karta-interpreter.io/lua")


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        pytest.param([(_KETTLES, ".spec.kettles + 1")], True, id="a sum"),
        pytest.param([(_KETTLES, ".spec.kettles - 1")], True, id="a difference, which an empty object does not have"),
        pytest.param([(_KETTLES, ".spec.kettles * 2")], False, id="a product with a constant"),
        pytest.param([(_KETTLES, "if .spec.kettles then .spec.kettles else 1 end")], False, id="one of its branches"),
        pytest.param([(_KETTLES, "4")], False, id="a constant is meant to stay"),
        pytest.param(
            [(_KETTLES, ".spec.kettles + 1"), (_OPERATIONS, "InterpretReplica")], False, id="it is never asked"
        ),
        pytest.param([(_KETTLES, ".spec.kettles + 1"), (ELASTIC, "none")], False, id="nothing is to change"),
        pytest.param(
            [
                (_KETTLES, ".spec.kettles + 1"),
                (_SCRIPTS, "replicaRevision: {luaScript: 'function ReviseReplica(o, n) return o end'}"),
            ],
            False,
            id="a script is asked",
        ),
    ],
)
def test_count_that_is_elastic_by_default_must_be_writable(
    brew: Raw, findings_of: FindingsOf, changes: list[tuple[Path, JSON]], *, is_found: bool
) -> None:
    found = [finding for finding in findings_of(changed(brew, *changes)) if finding.rule == "replicas-not-writable"]
    assert [finding.path for finding in found] == [_KETTLES] * is_found
    assert all("karta-interpreter.io/elastic" in finding.hint for finding in found)


@pytest.mark.parametrize(
    ("changes", "rule", "at", "message"),
    [
        pytest.param(
            [((*CONDUCTOR, "specDefinition"), REMOVED), ((*CONDUCTOR, "scaleDefinition", "replicasPath"), ".spec.n")],
            "scale-without-pods", (*CONDUCTOR, "scaleDefinition"), "has a scale but no pods",
            id="a scale of nothing",
        ),
        pytest.param(
            [((*CONDUCTOR, "scaleDefinition"), {})], "scale-empty", (*CONDUCTOR, "scaleDefinition"), "has no path",
            id="a scale without paths",
        ),
        pytest.param(
            [((*CONDUCTOR, "specDefinition"), {"fragmentedPodSpecDefinition": {}})], "fragments-empty",
            (*CONDUCTOR, "specDefinition", "fragmentedPodSpecDefinition"), "has no path",
            id="pieces without paths",
        ),
        pytest.param(
            [((*SECTION, "specDefinition", "metadataPath"), ".spec.sections[].meta")], "metadata-path-unused",
            (*SECTION, "specDefinition", "metadataPath"), "with podSpecPath only",
            id="metadata next to a template",
        ),
        pytest.param(
            [((*SECTION, "podSelector", "componentTypeSelector", "keyPath"), ".metadata.labels.part // .x")],
            "selector-alternative", (*SECTION, "podSelector", "componentTypeSelector", "keyPath"), "comparison",
            id="a default in a selector that is compared",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(value="Suspended"))], "suspend-value-not-json",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "value"), "the value is not JSON: Suspended",
            id="a bare word is not JSON",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(value=""))], "suspend-value-not-json",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "value"), "the value is not JSON",
            id="neither is nothing",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(value="NaN"))], "suspend-value-not-json",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "value"), "the value is not JSON: NaN",
            id="nor what only Python reads",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(value="1e400"))], "suspend-value-not-json",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "value"), "the value is not JSON: 1e400",
            id="nor what is infinite to Python",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(value='"\\ud800"'))], "suspend-value-not-json",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "value"), "the value is not JSON",
            id="nor half of a surrogate pair, which cannot be written",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(value="[" * 100_000))], "suspend-value-not-json",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "value"), "the value is not JSON: [[[",
            id="nor what is nested without end",
        ),
        pytest.param(
            [((*ROOT, "suspendDefinition"), suspension(path=".spec.pause | not"))], "suspend-path-not-writable",
            (*ROOT, "suspendDefinition", "suspendActions", 0, "path"), "nothing can be written",
            id="a place that is computed",
        ),
        pytest.param(
            [((*CONDUCTOR, "kind"), {"group": "", "version": "", "kind": "Pod"})], "child-kind-incomplete",
            (*CONDUCTOR, "kind"), "no version or no kind", id="half a kind",
        ),
        pytest.param(
            [((*CONDUCTOR, "statusDefinition"), {"statusMappings": {}})], "child-status-unused",
            (*CONDUCTOR, "statusDefinition"), "only the root's", id="the status of a child",
        ),
        pytest.param(
            [((*CONDUCTOR, "suspendDefinition"), suspension())], "child-suspends",
            (*CONDUCTOR, "suspendDefinition"), "leave out the actions of a child", id="a child that suspends",
        ),
        pytest.param(
            [((*CONDUCTOR, "specDefinition"), REMOVED), ((*SECTION, "specDefinition"), REMOVED)], "no-pods", ROOT,
            "no component has a pod definition", id="nothing to count",
        ),
        pytest.param(
            [((*CONDUCTOR, "podSelector"), REMOVED)], "type-selector-missing", CONDUCTOR,
            'the pods of the component "conductor" cannot be distinguished', id="pods of two components",
        ),
        pytest.param(
            [((*STRUCTURE, "additionalChildKinds"), [{"group": g, "version": "v1", "kind": "Pod"} for g in "ab"])],
            "repeated-list-key", (*STRUCTURE, "additionalChildKinds", 1, "kind"), 'a second entry has the kind "Pod"',
            id="one kind of two groups",
        ),
        pytest.param(
            [((*GANG, "podGroups"), [{"name": "all", "members": []}] * 2)], "repeated-list-key",
            (*GANG, "podGroups", 1, "name"), 'the name "all"', id="two pod groups of one name",
        ),
        pytest.param(
            [((*GANG, "podGroups"), [{"name": "all", "members": [{"componentName": "section"}] * 2}])],
            "repeated-list-key", (*GANG, "podGroups", 0, "members", 1, "componentName"), 'componentName "section"',
            id="a member twice",
        ),
        pytest.param(
            [((*GANG, "podGroup"), {"name": "all", "subGroups": [{"componentName": "section"}] * 2})],
            "repeated-list-key", (*GANG, "podGroup", "subGroups", 1, "componentName"), 'componentName "section"',
            id="a subgroup twice",
        ),
        pytest.param(
            [((*GANG, "podGroup"), {"name": "all", "subGroups": [{"componentName": "sections"}]})],
            "sub-group-not-found", (*GANG, "podGroup", "subGroups", 0, "componentName"), '"sections" is not a',
            id="a subgroup of strangers",
        ),
        pytest.param(
            [((*STATUS, "statusMappings"), {})], "status-mappings-empty", (*STATUS, "statusMappings"),
            "no status is ever matched", id="no mapping",
        ),
        pytest.param(
            [((*STATUS, "statusMappings", "failed"), [{}])], "matcher-empty", (*STATUS, "statusMappings", "failed", 0),
            "always matches", id="a matcher without tests",
        ),
        pytest.param(
            [((*STATUS, "statusMappings", "failed"), [{"byPhase": "Failed"}])], "phase-definition-missing",
            (*STATUS, "statusMappings", "failed", 0, "byPhase"), "never matches", id="a phase from nowhere",
        ),
        pytest.param(
            [((*STATUS, "conditionsDefinition"), REMOVED)], "conditions-definition-missing",
            (*STATUS, "statusMappings", "running", 0, "byConditions"), "never matches",
            id="conditions from nowhere",
        ),
        pytest.param(
            [((*STATUS, "conditionsDefinition", "statusFieldName"), "")],
            "condition-status-unread", (*STATUS, "statusMappings", "running", 0, "byConditions", 0, "status"),
            'the condition "Playing" never matches: statusFieldName is empty', id="a status that is not read",
        ),
        pytest.param(
            [((*STATUS, "statusMappings", "running", 0, "byConditions", 0, "status"), REMOVED)],
            "condition-without-status", (*STATUS, "statusMappings", "running", 0, "byConditions", 0),
            'the condition "Playing" matches whatever its status is', id="a condition that may be false",
        ),
        pytest.param(
            [((*SECTION, "podSelector", "componentTypeSelector"), {"matchLabels": {"part": "conductor"}})],
            "type-selector-repeated", (*SECTION, "podSelector"),
            'all pods that the component "section" recognises count as those of "conductor"',
            id="one selector for two components",
        ),
        pytest.param(
            [((*CONDUCTOR, "podSelector", "componentTypeSelector"), {"keyPath": ".metadata.labels.part"}),
             ((*SECTION, "podSelector", "componentTypeSelector"), {"keyPath": ".metadata.labels.part", "value": "x"})],
            "type-selector-repeated", (*SECTION, "podSelector"), 'count as those of "conductor"',
            id="a selector of any value before one of a value",
        ),
        pytest.param(
            [((*STATUS, "statusMappings", "degraded"), [{"byConditions": [{"type": "Playing", "status": "True"}]}])],
            "matcher-in-two-statuses", (*STATUS, "statusMappings", "degraded", 0),
            "the same matcher means both Running and Degraded", id="a condition in two statuses",
        ),
        pytest.param(
            [((*SCALE, "replicasPath"), ".spec.sections[] | .players // -1")], "useless-default",
            (*SCALE, "replicasPath"), "`.players // -1` gives no count", id="a negative count by default",
        ),
        pytest.param(
            [((*SCALE, "replicasPath"), ".spec.sections[] | .players * (.desks // null)")], "useless-default",
            (*SCALE, "replicasPath"), "`.desks // null` gives no count", id="a factor that is null by default",
        ),
        pytest.param(
            [((*CONDUCTOR, "specDefinition", "podSpecPath"), ".spec.conductor.pod // null")], "useless-default",
            (*CONDUCTOR, "specDefinition", "podSpecPath"), "gives no other value", id="a default that is null",
        ),
        pytest.param(
            [((*SCALE, "replicasPath"), ".spec.sections[].players // 1")], "shared-default", (*SCALE, "replicasPath"),
            "`.spec.sections[].players // 1` drops every instance", id="one default for all instances",
        ),
        pytest.param(
            [((*CONDUCTOR, "specDefinition", "podSpecPath"), ".spec.conductors[].pod")], "several-without-ids",
            (*CONDUCTOR, "specDefinition", "podSpecPath"), "may give several results", id="several without names",
        ),
        pytest.param(
            [((*SECTION, "specDefinition", "podTemplateSpecPath"), ".spec.sections[] | select(.on) | .template")],
            "select-differs", (*SECTION, "specDefinition", "podTemplateSpecPath"), "paired by position",
            id="templates that leave instances out",
        ),
        pytest.param(
            [((*SCALE, "replicasPath"), ".spec.sections | length")], "replicas-not-writable",
            (*SCALE, "replicasPath"), 'the component "section" is elastic', id="bounds on a computed number",
        ),
        pytest.param(
            [(ELASTIC, "conductor"), ((*CONDUCTOR, "scaleDefinition", "replicasPath"), "1")], "replicas-not-writable",
            (*CONDUCTOR, "scaleDefinition", "replicasPath"), 'the component "conductor" is elastic',
            id="an elastic constant",
        ),
    ],
)  # fmt: skip
def test_rule_finds_its_fault(
    orchestra: Raw,
    findings_of: FindingsOf,
    changes: list[tuple[Path, JSON]],
    rule: str,
    at: Path,
    message: str,
) -> None:
    found = {finding.rule: finding for finding in findings_of(changed(orchestra, *changes))}
    assert rule in found
    finding = found[rule]
    severity = Severity.ERROR if rule == "suspend-value-not-json" else Severity.WARNING
    assert finding.severity is severity
    assert format_path(finding.path) == format_path(at)
    assert message in finding.message
    assert finding.hint


def test_kind_that_is_not_counted_needs_no_pods(orchestra: Raw, findings_of: FindingsOf) -> None:
    without = [((*part, "specDefinition"), REMOVED) for part in (CONDUCTOR, SECTION)]
    found = {rule: findings_of(changed(orchestra, *without, (_OPERATIONS, rule))) for rule in _NOT_COUNTED}
    assert {rule: [each.rule for each in found[rule]].count("no-pods") for rule in found} == _NOT_COUNTED


@pytest.mark.parametrize(
    ("changes", "severities"),
    [
        pytest.param([("failed", "Boiling")], ["error"], id="at work and failed"),
        pytest.param([("failed", "Boiling"), ("completed", "Boiling")], ["error", "warning"], id="three meanings"),
        pytest.param([("completed", "Cold"), ("failed", "Cold")], ["error"], id="two ends"),
        pytest.param([("suspended", "Cold"), ("failed", "Cold")], ["error"], id="suspended and failed"),
        pytest.param([("degraded", "Boiling")], ["warning"], id="at work, but not well"),
        pytest.param([("failed", "Cold"), ("degraded", "Cold")], ["warning"], id="unhealthy for two reasons"),
        pytest.param([("failed", "Cold"), ("completed", "Done")], [], id="a phase for each"),
    ],
)
def test_phase_in_two_statuses_is_found(
    brew: Raw, findings_of: FindingsOf, changes: list[tuple[str, str]], severities: list[str]
) -> None:
    mapped = [((*STATUS, "statusMappings", status), [{"byPhase": phase}]) for status, phase in changes]
    found = [each for each in findings_of(changed(brew, *mapped)) if each.rule == "matcher-in-two-statuses"]
    assert sorted(each.severity for each in found) == severities


def test_phase_with_condition_has_another_meaning(brew: Raw, findings_of: FindingsOf) -> None:
    matcher = {"byPhase": "Boiling", "byConditions": [{"type": "Dry", "status": "True"}]}
    assert findings_of(changed(brew, ((*STATUS, "statusMappings", "failed"), [matcher]))) == []


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(".spec.kettles // 0", id="none by default"),
        pytest.param("(.spec.last // -1) + 1", id="a number that is not a count"),
        pytest.param(".spec.kettles // empty", id="no count by default"),
        pytest.param(".spec.kettles // .spec.pots // 1", id="the last of several"),
    ],
)
def test_defaults_that_give_a_count(brew: Raw, findings_of: FindingsOf, path: str) -> None:
    found = findings_of(changed(brew, (_KETTLES, path)))
    assert [each for each in found if each.rule == "useless-default"] == []


def test_null_default_of_whole_list_is_not_useless(brew: Raw, findings_of: FindingsOf) -> None:
    found = findings_of(changed(brew, ((*STATUS, "phaseDefinition", "path"), "(.status.states[].name) // null")))
    assert "useless-default" not in {each.rule for each in found}


def test_ids_that_leave_instances_out_make_every_other_path_differ(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = changed(orchestra, ((*SECTION, "instanceIdPath"), ".spec.sections[] | select(.on) | .name"))
    assert [finding.rule for finding in findings_of(raw)] == ["select-differs"] * 4


def test_equal_selections_agree(orchestra: Raw, findings_of: FindingsOf) -> None:
    each = ".spec.sections[] | select(.on) | "
    raw = changed(
        orchestra,
        ((*SECTION, "instanceIdPath"), f"{each} .name"),
        ((*SECTION, "specDefinition", "podTemplateSpecPath"), f"{each} .template"),
        (SCALE, {"replicasPath": f"{each} .players"}),
    )
    assert findings_of(raw) == []


def test_hint_writes_the_better_default(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = changed(orchestra, ((*SCALE, "replicasPath"), ".spec.sections[].players // 1"))
    (finding,) = findings_of(raw)
    assert finding.hint == "write `.spec.sections[] | .players // 1`"
    assert finding.expression == ".spec.sections[].players // 1"


@pytest.mark.parametrize(
    "path", [".spec.n", ".spec.n // 1", "(.spec.n // 1) * (.spec.m // 1)", ".spec.x[0].n", ".spec.n | tonumber"]
)
def test_numbers_that_can_be_written(brew: Raw, findings_of: FindingsOf, path: str) -> None:
    raw = changed(brew, (ELASTIC, "brew"), ((*ROOT, "scaleDefinition", "replicasPath"), path))
    assert findings_of(raw) == []


def test_fixed_number_is_not_a_finding(brew: Raw, findings_of: FindingsOf) -> None:
    assert findings_of(changed(brew, ((*ROOT, "scaleDefinition", "replicasPath"), "1"))) == []
