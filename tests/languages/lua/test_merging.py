from collections.abc import Mapping

import pytest

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.languages.lua.customization import LoadedCustomization, merge
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows

_JOB, _POD = GVK("batch", "v1", "Job"), GVK("", "v1", "Pod")


def _customization(name: str, *operations: str, gvk: GVK | None = _JOB) -> LoadedCustomization:
    source = f"{name}.yaml"
    scripts = Scripts(Script(operation, f"-- {name}", name, source, 12) for operation in operations)
    return LoadedCustomization(name, gvk, scripts, (), source)


def _names(scripts: Scripts) -> Mapping[str, list[str]]:
    return {operation: [script.name for script in scripts.of(operation)] for operation in scripts.operations}


@rows(
    ("customizations", "expected"),
    [
        pytest.param([], {}, id="nothing"),
        pytest.param([_customization("a", "Retain"), _customization("b", "InterpretHealth")],
            {_JOB: {"Retain": ["a"], "InterpretHealth": ["b"]}}, id="each answers what it can"),
        pytest.param([_customization("b", "Retain"), _customization("a", "Retain")], {_JOB: {"Retain": ["a"]}},
            id="the first by name wins, in whatever order they come"),
        pytest.param([_customization("b", "InterpretDependency"), _customization("a", "InterpretDependency")],
            {_JOB: {"InterpretDependency": ["a", "b"]}}, id="all scripts for dependencies run"),
        pytest.param([_customization("a", "Retain"), _customization("b", "Retain", gvk=_POD)],
            {_JOB: {"Retain": ["a"]}, _POD: {"Retain": ["b"]}}, id="kinds are apart"),
        pytest.param([_customization("a", "Retain", gvk=None), _customization("b")], {}, id="no kind, and no script"),
    ],
)  # fmt: skip
def test_scripts_are_merged_by_kind(
    customizations: list[LoadedCustomization], expected: Mapping[GVK, Mapping[str, list[str]]]
) -> None:
    by_kind, _ = merge(customizations)

    assert {gvk: _names(scripts) for gvk, scripts in by_kind.items()} == expected


def test_conflict_names_both_customizations() -> None:
    _, conflicts = merge(
        [_customization("b", "Retain", "InterpretDependency"), _customization("a", "Retain", "InterpretDependency")]
    )

    assert conflicts == [
        Finding(
            Severity.ERROR,
            "conflicting-scripts",
            ("spec", "customizations", "retention", "luaScript"),
            "batch/v1, Kind=Job: Retain has a second script; the one of a in a.yaml answers",
            "Karmada refuses a second script for an operation; remove one of them",
            source="b.yaml",
            line=12,
            column=1,
        )
    ]
