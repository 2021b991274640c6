"""Explains health by the definition's mappings, and the origin of each field of a status, also of an aggregated one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, changes, field_path, get, json_pointer
from karta_interpreter.definitions.karta import (
    OF_TEMPLATE,
    AggregateRule,
    ComponentRules,
    Definition,
    Matcher,
    PathPattern,
    Status,
    StatusRules,
)
from karta_interpreter.definitions.karta.model import ConditionMatcher
from karta_interpreter.engine.evaluation import Condition, StatusReader, match_status
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import about, annotation_field, place_at, readings
from karta_interpreter.engine.operations import Call, Options, Results, healthy_statuses, is_stale
from karta_interpreter.engine.operations.aggregate.member_status import MemberPart, MemberReport, reports_of
from karta_interpreter.engine.operations.aggregate.merge import Merging, Present, are_conditions, of_all
from karta_interpreter.engine.operations.aggregate.reduce import is_time
from karta_interpreter.engine.operations.aggregate.status_history import has_ended
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

    def __init__(self, root: ComponentRules, rules: StatusRules, obj: Object) -> None:
        super().__init__(root, rules, obj)
        self._phase = readings(rules.phase, obj)[:1]
        paths = [
            (*reading.location.path, index) if reading.location and reading.location.is_plain else None
            for reading in readings(rules.conditions.query if rules.conditions else None, obj)
            for index in range(len(reading.value or ()))
        ]
        # In the order of the list. As in the matchers, the last of two conditions of one type is kept.
        self._conditions_read = {
            condition.type: (_condition_text(condition), () if path is None else (place_at(path, obj),))
            for path, condition in zip(paths, self.conditions, strict=True)
        }

    def requirement(self, text: str, matcher: Matcher) -> _Requirement:
        """Return the only requirement of a matcher, judged by the matching itself."""
        outputs = self._phase if matcher.phase else readings(matcher.expression, self._obj)[:1]
        reading, places = "", outputs[0].places if outputs else ()
        if matcher.conditions:
            reading, places = self._conditions_read.get(matcher.conditions[0].type, ("", ()))
        elif outputs and (self.phase or not matcher.phase):
            reading = f'"{self.phase if matcher.phase else to_text(outputs[0].value)}"'
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
        yield f'byExpression "{matcher.expected}"', replace(matcher, phase="", conditions=())


def matcher_facts(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield each matcher that holds, and each that nearly holds with the values that were read instead."""
    if definition.status is None:
        yield Fact("status", "the definition has no statusDefinition", str(Status.UNDEFINED))
        return
    reader = _Reader(definition.root, definition.status, obj)
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
    if stale:
        means = "it waits for its controller" if health is None else "which the annotation health makes unhealthy"
        places = tuple(place_at(path, obj) for path in _GENERATIONS)
        yield Fact("stale", f"the status is older than the object: {means}", places=places)
    if health is None:
        yield from matcher_facts(definition, obj)
        yield _verdict(definition, match_status(definition, obj).matched, healthy=healthy, stale=stale)
        return
    note, outputs = ("the status is stale", []) if stale else ("the annotation health decides", readings(health, obj))
    field, places = annotation_field("health"), outputs[0].places if outputs else ()
    yield Fact("verdict", note, healthy, "/healthy", field=field, expression=health.text, places=places)


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
            is_of_member = field == BOOKKEEPING[0]
            path = ("metadata", "generation") if is_of_member else ("metadata", "annotations", TEMPLATE_GENERATION)
            note = "added for AggregateStatus: the generation of the " + (
                "member's object" if is_of_member else "template"
            )
        answer = json_pointer(("status", field))
        yield Fact("status", f"{field}: {note}", value, answer, places=(place_at(path, call.object),))
    observed = place_at(_OBSERVED_GENERATION, call.object)
    if observed.exists and not definition.annotations.observes_generation:
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
    reason = f" ({condition.reason})" if condition.reason else ""
    return f"{condition.type}={condition.status or 'any'}{reason}"


class _Recorded(Merging):
    """Merges as AggregateStatus does, and keeps the parts of each field."""

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition)
        self.parts: dict[PathPattern, Sequence[MemberPart]] = {}

    # Every field is merged through `value`. Overriding it sees all fields, and no rule is repeated here.
    def value(self, path: PathPattern, present: Present, candidates: Sequence[MemberPart]) -> JSON:
        self.parts[path] = of_all(present, candidates, None)
        return super().value(path, present, candidates)


def aggregation_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield the origin of each field of the aggregated status."""
    before, after = call.object.get("status"), results.get("aggregatedStatus", {}).get("status")
    if has_ended(definition, before):
        yield Fact("unchanged", "the template has reached its outcome, which does not change")
        return
    reports = reports_of(definition, call.object, call.items)
    silent = sorted({item.cluster for item in call.items} - {report.cluster for report in reports if report.status})
    if silent or not call.items:
        clusters = ", ".join(silent) or "any cluster"
        yield Fact("silent", f"no status from {clusters}; the rest is merged, or the template's status stays")
    for report in reports if len(reports) > 1 else ():
        yield Fact("cluster", f"{report.cluster}: status {', '.join(report.matched)}", list(map(str, report.matched)))
    recorded = _Recorded(definition)
    merged = recorded.status(reports) if len(reports) > 1 else dict(reports[0].status) if reports else {}
    if len(reports) == 1:
        recorded.parts = {("status", field): [MemberPart(reports[0], value)] for field, value in merged.items()}
    for field, value in after.items() if isinstance(after, dict) else ():  # without a report everything stays
        yield from _fields(definition, ("status", field), value, merged.get(field), recorded)
    for path, _, new in changes(before or {}, after or {}):
        if new in (None, NOTHING):
            removed = Place(("status", *path), get(before, path))
            yield Fact("removed", f"{field_path(path)} is removed: no cluster reports it", places=(removed,))


def _fields(
    definition: Definition, path: tuple[str, ...], value: JSON, merged: JSON, recorded: _Recorded
) -> Iterator[Fact]:
    """Yield the facts about one field: one for each condition, and one for each field inside an object."""
    reported, rule = recorded.parts.get(path, ()), definition.annotations.aggregate.get(path)
    if isinstance(value, list) and are_conditions([condition for condition in value if condition is not None]):
        yield from (
            _condition(path, index, condition, reported)
            for index, condition in enumerate(value)
            if condition is not None
        )
    elif isinstance(value, dict) and any((*path, key) in recorded.parts for key in value):
        for key, below in value.items():
            yield from _fields(definition, (*path, key), below, get(merged, (key,)), recorded)
    else:
        places = tuple(_place(member.report, path, member.value) for member in reported if member.value is not None)
        # If a value does not result from the clusters, it is required or from the template's present status.
        is_added = merged is None and definition.annotations.required_status.get(path) == value
        note = _rule(value, reported) if rule is None else f"rule {rule}"
        note = note if value == merged else _history(path, rule, is_added=is_added)
        values = [place_read.value if isinstance(place_read.value, str | int | float) else "…" for place_read in places]
        values_text = ", ".join(
            f"{place_read.cluster} {value}" for place_read, value in zip(places, values, strict=True)
        )
        field = annotation_field("required-status") if is_added else annotation_field("aggregate") if rule else ""
        expression = f"{field_path(path)}: {rule}" if rule else ""
        note = f"{field_path(path[1:])}: {note}{f' ({values_text})' if values_text else ''}"
        yield Fact("aggregated", note, value, _answer(path), field=field, expression=expression, places=places)


def _condition(path: tuple[str, ...], index: int, condition: Object, parts: Sequence[MemberPart]) -> Fact:
    matches = [
        (member.report, number, reported)
        for member in parts
        for number, reported in enumerate(member.value if isinstance(member.value, list) else ())
        if isinstance(reported, dict) and reported.get("type") == condition["type"]
    ]
    same = [report.cluster for report, _, reported in matches if reported.get("status") == condition["status"]]
    other = [
        f"{report.cluster} has {reported.get('status', 'no status')}"
        for report, _, reported in matches
        if report.cluster not in same
    ]
    whose = [f"of {', '.join(same)}" if same else "by the template's present status and its outcomes", *other]
    note = f"condition {condition['type']}={condition['status']} {', '.join(whose)}"
    places = tuple(_place(report, (*path, number), reported) for report, number, reported in matches)
    return Fact("aggregated", note, condition, _answer((*path, index)), places=places)


def _history(path: tuple[str, ...], rule: AggregateRule | None, *, is_added: bool) -> str:
    """Return why a field differs from the result of the clusters' values."""
    if path[1:] == ("observedGeneration",):
        return "the template's generation when all members have caught up with it, else its present value"
    if rule in OF_TEMPLATE:
        return f"rule {rule}, by which the template's present value stays"
    return (
        "the CRD requires it, and no cluster gives a value"
        if is_added
        else "the template's present status and the definition's outcomes decide"
    )


def _rule(value: JSON, reported: Sequence[MemberPart]) -> str:
    """Return the rule of AggregateStatus for values of a type."""
    if len(reported) < 2:  # noqa: PLR2004 - one cluster
        return "of the one cluster that reports"
    whose = [member.report.cluster for member in reported if member.value == value]
    match value:
        case bool():
            return "true where it is in all"
        case int() | float():
            return "the sum"
        case dict() | list():
            return "merged"
    if len(whose) == len(reported):
        return "the same in all"
    return f"the {'time' if is_time(value) else 'text'} of {', '.join(whose)}"


def _place(report: MemberReport, path: Path, value: JSON) -> Place:
    return Place(path, get({"status": report.reported}, path, value), source="items", cluster=report.cluster)


def _answer(path: Path) -> str:
    return f"/aggregatedStatus{json_pointer(path)}"
