"""Explains how an object's status matches the definition's mappings, and the resulting health."""

from collections.abc import Iterator
from typing import NamedTuple

from karta_interpreter.base.k8s.values import Object, Path, json_pointer
from karta_interpreter.definitions.karta.definition import Component, Definition
from karta_interpreter.definitions.karta.model import ConditionMatcher
from karta_interpreter.definitions.karta.status_rules import Matcher, Status, StatusRules
from karta_interpreter.engine.evaluation.status import Condition, StatusReader, match_status
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import about, annotation_field, place_at, readings
from karta_interpreter.engine.operations import Call, Options, Results
from karta_interpreter.engine.operations.interpret_health import healthy_statuses, is_stale
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING, TEMPLATE_GENERATION
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.compiled.values import to_text

_OBSERVED_GENERATION = ("status", "observedGeneration")
_GENERATIONS: tuple[Path, ...] = (("metadata", "generation"), _OBSERVED_GENERATION)


class _Requirement(NamedTuple):
    """One requirement of a matcher: whether it holds, the value that was read (in words), and its place."""

    holds: bool
    note: str
    places: tuple[Place, ...]
    is_there: bool
    is_condition: bool = False


class _Statuses:
    """The input of the matchers with its places."""

    def __init__(self, root: Component, rules: StatusRules, obj: Object) -> None:
        self._object, self._reader = obj, StatusReader(root, rules, obj)
        self.holds = self._reader.holds
        phases = readings(rules.phase, obj)
        self._phase_places = phases[0].places if phases else ()
        self._at = dict(self._condition_places(rules.conditions.query if rules.conditions else None))

    def parts(self, matcher: Matcher) -> list[_Requirement]:
        """Return each requirement of a matcher, judged by the matching itself."""
        found = []
        if matcher.phase:
            holds, phase = self.holds(Matcher(phase=matcher.phase)), self._reader.phase
            read = "" if holds else f', read "{phase}"' if phase else ", read none"
            found.append(
                _Requirement(holds, f'phase "{matcher.phase}"{read}', self._phase_places, is_there=bool(phase))
            )
        found += [self._condition(each) for each in matcher.conditions]
        if matcher.expression is not None:
            found.append(self._expression(matcher.expression, matcher))
        return found

    def _condition(self, expected: ConditionMatcher) -> _Requirement:
        holds = self.holds(Matcher(conditions=(expected,)))
        place, condition = self._at.get(expected.type, (None, None))
        required = _condition_text(expected.type, expected.status, expected.reason)
        if condition is None:
            return _Requirement(holds, f"condition {required}, not there", (), is_there=False)
        read = "" if holds else f", read {_condition_text(expected.type, condition.status, condition.reason)}"
        return _Requirement(
            holds, f"condition {required}{read}", (place,) if place else (), is_there=True, is_condition=True
        )

    def _expression(self, query: Query, matcher: Matcher) -> _Requirement:
        holds = self.holds(Matcher(expression=query, expected=matcher.expected))
        found = readings(query, self._object)
        read = f'"{to_text(found[0].value)}"' if found else "no result"
        note = f'byExpression "{matcher.expected}"' + ("" if holds else f", read {read}")
        return _Requirement(holds, note, found[0].places if found else (), is_there=False)

    def _condition_places(self, query: Query | None) -> Iterator[tuple[str | None, tuple[Place | None, Condition]]]:
        places: list[Place | None] = []
        for reading in readings(query, self._object):
            at = reading.location.path if reading.location and reading.location.is_plain else None
            count = len(reading.value or ())
            places += [None if at is None else place_at((*at, index), self._object) for index in range(count)]
        # In the order of the list. As in the matchers, the last of two conditions of one type is kept.
        for place, condition in zip(places, self._reader.conditions, strict=True):
            yield condition.type, (place, condition)


def matcher_facts(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield each matcher that holds, and each that nearly holds with the values that were read instead."""
    if definition.status is None:
        yield Fact("status", "the definition has no statusDefinition", str(Status.UNDEFINED))
        return
    statuses = _Statuses(definition.root, definition.status, obj)
    matched = match_status(definition, obj).matched
    for status, matchers in definition.status.mappings:
        for index, matcher in enumerate(matchers):
            parts = statuses.parts(matcher)
            holds = statuses.holds(matcher)
            if not holds and not _is_near(parts, is_undefined=matched == (Status.UNDEFINED,)):
                continue
            yield about(
                definition, definition.root, f"statusDefinition.statusMappings.{status.lower()}[{index}]",
                matcher.expression, rule="matched" if holds else "nearly", value=str(status),
                note=f"{status}: {' and '.join(part.note for part in parts) or 'always'}",
                places=tuple(place for part in parts for place in part.places),
            )  # fmt: skip


def health_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield how InterpretHealth finds its verdict."""
    obj, health = call.object, definition.annotations.health
    stale = is_stale(definition, obj)
    healthy = results.get("healthy")
    generations = tuple(place_at(path, obj) for path in _GENERATIONS)
    if stale:
        means = "it waits for its controller" if health is None else "which the annotation health makes unhealthy"
        yield Fact("stale", f"the status is older than the object: {means}", places=generations)
    if health is not None:
        found = [] if stale else readings(health, obj)
        note, places = (
            ("the status is stale" if stale else "the annotation health decides"),
            found[0].places if found else (),
        )
        field = annotation_field("health")
        yield Fact("verdict", note, healthy, "/healthy", field=field, expression=health.text, places=places)
        return
    yield from matcher_facts(definition, obj)
    yield _verdict(definition, match_status(definition, obj).matched, healthy=healthy, stale=stale)


def _verdict(definition: Definition, matched: tuple[Status, ...], *, healthy: bool | None, stale: bool) -> Fact:
    counted = sorted(healthy_statuses(definition))
    if definition.annotations.healthy_statuses is not None:
        field, family = annotation_field("healthy-statuses"), "the annotation names"
    else:
        field = ""
        family = "a kind that completes counts" if Status.INITIALIZING in counted else "a kind that serves counts"
    note = f"status {', '.join(matched)}{' (of an older generation)' if stale else ''}; {family} {', '.join(counted)}"
    return Fact("verdict", f"{note} as healthy", healthy, "/healthy", field=field)


def status_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield the origin of each field of InterpretStatus."""
    reflected: Object = results.get("status", {})
    for field, value in reflected.items():
        path: Path = ("status", field)
        note = "as the object has it"
        if field in BOOKKEEPING and call.object["status"].get(field) != value:
            own = field == BOOKKEEPING[0]
            path = ("metadata", "generation") if own else ("metadata", "annotations", TEMPLATE_GENERATION)
            note = "added for AggregateStatus: the generation of the " + ("member's object" if own else "template")
        answer = json_pointer(("status", field))
        yield Fact("status", f"{field}: {note}", value, answer, places=(place_at(path, call.object),))
    observed = place_at(_OBSERVED_GENERATION, call.object)
    if observed.exists and not definition.annotations.observes_generation:
        note = "observedGeneration is about another object, so it is left out"
        yield Fact("status", note, field=annotation_field("aggregate"), places=(observed,))


def _is_near(parts: list[_Requirement], *, is_undefined: bool) -> bool:
    """Return whether only one requirement fails, and another value was read there.

    If the phase or an expression is the only requirement, another value is always read. That is worth a line only if
    nothing matches.
    """
    failed = [part for part in parts if not part.holds]
    if len(failed) != 1:
        return False
    return is_undefined or (failed[0].is_there and (failed[0].is_condition or len(parts) > 1))


def _condition_text(name: str, status: str | None, reason: str | None) -> str:
    return f"{name}={status or 'any'}{f' ({reason})' if reason else ''}"
