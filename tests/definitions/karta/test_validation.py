from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding, Severity, format_path
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


@pytest.mark.parametrize(
    ("changes", "rule", "at", "message"),
    [
        pytest.param(
            [((*CONDUCTOR, "name"), "section")], "component-name-not-unique", (*SECTION, "name"),
            'the component name "section" is not unique', id="two children with one name",
        ),
        pytest.param(
            [((*CONDUCTOR, "name"), "orchestra")], "component-name-not-unique", (*CONDUCTOR, "name"),
            'the component name "orchestra" is not unique', id="a child named like the root",
        ),
        pytest.param(
            [((*ROOT, "kind"), REMOVED)], "root-kind-incomplete", (*ROOT, "kind"),
            "the root component must have its full kind", id="a root without kind",
        ),
        pytest.param(
            [((*ROOT, "kind", "version"), "")], "root-kind-incomplete", (*ROOT, "kind"), "full kind",
            id="a root without version",
        ),
        pytest.param(
            [((*ROOT, "kind", "kind"), "")], "root-kind-incomplete", (*ROOT, "kind"), "full kind",
            id="a root with an empty kind",
        ),
        pytest.param(
            [((*ROOT, "kind", "group"), "")], "root-kind-incomplete", (*ROOT, "kind"), "full kind",
            id="a core kind other than Pod",
        ),
        pytest.param(
            [((*ROOT, "kind", "kind"), "*")], "root-kind-wildcard", (*ROOT, "kind"), "must be of one kind",
            id="a Karta for everything",
        ),
        pytest.param(
            [((*ROOT, "kind", "kind"), "K" * 64)], "root-kind-too-long", (*ROOT, "kind"), "that Kubernetes allows",
            id="a kind with more than the 63 characters of a DNS label",
        ),
        pytest.param(
            [((*ROOT, "kind", "group"), "g" * 254)], "root-kind-too-long", (*ROOT, "kind"), "that Kubernetes allows",
            id="a group with more than the 253 characters of a DNS name",
        ),
        pytest.param(
            [((*ROOT, "ownerRef"), "section")], "root-has-owner", (*ROOT, "ownerRef"),
            "the root component cannot have an owner", id="an owned root",
        ),
        pytest.param(
            [((*ROOT, "ownerRef"), "")], "root-has-owner", (*ROOT, "ownerRef"), "cannot have an owner",
            id="even an empty owner is one",
        ),
        pytest.param(
            [((*ROOT, "statusDefinition"), REMOVED)], "root-without-status", ROOT,
            "the root component must have a status definition", id="a root without status",
        ),
        pytest.param(
            [((*SECTION, "ownerRef"), REMOVED)], "child-without-owner", SECTION,
            'the child component "section" has no owner', id="a child without owner",
        ),
        pytest.param(
            [((*SECTION, "ownerRef"), "")], "child-without-owner", SECTION, "has no owner",
            id="a child with an empty owner",
        ),
        pytest.param(
            [((*SECTION, "ownerRef"), "orchester")], "owner-not-found", (*SECTION, "ownerRef"),
            'the child component "section" has an owner that does not exist: "orchester"',
            id="an owner that does not exist",
        ),
        pytest.param(
            [((*CONDUCTOR, "name"), "")], "component-name-empty", (*CONDUCTOR, "name"), "the component name is empty",
            id="an empty name",
        ),
        pytest.param(
            [((*SECTION, "specDefinition", "podSpecPath"), ".spec.pod")], "several-pod-definitions",
            (*SECTION, "specDefinition"), 'the component "section" has several pod definitions',
            id="template and spec",
        ),
        pytest.param(
            [((*CONDUCTOR, "specDefinition", "fragmentedPodSpecDefinition"), {"imagePath": ".a"})],
            "several-pod-definitions", (*CONDUCTOR, "specDefinition"), "several pod definitions",
            id="spec and pieces",
        ),
        pytest.param(
            [((*CONDUCTOR, "podSelector", "componentTypeSelector"), {})], "type-selector-empty",
            (*CONDUCTOR, "podSelector", "componentTypeSelector"), "neither keyPath nor matchLabels",
            id="a type selector that selects nothing",
        ),
        pytest.param(
            [((*CONDUCTOR, "podSelector", "componentTypeSelector", "matchLabels"), {})], "type-selector-empty",
            (*CONDUCTOR, "podSelector", "componentTypeSelector"), "neither keyPath nor matchLabels",
            id="no label is not a selector",
        ),
        pytest.param(
            [((*CONDUCTOR, "podSelector", "componentTypeSelector", "value"), "x")], "type-selector-value-without-key",
            (*CONDUCTOR, "podSelector", "componentTypeSelector", "value"), "value without keyPath",
            id="a value of nothing",
        ),
        pytest.param(
            [((*SECTION, "podSelector", "componentInstanceSelector"), REMOVED)], "instance-selector-missing",
            (*SECTION, "instanceIdPath"), 'the component "section" has an instance id path but no instance selector',
            id="instances whose pods cannot be found",
        ),
        pytest.param(
            [((*CONDUCTOR, "podSelector", "componentInstanceSelector"), {"idPath": ".metadata.name"})],
            "instance-id-path-missing", (*CONDUCTOR, "podSelector", "componentInstanceSelector"),
            'the component "conductor" has an instance selector for its pods but no instance id path',
            id="pods of instances that do not exist",
        ),
        pytest.param(
            [((*SECTION, "ownerRef"), "section")], "ownership-cycle", (*SECTION, "ownerRef"),
            'the component "section" is its own owner', id="a component that owns itself",
        ),
        pytest.param(
            [((*GANG, "podGroups"), [{"name": "all", "members": [{"componentName": "sections"}]}])],
            "pod-group-member-not-found", (*GANG, "podGroups", 0, "members", 0, "componentName"),
            'the pod group member "sections" is not a component', id="a pod group of strangers",
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
    assert found[rule].severity is Severity.ERROR
    assert format_path(found[rule].path) == format_path(at)
    assert message in found[rule].message
    assert found[rule].hint


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
        pytest.param(3000, ["owners-too-deep"], id="much deeper, which is one error"),
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
    assert [finding.rule for finding in findings_of(raw) if finding.severity == "error"] == rules


def test_all_rules_speak_at_once(orchestra: Raw, findings_of: FindingsOf) -> None:
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
