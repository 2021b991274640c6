"""Argo CD judges objects by the exported scripts as the Karta does: on the suites' objects, and on changed ones."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.k8s import JSON, Object, Projection
from karta_interpreter.definitions.karta import Definition, Matcher
from karta_interpreter.engine.evaluation.status import Status, match_with_rest
from karta_interpreter.engine.operations.interpret_health import interpret_health, is_behind
from karta_interpreter.export.argocd_health import argocd_health, by_kind
from karta_interpreter.export.interpretation import tells_of_rest
from karta_interpreter.languages.jq import take_outputs, to_text
from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance.mutation import mutate

_TROUBLE = {Status.FAILED, Status.DEGRADED}
_SUSPENDED = {Status.SUSPENDED, Status.SUSPENDING}
_MOVING = {Status.RUNNING, Status.INITIALIZING, Status.DEGRADED, Status.SUSPENDING}
"""What an object that rests has to have left behind, where its status tells of rest."""
_AT_WORK = {Status.RUNNING, Status.COMPLETED}
_LARGE = 10**14
_LATE = "context deadline exceeded"
_UNPRINTABLE = "Lua and jq print this text differently"
"""The refusal of control characters in a list or an object that a changed copy has in the place of a text."""
_TRIES = 3


@dataclass
class Tally:
    """The verdicts that were compared, by verdict; the kinds that cannot be exported; the differences."""

    verdicts: Counter[str] = field(default_factory=Counter)
    kinds: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counted = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.most_common())
        rejected = ", ".join(self.rejected)
        return f"{self.kinds} kinds, {self.verdicts.total()} verdicts: {counted}\nnot exported: {rejected}"

    def failures(self) -> Iterator[str]:
        """Yield what differs, and whether nothing was compared at all."""
        yield from self.differences
        for verdict in ("Healthy", "Progressing", "Degraded", "Suspended"):
            if not self.verdicts[verdict]:
                yield f"no object is {verdict}: nothing was compared"


def kinds() -> Iterator[list[tuple[Definition, Entry]]]:
    """Yield the versions of each kind of the catalogue."""
    entry_of = {entry.definition.gvk: entry for entry in entries() if entry.definition}
    for versions in by_kind(entry.definition for entry in entry_of.values() if entry.definition):
        yield [(each, entry_of[each.gvk]) for each in versions]


def objects_of(entry: Entry, mutants: int) -> Iterator[Object]:
    """Yield each object of a case and copies of it with changed statuses."""
    cases = [obj for case in entry.cases for obj in (case.call.object, case.call.observed) if obj]
    for number, obj in enumerate({json.dumps(obj): obj for obj in cases if "metadata" in obj}.values()):
        yield obj
        for seed in range(mutants if "status" in obj else 0):
            status = mutate({"status": obj["status"]}, number * mutants + seed).get("status")
            if not _is_ambiguous(status):
                yield {**obj, "status": status}


def compare(program: Path, mutants: int) -> Tally:
    """Ask Argo CD about every object that a definition has a case for, and about changed copies of it."""
    tally = Tally()
    asked: list[tuple[Definition, Object]] = []
    lines: list[str] = []
    for versions in kinds():
        try:
            check = argocd_health(*(definition for definition, _ in versions))
        except ExportError as error:
            tally.rejected |= {str(definition.gvk): str(error) for definition, _ in versions}
            continue
        tally.kinds += 1
        for definition, entry in versions:
            for obj in objects_of(entry, mutants):
                asked.append((definition, obj))
                lines.append(json.dumps({"data": check, "object": obj}) + "\n")
    for (definition, obj), answer in zip(asked, ask(program, lines), strict=True):
        verdict = answer.get("status", "error")
        tally.verdicts[verdict] += 1
        if problem := _problem(definition, obj, verdict, answer.get("message") or answer.get("error", "")):
            tally.differences.append(f"{definition.gvk}: {problem}\n{json.dumps(obj)[:600]}")
    return tally


def ask(program: Path, lines: Sequence[str]) -> list[Object]:
    """Return what Argo CD makes of objects with the data of its ConfigMap.

    It gives a script one second. On a busy machine that may be too short, so what took longer is asked again.
    """
    answers = _answers(program, lines)
    for _ in range(_TRIES):
        late = [number for number, answer in enumerate(answers) if _LATE in answer.get("error", "")]
        for number, answer in zip(late, _answers(program, [lines[number] for number in late]), strict=True):
            answers[number] = answer
    return answers


def _answers(program: Path, lines: Sequence[str]) -> list[Object]:
    done = subprocess.run([program, "scripts"], input="".join(lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _problem(definition: Definition, obj: Object, verdict: str, message: str) -> str:
    """Return what is wrong with an answer; nothing for a right one."""
    expected = _expected(definition, obj)
    if verdict == "error" and _UNPRINTABLE in message:
        return ""
    if verdict != expected:
        return f"{expected} -> {verdict} {message}"
    if verdict == "error":
        return ""
    matched = match_with_rest(definition, obj).matched
    rests = verdict == "Healthy" and Status.SUSPENDED in matched
    names = Status.SUSPENDED if rests else ", ".join(matched)
    if _is_old(definition, obj) and not rests:
        names += " in an older generation"
    if message != names and not message.startswith(f"{names}: "):
        return f"the message is {message}, and the statuses are {names}"
    if verdict == "Healthy" and not interpret_health(definition, obj):
        return "Healthy, and not so to Karmada"
    return ""


def _is_old(definition: Definition, obj: Object) -> bool:
    return definition.shows_generation and is_behind(obj)


def _is_ambiguous(value: JSON) -> bool:
    """Return whether a status has something that no controller writes, and that Argo CD hands over otherwise.

    In its Lua an empty object is an empty list, a null is not there, and large fractions are written in
    another way.
    """
    if isinstance(value, dict):
        return not value or None in value.values() or any(map(_is_ambiguous, value.values()))
    if isinstance(value, list):
        return not value or None in value or any(map(_is_ambiguous, value))
    return isinstance(value, float) and abs(value) >= _LARGE


def _rests_as_asked(definition: Definition, obj: Object, matched: set[Status]) -> bool:
    """Return whether an object rests because its own fields ask for it, and no queue ends that rest."""
    rules = definition.status
    moving = _MOVING if tells_of_rest(definition) else {Status.SUSPENDING}
    if rules is None or Status.SUSPENDED not in matched or matched & moving:
        return False
    labels = obj["metadata"].get("labels") or {}
    if definition.suspend and any(labels.get(name) for name in definition.annotations.queue_labels):
        return False
    if rules.rest:
        return rules.rest.first(obj) is True
    return any(_asks_for_rest(matcher, obj) for matcher in dict(rules.mappings)[Status.SUSPENDED])


def _asks_for_rest(matcher: Matcher, obj: Object) -> bool:
    """Return whether the expression of a matcher reads more of an object than its status, and holds."""
    if matcher.expression is None:
        return False
    projection = Projection()
    take_outputs(projection, matcher.expression)
    results = matcher.expression.evaluate(obj)
    return projection.fields.keys() != {"status"} and bool(results) and to_text(results[0]) == matcher.expected


def _expected(definition: Definition, obj: Object) -> str:
    """Return the verdict that Argo CD has to come to, by the statuses of the object."""
    try:
        matched = set(match_with_rest(definition, obj).matched)
        named = definition.annotations.healthy_statuses
        rests_as_asked = _rests_as_asked(definition, obj, matched)
        if rests_as_asked and not tells_of_rest(definition):  # its status stays as it was before the rest
            return "Healthy"
        rests = Status.SUSPENDED in matched and (named is None or Status.SUSPENDED in named)
        is_in_trouble = bool(matched & _TROUBLE)
        if _is_old(definition, obj):
            return "Degraded" if is_in_trouble and not rests else "Progressing"
        is_healthy = bool(matched & (_AT_WORK if named is None else named))
        if definition.annotations.health is not None:
            is_healthy = interpret_health(definition, obj)
            is_in_trouble = is_in_trouble and not is_healthy
        elif rests:
            is_in_trouble = False
    except InterpretationError:
        return "error"
    if is_in_trouble:
        return "Degraded"
    if rests_as_asked:
        return "Healthy"
    if matched & _SUSPENDED:
        return "Suspended"
    return "Healthy" if is_healthy else "Progressing"
