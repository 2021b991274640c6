from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from karta_interpreter.base.findings import error
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.annotation_records import Annotations
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.definitions.sources.snapshot import (
    Overrides,
    Quarantined,
    ServedDefinition,
    SourceDefinitions,
    combine,
)
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows


def _entry(kind: str, origin: str) -> ServedDefinition:
    gvk = GVK("example.io", "v1", kind)
    return ServedDefinition(
        Definition(f"{kind}-{origin}", gvk, (ComponentRules(gvk.kind, "main", gvk),), source=origin), origin
    )


def test_stronger_layer_wins_with_a_finding(gvk: Callable[[str], GVK]) -> None:
    mine, shipped, other = _entry("Job", "mine"), _entry("Job", "catalogue"), _entry("Set", "catalogue")

    snapshot = combine([SourceDefinitions((mine,)), SourceDefinitions((shipped, other))])

    assert snapshot.find(gvk("Job")) is mine.definition
    assert snapshot.find(gvk("Set")) is other.definition
    (finding,) = snapshot.findings
    assert (finding.severity, finding.rule, finding.source) == ("warning", "shadowed-kind", "catalogue")
    assert finding.message == "example.io/v1, Kind=Job: Job-mine from mine hides Job-catalogue from catalogue"


def test_inside_a_layer_the_first_wins_and_the_second_is_an_error(gvk: Callable[[str], GVK]) -> None:
    first, second = _entry("Job", "a.yaml"), _entry("Job", "b.yaml")

    snapshot = combine([SourceDefinitions((first, second))])

    assert snapshot.find(gvk("Job")) is first.definition
    (finding,) = snapshot.findings
    assert (finding.severity, finding.rule, finding.source) == ("error", "duplicate-kind", "b.yaml")


@rows(
    ("shipped", "steps", "reason"),
    [
        ({}, 0, "the audit bounds the time of the same expressions"),
        ({"source": "other.yaml", "manifest": {"metadata": {"uid": "1"}}}, 0, "a place runs nothing"),
        (
            {"components": (ComponentRules("Job", "main", replicas=Query.compile(".spec.n")),)},
            9,
            "others were measured",
        ),
        ({"annotations": Annotations(elastic=())}, 9, "an annotation has expressions, too"),
    ],
)
def test_copy_of_a_definition_may_take_as_long(
    shipped: dict[str, Any], steps: int, reason: str, gvk: Callable[[str], GVK]
) -> None:
    entry = _entry("Job", "mine")
    mine = replace(entry, definition=replace(entry.definition, steps=9))
    hidden = ServedDefinition(replace(entry.definition, **shipped), "catalogue")

    found = combine([SourceDefinitions((mine,)), SourceDefinitions((hidden,))]).entries[gvk("Job")]

    assert (found, found.definition.steps) == (mine, steps), reason


def test_hidden_definitions_are_reported_against_the_winner() -> None:
    snapshot = combine([SourceDefinitions((_entry("Job", origin),)) for origin in ("a", "b", "c")])

    assert [finding.message.split(": ")[1] for finding in snapshot.findings] == [
        "Job-a from a hides Job-b from b",
        "Job-a from a hides Job-c from c",
    ]


def test_quarantined_definitions_of_all_sources_are_kept() -> None:
    one, two = Quarantined("a.yaml", ()), Quarantined("b.yaml", ())

    assert combine([SourceDefinitions((), (one,)), SourceDefinitions((), (two,))]).quarantined == (one, two)


def _scripts(name: str, *operations: str) -> Scripts:
    return Scripts(Script(operation, "", name, f"{name}.yaml") for operation in operations)


def _annotated(entry: ServedDefinition, *operations: str) -> ServedDefinition:
    return ServedDefinition(entry.definition.overridden(_scripts("annotation", *operations)), entry.origin)


@pytest.mark.parametrize(
    ("annotation", "overrides", "expected"),
    [
        pytest.param((), ("Retain",), {"Retain": "override"}, id="over the Karta"),
        pytest.param(("Retain",), ("Retain",), {"Retain": "override"}, id="over the Karta's annotation"),
        pytest.param(
            ("Retain", "InterpretHealth"),
            ("Retain", "InterpretStatus"),
            {"Retain": "override", "InterpretHealth": "annotation", "InterpretStatus": "override"},
            id="for each operation by itself",
        ),
    ],
)
def test_overrides_are_stronger_than_every_layer(
    gvk: Callable[[str], GVK], annotation: tuple[str, ...], overrides: tuple[str, ...], expected: dict[str, str]
) -> None:
    layers = [
        SourceDefinitions((_annotated(_entry("Job", "mine"), *annotation),)),
        SourceDefinitions((_entry("Job", "catalogue"),)),
    ]

    snapshot = combine(layers, Overrides({gvk("Job"): _scripts("override", *overrides)}))

    (entry,) = snapshot.entries.values()
    assert {script.operation: script.name for script in entry.definition.scripts} == expected
    assert (entry.definition.name, entry.origin) == ("Job-mine", "mine")


def test_hidden_script_is_reported(gvk: Callable[[str], GVK]) -> None:
    layer = SourceDefinitions((_annotated(_entry("Job", "mine"), "Retain", "InterpretHealth"),))

    (finding,) = combine([layer], Overrides({gvk("Job"): _scripts("override", "Retain", "InterpretStatus")})).findings

    assert (finding.severity, finding.rule, finding.source) == ("warning", "shadowed-script", "mine")
    assert finding.message == (
        "example.io/v1, Kind=Job: the Retain of override from override.yaml hides that of annotation from mine"
    )


def test_kind_with_scripts_needs_no_definition(gvk: Callable[[str], GVK]) -> None:
    snapshot = combine([], Overrides({gvk("Job"): _scripts("override", "Retain")}))

    entry = snapshot.entries[gvk("Job")]
    assert (entry.definition.name, entry.origin) == ("override", "override.yaml")
    assert not entry.definition.has_karta
    assert snapshot.findings == ()


def test_findings_about_overrides_are_kept() -> None:
    conflict, broken = error("conflicting-scripts", (), "two"), Quarantined("a.yaml", ())

    snapshot = combine([], Overrides(findings=(conflict,), quarantined=(broken,)))

    assert (snapshot.findings, snapshot.quarantined) == ((conflict,), (broken,))


def test_snapshots_with_the_same_scripts_are_equal(gvk: Callable[[str], GVK]) -> None:
    def snapshot(*operations: str) -> object:
        overrides = Overrides({gvk("Job"): _scripts("override", *operations)})
        return combine([SourceDefinitions((_entry("Job", "mine"),))], overrides)

    assert snapshot("Retain") == snapshot("Retain")
    assert snapshot("Retain") != snapshot("InterpretHealth")
