"""Determines a workload's normalised status by the rules of Karta's own library (`ExtractStatus` in `pkg/resource`)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from karta_interpreter.base.k8s import JSON, Object, Projection, type_name
from karta_interpreter.definitions.karta import (
    BEYOND_REST,
    MATCHING_ORDER,
    ConditionsRule,
    Definition,
    Matcher,
    Status,
    StatusRules,
)
from karta_interpreter.languages.jq import Query, project, take_outputs, to_text

__all__ = [
    "Condition",
    "Status",
    "StatusMatch",
    "StatusReader",
    "has_completed",
    "match_status",
    "match_with_rest",
    "status_match_reads",
    "with_rest",
]


class Condition(NamedTuple):
    """One condition of a workload. A field that is absent or not a string is None."""

    type: str | None
    status: str | None
    reason: str | None
    message: str | None


@dataclass(frozen=True)
class StatusMatch:  # noqa: PLW1641 - dataclass writes its hash
    """The status of an object by its status definition. ``"Running" in status`` asks for one of the statuses.

    ``phase`` is None only if the phase path yields nothing. ``matched`` contains all statuses that match, because they
    do not exclude each other, or `Undefined` if none matches.
    """

    phase: str | None
    conditions: tuple[Condition, ...]
    matched: tuple[Status, ...]

    def __contains__(self, status: str) -> bool:
        return Status(status) in self.matched

    if not TYPE_CHECKING:  # a type checker finds this mistake only in a class without a comparison of its own

        def __eq__(self, other: object) -> bool:
            # As the truth of an array of numpy: a program would take False for an answer.
            if isinstance(other, str):
                raise TypeError(f'several statuses may match; write "{other}" in workload.status')
            return type(other) is StatusMatch and vars(self) == vars(other)


def match_status(definition: Definition, obj: Object) -> StatusMatch:
    """Return the status of an object.

    Raises InterpretationError if an expression fails. Without one of them the whole status is unknown.
    """
    rules = definition.status
    if rules is None:
        return StatusMatch(None, (), (Status.UNDEFINED,))
    # Phase and conditions are read even if no matcher needs them: an error in either fails the status upstream.
    reader = StatusReader(rules, obj)
    matched = tuple([status for status, matchers in rules.mappings if any(map(reader.holds, matchers))])
    return StatusMatch(reader.phase, reader.conditions, matched or (Status.UNDEFINED,))


def has_completed(definition: Definition, obj: Object) -> bool:
    """Return whether Completed is among the statuses of an object, without a look at the others.

    Raises InterpretationError if one of the expressions for it fails.
    """
    rules = definition.status
    if rules is None or not rules.completes:
        return False
    reader = StatusReader(rules, obj)
    return any(any(map(reader.holds, matchers)) for status, matchers in rules.mappings if status is Status.COMPLETED)


def match_with_rest(definition: Definition, obj: Object) -> StatusMatch:
    """Return the status of an object, which is also Suspended if the object asks for rest and has not ended.

    Karta's library reads rest from the status alone, and an object at rest may never get one.

    Raises InterpretationError like `match_status`.
    """
    return with_rest(definition, obj, match_status(definition, obj))


def with_rest(definition: Definition, obj: Object, match: StatusMatch) -> StatusMatch:
    """Return the status as `match_with_rest` does, from the one that the object has without its wish."""
    rules = definition.status
    if rules is None or rules.rest is None or not BEYOND_REST.isdisjoint(match.matched):
        return match
    if not rules.rest.first(obj):
        return match
    matched = {*match.matched, Status.SUSPENDED}
    return replace(match, matched=tuple([status for status in MATCHING_ORDER if status in matched]))


def status_match_reads(definition: Definition, projection: Projection) -> None:
    """Mark what `match_status` reads of an object."""
    rules = definition.status
    if rules is None:
        return
    expressions = [matcher.expression for _, matchers in rules.mappings for matcher in matchers]
    take_outputs(projection, rules.phase, *expressions)
    if rules.conditions is not None:
        rule = rules.conditions
        for conditions in project(rule.query.node, (projection,)):
            for field in (rule.type_field, rule.status_field, rule.reason_field, rule.message_field):
                conditions.each().at(field).mark()


class StatusReader:
    """The input of the matchers: the phase, the conditions and the object."""

    def __init__(self, rules: StatusRules, obj: Object) -> None:
        self._obj = obj
        # Karta's library converts every result before it takes the first: a later one of a wrong type is an error, too.
        phases = [] if rules.phase is None else list(_typed(rules.phase, obj, str, "a string"))
        self.phase: str | None = (phases[0] or "") if phases else None  # Go converts null to the zero value of a string
        self.conditions = () if rules.conditions is None else _conditions(rules.conditions, obj)
        # If a type has two conditions, the last one is kept, as in upstream's index.
        self._by_type = {condition.type: condition for condition in self.conditions}

    def holds(self, matcher: Matcher) -> bool:
        """Return whether all requirements of a matcher hold."""
        if matcher.phase and matcher.phase != self.phase:
            return False
        for expected in matcher.conditions:
            condition = self._by_type.get(expected.type)
            if (
                condition is None
                or (expected.status and condition.status != expected.status)
                or (expected.reason and condition.reason != expected.reason)
            ):
                return False
        if matcher.expression is None:
            return True
        # Karta's library runs `(EXPR) | tostring` and takes the first output. Null becomes the text "null".
        results = matcher.expression.evaluate(self._obj)
        return bool(results) and to_text(results[0]) == matcher.expected


def _typed(query: Query, obj: Object, kind: type, expected: str) -> Iterator[JSON]:
    """Yield the results of an expression, which have one type or are null."""
    for value in query.evaluate(obj):
        if value is not None and type(value) is not kind:
            raise query.unusable(f"gives {type_name(value)} where {expected} belongs")
        yield value


def _conditions(rule: ConditionsRule, obj: Object) -> tuple[Condition, ...]:
    conditions: list[Condition] = []
    for value in _typed(rule.query, obj, list, "a list of conditions"):
        for element in value or ():
            given = {} if element is None else element  # as Go reads null
            if type(given) is not dict:
                raise rule.query.unusable(f"gives a condition that is {type_name(element)}, not an object")
            conditions.append(
                Condition(
                    _text(given.get(rule.type_field)),
                    _text(given.get(rule.status_field)),
                    _text(given.get(rule.reason_field)),
                    _text(given.get(rule.message_field)),
                )
            )
    return tuple(conditions)


def _text(value: JSON) -> str | None:
    return value if type(value) is str else None
