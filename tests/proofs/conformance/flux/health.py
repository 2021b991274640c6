"""Flux judges objects by the exported expressions as the Karta does: on the objects of all suites, and on changed ones.

An expression fails where an object has no status, or a field of a type that no CRD lets through. Flux waits then, so it
is never wrong to fail where the Karta does not find the object healthy, or the object was changed at random.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.status import Status, match_status
from karta_interpreter.engine.operations.interpret_health import interpret_health
from karta_interpreter.export.flux_health import flux_health
from tests.proofs.conformance.health_checks import Tally, kinds, objects_of

_TROUBLE = {Status.FAILED, Status.DEGRADED}
_EXACT = 2**53
_AT_WORK = {Status.RUNNING, Status.COMPLETED, Status.SUSPENDED}


def compare(program: Path, mutants: int) -> Tally:
    """Ask Flux about every object that a definition has a case for, and about changed copies of it."""
    tally = Tally(("Current", "Failed", "InProgress"))
    asked: list[tuple[Definition, Object, bool]] = []
    lines: list[str] = []
    for versions in kinds():
        try:
            checks = flux_health(*(definition for definition, _ in versions))
        except ExportError as error:
            tally.rejected |= {str(definition.gvk): str(error) for definition, _ in versions}
            continue
        tally.kinds += 1
        for definition, entry in versions:
            for obj, may_fail in objects_of(entry, mutants, _is_impossible):
                asked.append((definition, obj, may_fail))
                lines.append(json.dumps({"checks": checks, "object": obj}) + "\n")
    done = subprocess.run([program], input="".join(lines), capture_output=True, text=True, check=True)
    for (definition, obj, may_fail), line in zip(asked, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        verdict = answer.get("status", "error")
        tally.verdicts[verdict] += 1
        expected = _expected(definition, obj)
        fails = "error" in (verdict, expected)
        if verdict != expected and not (fails and (may_fail or expected == "InProgress")):
            text = json.dumps(obj)[:600]
            tally.differences.append(f"{definition.gvk}: {expected} -> {verdict} {answer.get('error', '')}\n{text}")
    return tally


def _is_impossible(status: JSON) -> bool:
    """Return whether a status is one that no controller writes and no CRD lets through, and that CEL reads otherwise.

    These are two conditions of one type, false in the place of a text, and integers that a float cannot hold.
    """
    conditions = get(status, ("conditions",))
    types = [json.dumps(get(each, ("type",))) for each in conditions] if isinstance(conditions, list) else []
    return len(types) > len(set(types)) or any(
        value is False or (isinstance(value, int) and abs(value) > _EXACT) for value in _scalars(status)
    )


def _scalars(value: JSON) -> Iterator[JSON]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _scalars(part)
    else:
        yield value


def _expected(definition: Definition, obj: Object) -> str:
    """Return the verdict that Flux has to come to, by the statuses of the object."""
    observed, current = get(obj, ("status", "observedGeneration")), get(obj, ("metadata", "generation"))
    if type(observed) is int and type(current) is int and observed != current:
        return "InProgress"
    try:
        matched = set(match_status(definition, obj).matched)
        named = definition.annotations.healthy_statuses
        if matched & (_TROUBLE - (named or set())):
            return "Failed"
        if definition.annotations.health is not None:
            return "Current" if interpret_health(definition, obj) else "InProgress"
    except InterpretationError:
        return "error"
    return "Current" if matched & (_AT_WORK if named is None else named) else "InProgress"
