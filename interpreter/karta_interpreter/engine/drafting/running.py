"""What shows that a workload runs: the phase, condition or count of objects whose pods are ready, and of no others."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import Object, edit, get, objects_in
from karta_interpreter.definitions.karta.schema_types import ROOT
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import SchemaPath
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.verification.evidence import is_ready
from karta_interpreter.languages.jq import Query

_STATUS: Final = (*ROOT, "statusDefinition")
_MAPPINGS: Final = (*_STATUS, "statusMappings")
_CONDITION: Final = ("type", "status", "reason")
_TELLING: Final = re.compile(r"(?i)running|ready|available|healthy")


def with_running(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft in which a workload runs by what most objects with ready pods, and few others, show."""
    ready = [each for each in evidence if each.active and all(is_ready(pod, each.now) for pod in each.active)]
    shown = Counter(sign for each in ready for sign in set(_signs(draft.karta, each)))
    others = [each for each in evidence if each.active and each not in ready]
    elsewhere = Counter(sign for each in others for sign in set(_signs(draft.karta, each)))
    mappings = edit.get(draft.karta, _MAPPINGS) or {}
    present = {json.dumps(each) for each in mappings.get("running", ())}
    sign = min(
        shown,
        key=lambda each: (elsewhere[each] - shown[each], each not in present, not _TELLING.search(each), each),
        default="",
    )
    if 2 * shown[sign] <= len(ready):
        return draft
    kept = {name: [each for each in matchers if json.dumps(each) != sign] for name, matchers in mappings.items()}
    kept = {name: matchers for name, matchers in kept.items() if matchers and name != "running"}
    karta = edit.set_value(draft.karta, _MAPPINGS, {"running": [json.loads(sign)], **kept})
    note = f"{shown[sign]} of {count(len(ready), 'object')} with ready pods"
    note += f" and {elsewhere[sign]} of {len(others)} others show it."
    is_sure = shown[sign] == len(ready) and others and not elsewhere[sign]
    note = note if is_sure else f"CHECK: {note} Does it end when pods fail?"
    return Draft(karta, (*draft.notes, ((*_MAPPINGS, "running"), note)))


def _signs(karta: Object, evidence: Evidence) -> Iterator[str]:
    """Yield the matchers that hold for an object, as JSON."""
    obj, definition = evidence.object, edit.get(karta, _STATUS) or {}
    if path := get(definition, ("phaseDefinition", "path")):
        with suppress(QueryError):
            phase = Query.compile(path).first(obj)
            if isinstance(phase, str) and phase:
                yield json.dumps({"byPhase": phase})
    for each in objects_in(get(obj, ("status", "conditions"))) if "conditionsDefinition" in definition else ():
        names = _CONDITION[:2] if each.get("status") == "True" else _CONDITION
        condition = {name: each[name] for name in names if isinstance(each.get(name), str)}
        if "type" in condition:
            yield json.dumps({"byConditions": [condition]})
    if replicas := edit.get(karta, (*ROOT, "scaleDefinition", "replicasPath")):
        status = obj.get("status")
        for name, value in status.items() if isinstance(status, dict) else ():
            if value == len(evidence.active) and type(value) is int and _TELLING.search(name):
                expression = f"({SchemaPath(('status', name)).jq} // 0) >= ({replicas})"
                yield json.dumps({"byExpression": {"expression": expression, "expectedResult": "true"}})
