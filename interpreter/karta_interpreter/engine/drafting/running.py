"""Which value in the status shows that a workload runs: one of objects with ready pods, and of no others."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, Object, edit, get
from karta_interpreter.definitions.karta.schema_types import ROOT
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import SchemaPath
from karta_interpreter.engine.drafting.held_out import FEW, held_out
from karta_interpreter.engine.verification import Evidence, is_ready

_STATUS: Final = (*ROOT, "statusDefinition")
_MAPPINGS: Final = (*_STATUS, "statusMappings")
_CONDITION: Final = ("type", "status", "reason")
_MOST_SIGNS: Final = 500
_LONGEST: Final = 63


def with_running(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft with the status that most objects with ready pods, and few others, show."""
    active = [each for each in evidence if each.active]
    ready = [all(is_ready(pod, each.now) for pod in each.active) for each in active]
    signs = [[*filter(None, islice(_signs(draft.karta, each), _MOST_SIGNS))] for each in active]
    mappings = edit.get(draft.karta, _MAPPINGS) or {}
    guessed = [json.dumps(each) for each in mappings.get("running", ())]
    # Without an object that does not run, every value that all have is as good: then the guess by names decides.
    found = sorted({*chain(*signs)}, key=lambda sign: (sign not in guessed, "byExpression" in sign, len(sign), sign))
    rules = {sign: [(sign in own) == right for own, right in zip(signs, ready, strict=True)] for sign in found}
    sign = max(rules, key=lambda each: sum(rules[each]), default="")
    shown = sum(sign in own for own, right in zip(signs, ready, strict=True) if right)
    if 2 * shown <= sum(ready):
        return draft
    kept = {name: [each for each in matchers if json.dumps(each) != sign] for name, matchers in mappings.items()}
    kept = {name: matchers for name, matchers in kept.items() if matchers and name != "running"}
    karta = edit.set_value(draft.karta, _MAPPINGS, {"running": [json.loads(sign)], **kept})
    others, elsewhere = len(ready) - sum(ready), sum(sign in own for own in signs) - shown
    note = f"{shown} of {count(sum(ready), 'object')} with ready pods and {elsewhere} of {others} others show it."
    is_sure = others and len(active) >= FEW and held_out([*rules.values()]) == len(active)
    note = note if is_sure else f"CHECK: {note} Does it end when pods fail?"
    return Draft(karta, (*draft.notes, ((*_MAPPINGS, "running"), note)))


def _signs(karta: Object, evidence: Evidence) -> Iterator[str]:
    """Yield the matchers that hold for an object, as JSON."""
    definition, replicas = edit.get(karta, _STATUS) or {}, edit.get(karta, (*ROOT, "scaleDefinition", "replicasPath"))
    phase = get(definition, ("phaseDefinition", "path"))
    for path, value in _values(SchemaPath(("status",)), evidence.object.get("status")):
        if isinstance(value, str) and path.jq == phase:
            yield json.dumps({"byPhase": value})
        elif isinstance(value, bool) or (isinstance(value, str) and len(value) <= _LONGEST):
            yield _expression(f"{path.jq} == {json.dumps(value)}")
        elif type(value) is int and value == len(evidence.active) and replicas:
            yield _expression(f"({path.jq} // 0) >= ({replicas})")
        elif isinstance(value, dict) and path.steps[-1] == "conditions" and "conditionsDefinition" in definition:
            names = _CONDITION[:2] if value.get("status") == "True" else _CONDITION
            condition = {name: value[name] for name in names if isinstance(value.get(name), str)}
            yield json.dumps({"byConditions": [condition]}) if "type" in condition else ""


def _expression(text: str) -> str:
    return json.dumps({"byExpression": {"expression": text, "expectedResult": "true"}})


def _values(path: SchemaPath, value: JSON) -> Iterator[tuple[SchemaPath, JSON]]:
    """Yield the values of a status, wherever they stand outside of lists, and the entries of its conditions."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(path / name, inner)
    elif isinstance(value, list):
        yield from ((path, each) for each in value if path.steps[-1] == "conditions" and isinstance(each, dict))
    else:
        yield path, value
