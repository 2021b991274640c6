"""The script of AggregateStatus."""

from collections.abc import Callable, Container, Mapping
from typing import Final, TypeAlias

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import JSON, Projection
from karta_interpreter.definitions.karta import (
    ADDING_UP,
    FAILING,
    OF_A_CLUSTER,
    OF_NO_CLUSTER,
    OF_TEMPLATE,
    TRANSITIONAL,
    AggregateRule,
    PathPattern,
    Status,
    StatusRules,
)
from karta_interpreter.engine.evaluation import status_match_reads
from karta_interpreter.engine.operations.aggregate import UNTIL_THE_END, ranks
from karta_interpreter.export.interpretation import matched_status
from karta_interpreter.export.lua import key_text, quoted
from karta_interpreter.export.paths import plain_path
from karta_interpreter.export.script import OperationScript, lua_value

# The functions of the library that reduce many values to one.
_FUNCTIONS: Final[Mapping[AggregateRule, str]] = {
    AggregateRule.SUM: "added",
    AggregateRule.COUNTER: "added",
    AggregateRule.MAX: "largest",
    AggregateRule.MIN: "smallest",
    AggregateRule.ANY: "holds_any",
    AggregateRule.ALL: "holds_all",
    AggregateRule.FIRST: "first_value",
    AggregateRule.WORST: "worst_value",
    AggregateRule.UNION: "union_of",
    AggregateRule.CONCAT: "all_elements",
    AggregateRule.LATEST: "latest",
    AggregateRule.EARLIEST: "earliest",
}
_TIMES: Final = frozenset({AggregateRule.LATEST, AggregateRule.EARLIEST})
# The fields that scripts read even if they are empty.
_ALWAYS: Final = frozenset({"state_fields", "completing"})


# The statuses of a definition by type and status of a condition.
_Meanings: TypeAlias = Mapping[tuple[str, str], set[Status]]


def aggregate(script: OperationScript) -> None:
    """Write ``AggregateStatus``."""
    definition = script.definition
    fields = _fields(script)
    script.features |= fields.keys()
    if not _TIMES.isdisjoint(definition.annotations.aggregate.values()):
        script.features.add("time_rules")
    if fields.keys() & {"failing", "transitional", "runs"}:
        script.features.add("meanings")
    if definition.status and definition.status.completes:
        script.features |= {"completes"} if "outcomes" in fields else {"completes", "ends"}
    body = "".join(f"  {field} = {value},\n" for field, value in fields.items())
    script.add(f"local kind = {{\n{body}}}")
    script.add("function AggregateStatus(obj, items)\n  return aggregated(kind, obj, items or {})\nend")


def _fields(script: OperationScript) -> dict[str, str]:
    # The fields of the kind that the library reads, apart from empty ones.
    definition = script.definition
    rules = definition.annotations.aggregate
    mappings = dict(definition.status.mappings) if definition.status else {}
    meanings = _meanings(definition.status)
    nested = {path: rule for path, rule in rules.items() if path[:-1] != ("status",)}
    worst_first: list[JSON] = sorted({*mappings, Status.UNDEFINED}, key=ranks(definition))
    projection = Projection()
    status_match_reads(script.definition, projection)
    projection_of_status = projection.at("status")
    # Fields that are removed from each status have no function.
    functions = (f"[{quoted(_key(path))}] = {_FUNCTIONS[rule]}" for path, rule in rules.items() if rule in _FUNCTIONS)
    fields = {
        "statuses_of": matched_status(script, frozenset(Status) - {Status.UNDEFINED}),
        "worst_first": lua_value(worst_first),
        "undefined": quoted(str(worst_first.index(Status.UNDEFINED) + 1)),
        "rules": f"{{{', '.join(functions)}}}",
        "removed": _fields_with(rules, OF_NO_CLUSTER),
        "removed_paths": lua_value(
            [[step or "[]" for step in path[1:]] for path, rule in nested.items() if rule in OF_NO_CLUSTER]
        ),
        "kept": _fields_with(rules, {AggregateRule.OMIT}),
        "counters": _fields_with(rules, {AggregateRule.COUNTER}),
        "kept_paths": lua_value(
            [
                {"path": path, "is_counter": rule is AggregateRule.COUNTER}
                for (_, *path), rule in nested.items()
                if rule in OF_TEMPLATE and None not in path
            ]
        ),
        "sums": _fields_with(rules, ADDING_UP),
        "of_cluster": _fields_with(rules, OF_A_CLUSTER),
        "anywhere": _fields_with(rules, {AggregateRule.ANY}, ("status", "conditions")),
        "required": lua_value(
            [{"path": path[1:], "value": value} for path, value in definition.annotations.required_status.items()]
        ),
        "outcomes": lua_value(
            [
                {
                    "name": name,
                    "announcement": announcement,
                    "is_failure": not FAILING.isdisjoint(meanings.get((name, "True"), ())),
                }
                for name, announcement in definition.annotations.outcomes.items()
            ]
        ),
        "is_suspended": _suspended(script),
        **(
            {}
            if projection.is_whole or projection_of_status.is_whole
            else {"state_fields": _set(sorted(projection_of_status.fields))}
        ),
        **_condition_fields(definition.status),
    }
    return {field: value for field, value in fields.items() if field in _ALWAYS or value != "{}"}


def _fields_with(
    rules: Mapping[PathPattern, AggregateRule],
    selected_rules: Container[AggregateRule],
    parent: PathPattern = ("status",),
) -> str:
    """Return the set of the fields of the status itself, or of another one, with some rules."""
    return _set([path[-1] or "" for path, rule in rules.items() if rule in selected_rules and path[:-1] == parent])


def _condition_fields(rules: StatusRules | None) -> dict[str, str]:
    """Return what conditions mean to the definition, as sets of their types or of their types and statuses."""
    completed = dict(rules.mappings).get(Status.COMPLETED, ()) if rules else ()
    meanings = _meanings(rules)
    running = sorted({name for (name, _), means in meanings.items() if Status.RUNNING in means})
    fields = {
        "hold_while_there": "true" if rules and rules.hold_while_there and meanings else "{}",
        "mapped": _set(sorted({name for name, _ in meanings})),
        "failing": _meaning(meanings, lambda means: means & FAILING),
        "transitional": _meaning(meanings, lambda means: means <= TRANSITIONAL),
        "waiting": _set(
            sorted(name for (name, status), means in meanings.items() if status == "Unknown" and means <= TRANSITIONAL)
        ),
    }
    if completed:
        fields["ending"] = _set(sorted({name for (name, _), means in meanings.items() if means & UNTIL_THE_END}))
        fields["runs"] = _set([name for name in running if "running" in name.lower()])
    if completed and all(matcher.conditions or matcher.phase for matcher in completed):
        completing = {name for (name, _), means in meanings.items() if Status.COMPLETED in means}
        fields["completing"] = _set(sorted(completing))
    return fields


def _meanings(rules: StatusRules | None) -> _Meanings:
    meanings: dict[tuple[str, str], set[Status]] = {}
    for status, matchers in rules.mappings if rules else ():
        for condition in (condition for matcher in matchers for condition in matcher.conditions):
            meanings.setdefault((condition.type, condition.status or "True"), set()).add(status)
    return meanings


def _meaning(meanings: _Meanings, holds: Callable[[set[Status]], object]) -> str:
    return _set(sorted(f"{name}={status}" for (name, status), means in meanings.items() if holds(means)))


def _key(path: PathPattern) -> str:
    """Return a path as the merging function writes it: ``status.jobs[].active``."""
    if any(step is not None and ("." in step or step.endswith("[]")) for step in path):
        raise ExportError(f"annotation aggregate: the path {path} has a key with a dot")
    return "".join("[]" if step is None else f".{step}" for step in path).removeprefix(".")


def _set(names: list[str]) -> str:
    return "{" + ", ".join(f"{key_text(name)} = true" for name in names) + "}"


def _suspended(script: OperationScript) -> str:
    """Return the function that returns whether the template has the values that suspend it."""
    actions = script.definition.suspend
    if not script.definition.annotations.outcomes:
        return "{}"
    # A text or a boolean at a path without lists and without a default.
    paths = [plain_path(action.path.node) for action in actions if isinstance(action.value, str | bool)]
    if len(paths) == len(actions) and all(path is not None and not path.default for path in paths):
        values = [f"{script.inline(action.path)} == {lua_value(action.value)}" for action in actions]
        return f"function(obj) return {' and '.join(values) or 'false'} end"
    places = [
        f"{{find = {script.function(action.path, 'switch', 'places')}, value = {lua_value(action.value)}}}"
        for action in actions
    ]
    return f"function(obj) return has_values(obj, {{{', '.join(places)}}}) end"
