"""Mistakes in a definition, and the finding about each: its rule, its severity, its place, its message and its hint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base import findings
from karta_interpreter.base.k8s import edit, values
from tests.support.rows import few_rows

_MISTAKES = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text())
_STRUCTURE: values.Path = ("spec", "structureDefinition")
_PLACES: dict[str, values.Path] = {
    "structure": _STRUCTURE,
    "root": (*_STRUCTURE, "rootComponent"),
    "status": (*_STRUCTURE, "rootComponent", "statusDefinition"),
    "conductor": (*_STRUCTURE, "childComponents", 0),
    "section": (*_STRUCTURE, "childComponents", 1),
    "gang": ("spec", "optimizationInstructions", "gangScheduling"),
}


def _path(text: str) -> values.Path:
    place, *steps = text.split(".")
    if place == "annotations":
        return ("metadata", "annotations", f"karta-interpreter.io/{steps[0]}")
    return (*_PLACES[place], *(int(step) if step.isdigit() else step for step in steps))


def _changes(mistake: dict[str, Any]) -> dict[str, Any]:
    times, changes = mistake.get("times", 1), dict(mistake.get("set", {}))
    if "suspend" in mistake:
        action = {"path": ".spec.pause", "value": "true"}
        wrong = action | {name: text * times for name, text in mistake["suspend"].items()}
        changes["root.suspendDefinition"] = {"suspendActions": [wrong], "resumeActions": [action]}
    return {place: value * times if times > 1 and isinstance(value, str) else value for place, value in changes.items()}


@few_rows(
    ("severity", "mistake"),
    [
        pytest.param(severity, mistake, id=mistake["reason"])
        for severity in _MISTAKES
        for mistake in _MISTAKES[severity]
    ],
)
def test_mistake_has_its_finding(
    orchestra: dict[str, Any],
    findings_of: Callable[[dict[str, Any]], list[findings.Finding]],
    severity: str,
    mistake: dict[str, Any],
) -> None:
    changes, removed = _changes(mistake), list[str](mistake.get("remove", ()))
    raw = orchestra
    for place, value in changes.items():
        raw = edit.set_value(raw, _path(place), value)
    for place in removed:
        raw = edit.remove(raw, _path(place))

    found = {finding.rule: finding for finding in findings_of(raw)}

    place, *_ = (*changes, *removed)
    finding = found[mistake["rule"]]
    assert finding.severity == severity
    assert findings.format_path(finding.path) == findings.format_path(_path(mistake.get("at", place)))
    assert mistake.get("message", "") in finding.message
    assert mistake.get("hint", "") in finding.hint
    if place.startswith("annotations.") and len(changes) == 1:
        assert len(found) == 1
