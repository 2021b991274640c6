"""Warnings: phases and conditions that a definition does not find, or that no mapping fits."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from karta_interpreter.base.findings import almost, in_ascii
from karta_interpreter.base.k8s import Object, field_path
from karta_interpreter.definitions.karta import Definition, Matcher, StatusRules
from karta_interpreter.engine.evaluation import Status, StatusMatch, match_status
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import about, misspelt, paths_read, place_at, readings

_PHASE: Final = "statusDefinition.phaseDefinition.path"
_CONDITIONS: Final = "statusDefinition.conditionsDefinition.path"


def status_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the warnings about the status of an object. A new one has none, because its controller writes it later."""
    rules = definition.status
    if rules is None or not obj.get("status"):
        return
    match, matchers = match_status(definition, obj), [matcher for _, several in rules.mappings for matcher in several]
    yield from _unmapped_phase(definition, rules, match, matchers, obj)
    yield from _unmapped_conditions(definition, rules, match, matchers)
    conditions = rules.conditions.query if rules.conditions else None
    yield from (
        about(
            *(definition, definition.root, field, query, "status-not-found"), f"nothing at {field_path(path)}; {hint}"
        )
        for field, query in ((_PHASE, rules.phase), (_CONDITIONS, conditions))
        if query
        for path in paths_read(query, obj)
        if not place_at(path, obj).exists
        and (hint := misspelt(path, obj, definition) or (_elsewhere(obj, matchers) if field == _PHASE else ""))
    )
    yield from (
        about(
            *(definition, definition.root, "statusDefinition.statusMappings", matcher.expression, "result-misspelt"),
            f'{matcher.expression.text} gives "{read}", and expectedResult is "{matcher.expected}": capitals count',
        )
        for matcher in matchers
        if matcher.expression is not None
        for read in matcher.expression.evaluate(obj)[:1]
        if isinstance(read, str) and read != matcher.expected and read.lower() == matcher.expected.lower()
    )


def _elsewhere(obj: Object, matchers: Sequence[Matcher]) -> str:
    """Return which field of the status has a phase of a mapping, "" without one."""
    status, phases = obj["status"], {matcher.phase for matcher in matchers if matcher.phase}
    fields = status.items() if isinstance(status, dict) else ()
    texts = ((name, value) for name, value in fields if isinstance(value, str))
    return next((f"status.{name} is {value}, which a mapping has" for name, value in texts if value in phases), "")


def _unmapped_phase(
    definition: Definition, rules: StatusRules, match: StatusMatch, matchers: Sequence[Matcher], obj: Object
) -> Iterator[Fact]:
    phases = list(dict.fromkeys(matcher.phase for matcher in matchers if matcher.phase))
    is_doubtful = match.matched == (Status.UNDEFINED,) or bool(match.phase and almost(match.phase, phases))
    if rules.phase and match.phase and phases and match.phase not in phases and is_doubtful:
        # Signs that only look like others are shown by their numbers.
        shown = [
            phase.encode("ascii", "backslashreplace").decode() if in_ascii(phase).isascii() else phase
            for phase in phases
        ]
        note = f'phase "{match.phase}" from {rules.phase.text} fits no mapping; there are {", ".join(shown)}'
        places = readings(rules.phase, obj)[0].places
        yield about(definition, definition.root, _PHASE, rules.phase, "phase-unmapped", note, places=places)


def _unmapped_conditions(
    definition: Definition, rules: StatusRules, match: StatusMatch, matchers: Sequence[Matcher]
) -> Iterator[Fact]:
    if rules.conditions is None:
        return
    warn = partial(about, definition, definition.root, _CONDITIONS, rules.conditions.query, "condition-not-found")
    fields = rules.conditions.type_field, rules.conditions.status_field
    yield from (
        warn(f"no condition has {field}")
        for field, values in zip(fields, zip(*match.conditions, strict=True), strict=False)
        if field and not any(values)
    )
    types = dict.fromkeys(condition.type for matcher in matchers for condition in matcher.conditions)
    present_types = {condition.type for condition in match.conditions if condition.type}
    yield from (
        warn(f"condition {name} is not there; did you mean {similar}?")
        for name in types
        if name not in present_types and (similar := almost(name, present_types - types.keys()))
        if match.matched == (Status.UNDEFINED,) or similar.lower() == name.lower()
    )
