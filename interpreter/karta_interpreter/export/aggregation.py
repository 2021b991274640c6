"""The script of AggregateStatus."""

from collections.abc import Callable, Container, Iterator, Mapping
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
    Definition,
    PathPattern,
    Status,
    StatusRules,
)
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.required import may_be_empty
from karta_interpreter.definitions.openapi.schema import SchemaPath, below
from karta_interpreter.engine.evaluation import status_match_reads
from karta_interpreter.engine.operations.aggregate import ENDED_CONTAINERS, UNTIL_THE_END, ranks
from karta_interpreter.export.interpretation import matched_status
from karta_interpreter.export.lua import key_text, quoted
from karta_interpreter.export.paths import plain_path
from karta_interpreter.export.script import OperationScript, lua_value
from karta_interpreter.export.traits import has_empty

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
_ALWAYS: Final = frozenset({"state_fields", "completing", "means"})


# The statuses of a definition by type and status of a condition.
_Meanings: TypeAlias = Mapping[tuple[str, str], set[Status]]


def aggregate(script: OperationScript) -> None:
    """Write ``AggregateStatus``. Raises ExportError if an API server may refuse the status of a script."""
    definition = script.definition
    if lost := next(_required_empty(definition), ""):
        raise ExportError(
            f"{lost} may be empty: Lua has one value for an empty object and an empty list, "
            "which Karmada drops, so API servers would refuse the status"
        )
    fields = _fields(script)
    script.features |= fields.keys()
    if not _TIMES.isdisjoint(definition.annotations.aggregate.values()):
        script.features.add("time_rules")
    if not script.definition.annotations.observes_generation:
        script.features.add("mapped_generation")
    if script.definition.annotations.observes_generation_later:
        script.features.add("later_generation")
    if fields.keys() & {"failing", "transitional", "runs"}:
        script.features.add("meanings")
    if definition.status and definition.status.completes:
        script.features |= {"completes"} if "outcomes" in fields else {"completes", "ends"}
    body = "".join(f"  {field} = {value},\n" for field, value in fields.items())
    script.add(f"local kind = {{\n{body}}}")
    script.add("function AggregateStatus(obj, items)\n  return aggregated(kind, obj, items or {})\nend")


def _required_empty(definition: Definition) -> Iterator[str]:
    """Yield the requirements of parts of a status that may be empty, and that no rule leaves out."""
    annotations = definition.annotations
    for path, value in annotations.required_status.items():
        if has_empty(value):
            yield f"annotation required-status: {SchemaPath(path).jq}"
    kind = catalogue_schemas().get(definition.gvk)
    left_out = [path for path, rule in annotations.aggregate.items() if rule in OF_NO_CLUSTER]
    for part in may_be_empty(below(kind.schema, "status")) if kind else ():
        if not any(part.names[: len(path)] == path for path in left_out):
            yield f"the CRD requires {part.jq}, which"


def _fields(script: OperationScript) -> dict[str, str]:
    """Return the fields of the kind that the library reads, apart from empty ones."""
    definition = script.definition
    rules = definition.annotations.aggregate
    worst_first = _worst_first(definition)
    ended = ENDED_CONTAINERS.get(definition.gvk)
    fields = {
        "statuses_of": matched_status(script, frozenset(Status) - {Status.UNDEFINED}),
        "worst_first": lua_value(worst_first),
        "undefined": quoted(str(worst_first.index(Status.UNDEFINED) + 1)),
        "rules": _functions(rules),
        "removed": _fields_with(rules, OF_NO_CLUSTER),
        "removed_paths": _removed_paths(rules),
        "kept": _fields_with(rules, {AggregateRule.OMIT}),
        "counters": _fields_with(rules, {AggregateRule.COUNTER}),
        "kept_paths": _kept_paths(rules),
        "sums": _fields_with(rules, ADDING_UP),
        "of_cluster": _fields_with(rules, OF_A_CLUSTER),
        "anywhere": _fields_with(rules, {AggregateRule.ANY}, ("status", "conditions")),
        "later": _later(script),
        "required": _required(definition),
        "outcomes": _outcomes(definition),
        "ended_containers": script.function(ended, "ended containers", "list") if ended else "",
        "is_suspended": _suspended(script),
        "completions": _completions(script),
        "state_fields": _state_fields(definition),
        **_condition_fields(definition.status),
    }
    return {field: value for field, value in fields.items() if value and (field in _ALWAYS or value != "{}")}


def _worst_first(definition: Definition) -> list[JSON]:
    statuses = {Status.UNDEFINED}
    if definition.status:
        statuses.update(dict(definition.status.mappings))
    return sorted(statuses, key=ranks(definition))


def _functions(rules: Mapping[PathPattern, AggregateRule]) -> str:
    """Return the functions that reduce the values at paths. Fields that are removed from each status have none."""
    functions = [f"[{quoted(_key(path))}] = {_FUNCTIONS[rule]}" for path, rule in rules.items() if rule in _FUNCTIONS]
    return f"{{{', '.join(functions)}}}"


def _is_nested(path: PathPattern) -> bool:
    return path[:-1] != ("status",)


def _removed_paths(rules: Mapping[PathPattern, AggregateRule]) -> str:
    paths: list[JSON] = []
    for path, rule in rules.items():
        if rule in OF_NO_CLUSTER and _is_nested(path):
            paths.append([step or "[]" for step in path[1:]])
    return lua_value(paths)


def _kept_paths(rules: Mapping[PathPattern, AggregateRule]) -> str:
    paths: list[JSON] = []
    for path, rule in rules.items():
        if rule in OF_TEMPLATE and _is_nested(path) and None not in path:
            paths.append({"path": [*path[1:]], "is_counter": rule is AggregateRule.COUNTER})
    return lua_value(paths)


def _later(script: OperationScript) -> str:
    later = script.definition.annotations.later_status
    functions = [f"[{quoted(one.name)}] = {script.function(one.older, one.name, 'first')}" for one in later]
    return f"{{{', '.join(functions)}}}"


def _required(definition: Definition) -> str:
    required = definition.annotations.required_status
    return lua_value([{"path": path[1:], "value": value} for path, value in required.items()])


def _outcomes(definition: Definition) -> str:
    meanings = _meanings(definition.status)
    outcomes: list[JSON] = []
    for name, announcement in definition.annotations.outcomes.items():
        is_failure = not FAILING.isdisjoint(meanings.get((name, "True"), ()))
        outcomes.append({"name": name, "announcement": announcement, "is_failure": is_failure})
    return lua_value(outcomes)


def _completions(script: OperationScript) -> str:
    entries = []
    for rule in script.definition.annotations.completions:
        done, of = script.function(rule.done, "done", "first"), script.function(rule.of, "wanted", "first")
        entries.append(f"{{done = {done}, of = {of}}}")
    return f"{{{', '.join(entries)}}}"


def _state_fields(definition: Definition) -> str:
    """Return the fields of a status that its mappings read, "" if they may read all of them."""
    projection = Projection()
    status_match_reads(definition, projection)
    of_status = projection.at("status")
    return "" if projection.is_whole or of_status.is_whole else _set(sorted(of_status.fields))


def _fields_with(
    rules: Mapping[PathPattern, AggregateRule],
    selected_rules: Container[AggregateRule],
    parent: PathPattern = ("status",),
) -> str:
    """Return the set of the fields of the status itself, or of another one, with some rules."""
    return _set([path[-1] or "" for path, rule in rules.items() if rule in selected_rules and path[:-1] == parent])


def _condition_fields(rules: StatusRules | None) -> dict[str, str]:
    """Return what conditions mean to the definition, as sets of their types or of their types and statuses."""
    meanings = _meanings(rules)
    fields = {
        "hold_while_there": "{}",
        "mapped": _set(sorted({name for name, _ in meanings})),
        "means": _statuses_by_type(meanings),
        "failing": _meaning(meanings, lambda means: means & FAILING),
        "transitional": _meaning(meanings, lambda means: means <= TRANSITIONAL),
        "waiting": _set(_types(meanings, lambda means: means <= TRANSITIONAL, "Unknown")),
    }
    if rules is None:
        return fields
    if rules.hold_while_there and meanings:
        fields["hold_while_there"] = "true"
    completed = dict(rules.mappings).get(Status.COMPLETED, ())
    if not completed:
        return fields
    fields["ending"] = _set(_types(meanings, lambda means: means & UNTIL_THE_END))
    running = _types(meanings, lambda means: Status.RUNNING in means)
    fields["runs"] = _set([name for name in running if "running" in name.lower()])
    if all(matcher.conditions or matcher.phase for matcher in completed):
        fields["completing"] = _set(_types(meanings, lambda means: Status.COMPLETED in means))
    return fields


def _statuses_by_type(meanings: _Meanings) -> str:
    """Return the set of statuses that each type of condition may mean."""
    by_type: dict[str, list[str]] = {}
    for (name, _), means in meanings.items():
        by_type.setdefault(name, []).extend(means)
    sets = [f"{key_text(name)} = {_set(sorted({*statuses}))}" for name, statuses in sorted(by_type.items())]
    return f"{{{', '.join(sets)}}}"


def _types(meanings: _Meanings, holds: Callable[[set[Status]], object], of_status: str = "") -> list[str]:
    """Return the types of conditions with such a meaning, in any status or only in one."""
    types = set[str]()
    for (name, status), means in meanings.items():
        if holds(means) and of_status in ("", status):
            types.add(name)
    return sorted(types)


def _meanings(rules: StatusRules | None) -> _Meanings:
    meanings: dict[tuple[str, str], set[Status]] = {}
    if rules is None:
        return meanings
    for status, matchers in rules.mappings:
        for matcher in matchers:
            for condition in matcher.conditions:
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
