from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Path

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]

STRUCTURE = ("spec", "structureDefinition")
ROOT = (*STRUCTURE, "rootComponent")
CONDUCTOR = (*STRUCTURE, "childComponents", 0)
SECTION = (*STRUCTURE, "childComponents", 1)
GANG = ("spec", "optimizationInstructions", "gangScheduling")

REMOVED = object()


def changed(raw: Raw, *changes: tuple[Path, JSON]) -> Raw:
    for path, value in changes:
        raw = edit.remove(raw, path) if value is REMOVED else edit.set_value(raw, path, value)
    return raw


def test_hint_names_probable_component(orchestra: Raw, findings_of: FindingsOf) -> None:
    (finding,) = findings_of(changed(orchestra, ((*SECTION, "ownerRef"), "orchester")))
    assert finding.hint == "did you mean orchestra?"


def test_pod_is_accepted_as_core_kind(brew: Raw, findings_of: FindingsOf) -> None:
    assert findings_of(changed(brew, ((*ROOT, "kind"), {"group": "", "version": "v1", "kind": "Pod"}))) == []


@pytest.mark.parametrize("name", ["section", "orchestra"], ids=["of another child", "of the root"])
def test_repeated_name_is_one_error(orchestra: Raw, findings_of: FindingsOf, name: str) -> None:
    raw = changed(orchestra, ((*CONDUCTOR, "name"), name))
    errors = [finding.rule for finding in findings_of(raw) if finding.severity == "error"]
    assert errors == ["component-name-not-unique"]


def test_cycle_is_reported_for_each_of_its_components(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = changed(orchestra, ((*CONDUCTOR, "ownerRef"), "section"), ((*SECTION, "ownerRef"), "conductor"))
    found = [finding for finding in findings_of(raw) if finding.rule == "ownership-cycle"]
    assert [finding.path for finding in found] == [(*CONDUCTOR, "ownerRef"), (*SECTION, "ownerRef")]


def test_component_owned_by_a_cycle_is_not_in_it(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = changed(orchestra, ((*CONDUCTOR, "ownerRef"), "section"), ((*SECTION, "ownerRef"), "section"))
    found = [finding for finding in findings_of(raw) if finding.rule == "ownership-cycle"]
    assert [finding.path for finding in found] == [(*SECTION, "ownerRef")]


@pytest.mark.parametrize(
    ("levels", "rules"),
    [
        pytest.param(100, [], id="as deep as may be"),
        pytest.param(101, ["owners-too-deep"], id="one more"),
        pytest.param(3000, ["owners-too-deep"], id="much deeper, which is one error", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("order", [1, -1], ids=["from the root", "to the root"])
def test_owners_may_be_so_deep(
    orchestra: Raw, findings_of: FindingsOf, levels: int, rules: list[str], order: int
) -> None:
    names = ["orchestra", *(f"level-{number}" for number in range(levels))]
    chain = [{"name": name, "ownerRef": owner} for owner, name in pairwise(names)]
    children = edit.get(orchestra, CONDUCTOR[:-1])
    raw = changed(orchestra, (CONDUCTOR[:-1], [*children, *chain[::order]]))
    assert [finding.rule for finding in findings_of(raw) if finding.rule.startswith("own")] == rules


def test_findings_of_rules_come_together(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = changed(
        orchestra,
        ((*ROOT, "ownerRef"), "x"),
        ((*ROOT, "statusDefinition"), REMOVED),
        ((*CONDUCTOR, "ownerRef"), REMOVED),
        ((*SECTION, "podSelector", "componentInstanceSelector"), REMOVED),
    )
    assert {finding.rule for finding in findings_of(raw)} == {
        "root-has-owner",
        "root-without-status",
        "child-without-owner",
        "instance-selector-missing",
    }
