from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Path
from tests.support.rows import rows

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
    return {"suspendActions": [{**SUSPEND, **action}], "resumeActions": [{**SUSPEND, "value": "false"}]}


_KETTLES = (*ROOT, "scaleDefinition", "replicasPath")
_NOT_COUNTED = {"Retain, InterpretHealth": 0, "Retain, InterpretReplica": 1}
_OPERATIONS = ("metadata", "annotations", "karta-interpreter.io/operations")
_SCRIPTS = ("metadata", "annotations", "karta-interpreter.io/lua")


@rows(
    ("changes", "is_found"),
    [
        pytest.param([(_KETTLES, ".spec.kettles + 1")], True, id="a sum"),
        pytest.param([(_KETTLES, ".spec.kettles - 1")], True, id="a difference, which an empty object does not have"),
        pytest.param([(_KETTLES, ".spec.kettles * 2")], False, id="a product with a constant"),
        pytest.param([(_KETTLES, "if .spec.kettles then .spec.kettles else 1 end")], False, id="one of its branches"),
        pytest.param([(_KETTLES, "4")], False, id="a constant is meant to stay"),
        pytest.param([(_KETTLES, ".spec.kettles + 1"), (_OPERATIONS, "InterpretReplica")], False,
            id="it is never asked"),
        pytest.param([(_KETTLES, ".spec.kettles + 1"), (ELASTIC, "none")], False, id="nothing is to change"),
        pytest.param([(_KETTLES, ".spec.kettles + 1"),
            (_SCRIPTS, "replicaRevision: {luaScript: 'function ReviseReplica(o, n) return o end'}")], False,
            id="a script is asked"),
    ],
)  # fmt: skip
def test_count_that_is_elastic_by_default_must_be_writable(
    brew: Raw, findings_of: FindingsOf, changes: list[tuple[Path, JSON]], *, is_found: bool
) -> None:
    found = [finding for finding in findings_of(changed(brew, *changes)) if finding.rule == "replicas-not-writable"]
    assert [finding.path for finding in found] == [_KETTLES] * is_found
    assert all("karta-interpreter.io/elastic" in finding.hint for finding in found)


def test_kind_that_is_not_counted_needs_no_pods(orchestra: Raw, findings_of: FindingsOf) -> None:
    without = [((*part, "specDefinition"), REMOVED) for part in (CONDUCTOR, SECTION)]
    found = {rule: findings_of(changed(orchestra, *without, (_OPERATIONS, rule))) for rule in _NOT_COUNTED}
    assert {rule: [each.rule for each in found[rule]].count("no-pods") for rule in found} == _NOT_COUNTED


@rows(
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


def test_ids_that_leave_instances_out_make_every_other_path_differ(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = changed(orchestra, ((*SECTION, "instanceIdPath"), ".spec.sections[] | select(.on) | .name"))
    assert [finding.rule for finding in findings_of(raw)] == ["ids-differ"] * 4


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


@rows("path", [".spec.n", ".spec.n // 1", "(.spec.n // 1) * (.spec.m // 1)", ".spec.x[0].n", ".spec.n | tonumber"])
def test_numbers_that_can_be_written(brew: Raw, findings_of: FindingsOf, path: str) -> None:
    raw = changed(brew, (ELASTIC, "brew"), ((*ROOT, "scaleDefinition", "replicasPath"), path))
    assert findings_of(raw) == []


def test_fixed_number_is_not_a_finding(brew: Raw, findings_of: FindingsOf) -> None:
    assert findings_of(changed(brew, ((*ROOT, "scaleDefinition", "replicasPath"), "1"))) == []


@rows(
    ("suspended", "resumed"),
    [
        pytest.param(".spec.pause", ".spec.pause", id="the same value"),
        pytest.param(".spec.kettles", ".spec.pause", id="a count that nothing restores"),
        pytest.param(".spec.pause", ".spec.paused", id="other places"),
    ],
)
def test_suspension_that_does_not_resume_is_found(
    brew: Raw, findings_of: FindingsOf, suspended: str, resumed: str
) -> None:
    suspension = {
        "suspendActions": [{"path": suspended, "value": "0"}],
        "resumeActions": [{"path": resumed, "value": "0"}],
    }
    raw = changed(brew, ((*ROOT, "suspendDefinition"), suspension), (_KETTLES, ".spec.kettles // 1"))
    assert [finding.rule for finding in findings_of(raw)] == ["suspend-not-undone"]


@rows(
    ("path", "is_found"),
    [
        pytest.param(".status.steam", True, id="a field of the status"),
        pytest.param(".status", False, id="all of a status, for CRDs without a status subresource"),
        pytest.param(".spec.status", False, id="a field that only has the name"),
    ],
)
def test_retained_field_of_status_is_found(brew: Raw, findings_of: FindingsOf, path: str, is_found: bool) -> None:
    raw = changed(brew, (("metadata", "annotations", "karta-interpreter.io/retain"), path))
    assert ("status-not-sent" in {finding.rule for finding in findings_of(raw)}) is is_found


@rows(
    ("changes", "is_found"),
    [
        pytest.param([], True, id="Failed alone"),
        pytest.param([(_OPERATIONS, "InterpretReplica")], False, id="health is never asked"),
        pytest.param([(_OPERATIONS, "InterpretHealth")], True, id="health alone is asked"),
        pytest.param([(_SCRIPTS, "retention: {luaScript: 'function Retain(d, o) return d end'}")], True,
            id="a script of Retain"),
        pytest.param([(_SCRIPTS, "healthInterpretation: {luaScript: 'function InterpretHealth(o) return true end'}")],
            False, id="a script decides"),
    ],
)  # fmt: skip
def test_kind_that_is_never_healthy_is_named_where_mappings_decide(
    brew: Raw, findings_of: FindingsOf, changes: list[tuple[Path, JSON]], is_found: bool
) -> None:
    mappings = ((*STATUS, "statusMappings"), {"failed": [{"byPhase": "Burnt"}]})
    found = findings_of(changed(brew, mappings, *changes))
    assert ("never-healthy" in {finding.rule for finding in found}) is is_found


def test_default_in_parentheses_of_several_lines_is_compared_whole(orchestra: Raw, findings_of: FindingsOf) -> None:
    key = (*SECTION, "podSelector", "componentTypeSelector", "keyPath")
    found = findings_of(changed(orchestra, (key, "(.metadata.labels.part //\n .metadata.labels.role)")))
    assert "selector-alternative" not in {finding.rule for finding in found}
