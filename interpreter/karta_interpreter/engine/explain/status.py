"""Explains how an object's status matches the definition's mappings, and the resulting health."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from msgspec import structs

from karta_interpreter.base.k8s import Object, Path, json_pointer
from karta_interpreter.definitions.karta import Definition, Matcher, Status, StatusRules
from karta_interpreter.definitions.karta.model import ConditionMatcher
from karta_interpreter.engine.evaluation import Condition, StatusMatch, StatusReader, match_status, match_with_rest
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import about, annotation_field, place_at, readings
from karta_interpreter.engine.operations import (
    Call,
    Options,
    Results,
    absent_status,
    healthy_statuses,
    is_behind,
    is_stale,
)
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING, TEMPLATE_GENERATION
from karta_interpreter.languages.jq import to_text

_OBSERVED_GENERATION = ("status", "observedGeneration")
_GENERATIONS: tuple[Path, ...] = (("metadata", "generation"), _OBSERVED_GENERATION)


class _Requirement(NamedTuple):
    """One requirement of a matcher in words, with what was read ("" for nothing) and its places."""

    matcher: Matcher
    text: str
    holds: bool
    read: str
    places: tuple[Place, ...]

    def __str__(self) -> str:
        return self.text if self.holds else f"{self.text}, read {self.read or 'nothing'}"


class _Reader(StatusReader):
    """Reads the requirements of matchers one by one, with their places."""

    def __init__(self, rules: StatusRules, obj: Object) -> None:
        super().__init__(rules, obj)
        self._phase = readings(rules.phase, obj)[:1]
        self._conditions_read: dict[str | None, tuple[str, tuple[Place, ...]]] = {}
        conditions = iter(self.conditions)
        for reading in readings(rules.conditions.query if rules.conditions else None, obj):
            location = reading.location
            # In the order of the list. As in the matchers, the last of two conditions of one type is kept.
            for index, condition in enumerate(islice(conditions, len(reading.value or ()))):
                places: tuple[Place, ...] = ()
                if location and location.is_plain:
                    places = (place_at((*location.path, index), obj),)
                self._conditions_read[condition.type] = _condition_text(condition), places

    def requirement(self, text: str, matcher: Matcher) -> _Requirement:
        """Return the only requirement of a matcher, judged by the matching itself."""
        outputs = self._phase if matcher.phase else readings(matcher.expression, self._obj)[:1]
        reading, places = "", outputs[0].places if outputs else ()
        if matcher.conditions:
            reading, places = self._conditions_read.get(matcher.conditions[0].type, ("", ()))
        elif outputs and not matcher.phase:
            reading = f'"{to_text(outputs[0].value)}"'
        elif outputs and self.phase:
            reading = f'"{self.phase}"'
        return _Requirement(matcher, text, self.holds(matcher), reading, places)


def mapping_facts(definition: Definition) -> Iterator[tuple[Status, Matcher, Fact]]:
    """Yield each mapped status with a matcher and the fact that the matcher is read."""
    for status, matchers in definition.status.mappings if definition.status else ():
        for index, matcher in enumerate(matchers):
            field = f"statusDefinition.statusMappings.{status.lower()}[{index}]"
            note = f"{status}: {' and '.join(text for text, _ in _requirements(matcher)) or 'always'}"
            fact = about(definition, definition.root, field, matcher.expression, rule="reads", note=note)
            yield status, matcher, fact


def _requirements(matcher: Matcher) -> Iterator[tuple[str, Matcher]]:
    """Yield each requirement of a matcher in words, and as a matcher without the others."""
    if matcher.phase:
        yield f'phase "{matcher.phase}"', Matcher(phase=matcher.phase)
    for condition in matcher.conditions:
        yield f"condition {_condition_text(condition)}", Matcher(conditions=(condition,))
    if matcher.expression is not None:
        yield f'byExpression "{matcher.expected}"', structs.replace(matcher, phase="", conditions=())


def matcher_facts(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield each matcher that holds, and each that nearly holds with the values that were read instead."""
    if definition.status is None:
        yield Fact("status", "the definition has no statusDefinition", str(Status.UNDEFINED))
        return
    reader = _Reader(definition.status, obj)
    is_undefined = match_status(definition, obj).matched == (Status.UNDEFINED,)
    for status, matcher, fact in mapping_facts(definition):
        requirements = [reader.requirement(*requirement) for requirement in _requirements(matcher)]
        holds = reader.holds(matcher)
        if holds or _is_near(requirements, is_undefined=is_undefined):
            note = f"{status}: {' and '.join(map(str, requirements)) or 'always'}"
            places = tuple(read_place for requirement in requirements for read_place in requirement.places)
            yield replace(fact, rule="matched" if holds else "nearly", value=str(status), note=note, places=places)


def health_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield how InterpretHealth finds its verdict."""
    obj, health = call.object, definition.annotations.health
    stale, healthy = is_stale(definition, obj), results.get("healthy")
    if is_behind(obj) and not definition.annotations.observed_generation:
        note, field = (
            "the status is older than the object, and counts like any other",
            annotation_field("observed-generation"),
        )
        yield Fact("stale", note, field=field, places=tuple(place_at(path, obj) for path in _GENERATIONS))
    if stale:
        means = "it waits for its controller" if health is None else "which the annotation health makes unhealthy"
        places = tuple(place_at(path, obj) for path in _GENERATIONS)
        yield Fact("stale", f"the status is older than the object: {means}", places=places)
    if health is None:
        yield from matcher_facts(definition, obj)
        yield from _rest_facts(definition, obj)
        yield _verdict(definition, obj, match_with_rest(definition, obj), healthy=healthy, stale=stale)
        return
    note, outputs = ("the status is stale", []) if stale else ("the annotation health decides", readings(health, obj))
    field, places = annotation_field("health"), outputs[0].places if outputs else ()
    yield Fact("verdict", note, healthy, "/healthy", field=field, expression=health.text, places=places)


def _rest_facts(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield that the object asks for rest, if its status does not show it."""
    before, match = match_status(definition, obj), match_with_rest(definition, obj)
    if match == before:
        return
    places = tuple(place_at(path, obj) for write in definition.suspend for path in write.path.paths(obj))
    note = "the object asks for rest, which counts until it has ended"
    yield Fact("rest", note, str(Status.SUSPENDED), places=places)


def _verdict(definition: Definition, obj: Object, match: StatusMatch, *, healthy: bool | None, stale: bool) -> Fact:
    counted = sorted(healthy_statuses(definition))
    field, family = "", "a kind that serves counts"
    if definition.annotations.healthy_statuses is not None:
        field, family = annotation_field("healthy-statuses"), "the annotation names"
    elif Status.INITIALIZING in counted:
        family = "a kind that completes counts"
    aside = " (of an older generation)" if stale else _aside(definition, obj, match)
    note = f"status {', '.join(match.matched)}{aside}; {family} {', '.join(counted)} as healthy"
    return Fact("verdict", note, healthy, "/healthy", field=field)


def _aside(definition: Definition, obj: Object, match: StatusMatch) -> str:
    """Return what a status lacks, or ""."""
    if not obj.get("status"):
        return f" ({absent_status(obj)})"
    phase = definition.status and definition.status.phase
    if phase and not match.phase and Status.UNDEFINED in match.matched:
        return f" (no phase at {phase.text:.60})"
    return ""


def status_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield the origin of each field of InterpretStatus."""
    reflected: Object = results.get("status", {})
    for field, value in reflected.items():
        path: Path = ("status", field)
        note, annotation = "as the object has it", ""
        if field in BOOKKEEPING and call.object["status"].get(field) != value:
            path, owner = ("metadata", "annotations", TEMPLATE_GENERATION), "template"
            if field == BOOKKEEPING[0]:
                path, owner = ("metadata", "generation"), "member's object"
            note = f"added for AggregateStatus: the generation of the {owner}"
            if "observedGeneration" not in reflected:
                annotation = annotation_field("later-status")
        answer, places = json_pointer(("status", field)), (place_at(path, call.object),)
        yield Fact("status", f"{field}: {note}", value, answer, field=annotation, places=places)
    observed = place_at(_OBSERVED_GENERATION, call.object)
    if observed.exists and not definition.keeps_generation:
        note = "observedGeneration is about another object, so it is left out"
        yield Fact("status", note, field=annotation_field("aggregate"), places=(observed,))


def _is_near(requirements: Sequence[_Requirement], *, is_undefined: bool) -> bool:
    """Return whether only one requirement fails, and another value was read there.

    If the phase or an expression is the only requirement, another value is always read. That is worth a line only if
    nothing matches.
    """
    failed = [requirement for requirement in requirements if not requirement.holds]
    if len(failed) != 1 or is_undefined:
        return len(failed) == 1
    matcher = failed[0].matcher
    return bool(failed[0].read) and bool(matcher.conditions or (matcher.phase and len(requirements) > 1))


def _condition_text(condition: Condition | ConditionMatcher) -> str:
    text = f"{condition.type}={condition.status or 'any'}"
    return f"{text} ({condition.reason})" if condition.reason else text
