"""The script of AggregateStatus."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from karta_interpreter.errors import ExportError
from karta_interpreter.export.paths import plain_path
from karta_interpreter.export.questions import matched_status
from karta_interpreter.export.script import Script, lua_value
from karta_interpreter.export.writer import key_text, quoted
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.karta.annotations import AggregateRule, PathPattern
from karta_interpreter.karta.definition import SuspendAction
from karta_interpreter.karta.status import status_match_reads
from karta_interpreter.karta.status_rules import Status, StatusRules

_FAILING = frozenset({Status.FAILED, Status.DEGRADED})
_TRANSITIONAL = frozenset({Status.INITIALIZING, Status.SUSPENDING, Status.RESUMING})
_FUNCTIONS: Final[Mapping[AggregateRule, str]] = {
    AggregateRule.SUM: "added",
    AggregateRule.MAX: "largest",
    AggregateRule.MIN: "smallest",
    AggregateRule.ANY: "holds_any",
    AggregateRule.ALL: "holds_all",
    AggregateRule.FIRST: "first_value",
    AggregateRule.WORST: "first_value",
    AggregateRule.UNION: "union_of",
    AggregateRule.CONCAT: "all_elements",
    AggregateRule.LATEST: "latest",
    AggregateRule.EARLIEST: "earliest",
    AggregateRule.OMIT: "nothing",
    AggregateRule.DROP: "nothing",
}
"""The functions of the library that reduce many values to one."""
_ALWAYS: Final = frozenset({"statuses_of", "state_fields", "mapped", "completing", "running"})
"""The fields that each script reads; any other one is left out where it is empty."""
_REMOVED = (AggregateRule.OMIT, AggregateRule.DROP)


_Meanings: TypeAlias = Mapping[tuple[str, str], set[Status]]
"""The statuses of a definition by type and status of a condition."""


def aggregate(script: Script) -> None:
    """``AggregateStatus``."""
    definition = script.definition
    meanings, rules = _meanings(definition.status), definition.annotations.aggregate
    completed = dict(definition.status.mappings).get(Status.COMPLETED, ()) if definition.status else ()
    read = _status_reads(script)
    fields = {
        "statuses_of": matched_status(script),
        "rules": lua_value({_key(path): str(rule) for path, rule in rules.items()}),
        "reductions": _reductions(set(rules.values())),
        "removed": lua_value([_steps(path[1:]) for path, rule in rules.items() if rule in _REMOVED]),
        "kept": _kept(script),
        "outcomes": _outcomes(script, meanings),
        "is_suspended": _suspended(script),
        "state_fields": _set(sorted(read.fields)),
        "reads_whole_status": lua_value(read.is_whole),
        "mapped": _set(sorted({name for name, _ in meanings})),
        "failing": _meaning(meanings, lambda means: means & _FAILING),
        "transitional": _meaning(meanings, lambda means: means <= _TRANSITIONAL),
        "running": _set(sorted({name for (name, _), means in meanings.items() if Status.RUNNING in means})),
        "completing": _set(sorted({name for (name, _), means in meanings.items() if Status.COMPLETED in means})),
        "completes": lua_value(bool(completed)),
        "by_expression": lua_value(any(not matcher.conditions and not matcher.phase for matcher in completed)),
    }
    fields = {field: value for field, value in fields.items() if field in _ALWAYS or value not in ("{}", "false")}
    script.features |= fields.keys() | ({"ends"} if completed and "outcomes" not in fields else set())
    body = "".join(f"  {field} = {value},\n" for field, value in fields.items())
    script.add(f"local kind = {{\n{body}}}")
    script.add("function AggregateStatus(obj, items)\n  return aggregated(kind, obj, items or {})\nend")


def _reductions(rules: Iterable[AggregateRule]) -> str:
    used = {AggregateRule.SUM if rule is AggregateRule.COUNTER else rule for rule in rules}
    return "{" + ", ".join(f"{rule} = {_FUNCTIONS[rule]}" for rule in sorted(used)) + "}"


def _meanings(rules: StatusRules | None) -> _Meanings:
    meanings: dict[tuple[str, str], set[Status]] = {}
    for status, matchers in rules.mappings if rules else ():
        for condition in (condition for matcher in matchers for condition in matcher.conditions):
            meanings.setdefault((condition.type, condition.status or "True"), set()).add(status)
    return meanings


def _meaning(meanings: _Meanings, holds: Callable[[set[Status]], object]) -> str:
    return _set(sorted(f"{name}={status}" for (name, status), means in meanings.items() if holds(means)))


def _key(path: PathPattern) -> str:
    """A path as the merging function writes it: ``status.jobs[].active``."""
    if any(step is not None and ("." in step or step.endswith("[]")) for step in path):
        raise ExportError(f"annotation aggregate: the path {path} has a key with a dot")
    return "".join("[]" if step is None else f".{step}" for step in path).removeprefix(".")


def _steps(path: PathPattern) -> list[str]:
    return ["[]" if step is None else step for step in path]


def _set(names: list[str]) -> str:
    return "{" + ", ".join(f"{key_text(name)} = true" for name in names) + "}"


def _kept(script: Script) -> str:
    kept: list[str] = []
    for (_, *path), rule in script.definition.annotations.aggregate.items():
        if rule in (AggregateRule.OMIT, AggregateRule.COUNTER) and None not in path:
            is_counter = lua_value(rule is AggregateRule.COUNTER)
            kept.append(f"{{path = {lua_value(path)}, is_counter = {is_counter}}}")
    return "{" + ", ".join(kept) + "}"


def _outcomes(script: Script, meanings: _Meanings) -> str:
    outcomes = [
        f"{{name = {quoted(name)}, announcement = {quoted(announcement)}, "
        f"is_failure = {lua_value(bool(meanings.get((name, 'True'), set()) & _FAILING))}}}"
        for name, announcement in script.definition.annotations.outcomes.items()
    ]
    return "{" + ", ".join(outcomes) + "}"


def _suspended(script: Script) -> str:
    """The function that returns whether the template has the values that suspend it."""
    actions = script.definition.suspend
    if not script.definition.annotations.outcomes:
        return "{}"
    if all(_is_plain(action) for action in actions):
        values = [f"{script.inline(action.path)} == {lua_value(action.value)}" for action in actions]
        return f"function(obj) return {' and '.join(values) or 'false'} end"
    places = [
        f"{{find = {script.places_of(action.path, 'switch')}, value = {lua_value(action.value)}}}" for action in actions
    ]
    return f"function(obj) return has_values(obj, {{{', '.join(places)}}}) end"


def _is_plain(action: SuspendAction) -> bool:
    """Whether an action writes a text or a boolean at a path without lists and without a default."""
    path = plain_path(action.path.node)
    return path is not None and not path.default and isinstance(action.value, str | bool)


def _status_reads(script: Script) -> Projection:
    """The part of a status from which the definition derives its own statuses."""
    projection = Projection()
    status_match_reads(script.definition, projection)
    read = projection.at("status")
    if projection.is_whole:
        read.take_all()
    return read
