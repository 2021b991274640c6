"""A kind that serves is not healthy while fewer pods than wanted are of the present template and ready."""

import re
from collections.abc import Sequence

from docs.tools.facts import NAME, read_facts
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import PATHS, Entry, entries_of

_COUNTS = {
    "ready": re.compile("(?<!not)(?<!un)(ready|available)", re.IGNORECASE),
    "updated": re.compile("^(?!expected).*updated(?!.*(Version|Revision))|^updated", re.IGNORECASE),
}
"""The names of the fields that count pods which serve, and those of the present template."""


def _serves(entry: Entry) -> bool:
    rules = entry.definition.status if entry.definition else None
    return rules is not None and Status.COMPLETED not in dict(rules.mappings)


def test_reasons_are_needed() -> None:
    needed, reasons = set(), set()
    for path in PATHS:
        reasons |= {(path.parts[-4:-1], count) for count in read_facts(path.with_name(NAME)).differences.serving_counts}
        for entry in filter(_serves, entries_of(path)):
            assert entry.definition
            fewer = (what for what in _COUNTS if _healthy_with_fewer(entry.definition, entry.cases, what))
            needed |= {(path.parts[-4:-1], what) for what in fewer}
    assert needed == reasons, "`differences.serving-counts` of the facts has them"


def _healthy_with_fewer(definition: Definition, cases: Sequence[Case], what: str) -> list[str]:
    """Return the cases of objects that are healthy, and stay so with one pod less by each of some counts."""
    objects = [(case.name, case.call.object) for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    fewer = [(name, obj, {**obj, "status": _fewer(obj.get("status"), _COUNTS[what])}) for name, obj in objects]
    return [
        name
        for name, obj, changed in fewer
        if changed["status"] != obj.get("status") and _is_healthy(definition, obj) and _is_healthy(definition, changed)
    ]


def _fewer(value: JSON, name: re.Pattern[str], key: str = "") -> JSON:
    if isinstance(value, dict):
        return {key: _fewer(part, name, key) for key, part in value.items()}
    if isinstance(value, list):
        return [_fewer(part, name) for part in value]
    return value - 1 if type(value) is int and value and name.search(key) else value


def _is_healthy(definition: Definition, obj: Object) -> bool:
    return bool(interpret(definition, Call(Operation.INTERPRET_HEALTH, obj))["healthy"])
