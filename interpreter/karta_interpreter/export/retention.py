"""The script of Retain.

A path that leads only through objects is the same in both objects, so the script contains the path. It contains the
functions that match elements of lists only for fields in lists and at computed places.
"""

from collections.abc import Iterable, Mapping

from karta_interpreter.base.errors import ExportError
from karta_interpreter.definitions.karta import (
    Definition,
    Immutable,
    KeepQuantityFormat,
    Once,
    PodTemplate,
    Retained,
    RetainedCount,
    RetainRule,
    Unset,
)
from karta_interpreter.definitions.karta.expressions import reads_object
from karta_interpreter.engine.operations import resumed_values, switches
from karta_interpreter.export.lua import (
    Expression,
    Name,
    call,
    constant,
    key_text,
    laid_out,
    list_of,
    negated,
    operation,
    quoted,
    table,
    table_of,
    text,
    written,
)
from karta_interpreter.export.paths import Guarded, guarded_paths, plain_path
from karta_interpreter.export.pod_sets import bounds_of, has_lone_count, has_plain_count, lone_component, lone_pod_sets
from karta_interpreter.export.script import OperationScript, lua_value
from karta_interpreter.export.traits import has_empty, hint_of
from karta_interpreter.languages.jq import Query, sources


def retain(script: OperationScript) -> None:
    """Write ``Retain``."""
    definition = script.definition
    rules = definition.annotations.retained
    # A template without kept fields is still the original.
    all_switches = switches(definition.components)
    original = "copy(desired)" if rules or all_switches else "desired"
    lines = [f"  local pairing = {{desired = desired, observed = observed, original = {original}}}"]
    is_plain = _is_plain(definition)
    if not is_plain:
        script.features.add("lists")
        lines = _pairing(script)
    resumed = resumed_values(definition.components)
    keep = "keep_switches_at" if is_plain else "keep_switches"
    for query in all_switches:
        lines += _indented(_calls(script, keep, query, "switch", lua_value(resumed.get(query))))
    counts = _counts(script)
    if counts:
        lines.append(f"  {counts}")
    lines += _queue(script)
    lines += _rules(script, counts)
    script.add(laid_out(["function Retain(desired, observed)", *lines, "  return desired", "end"]))


def _rules(script: OperationScript, counts: str) -> list[str]:
    rules, lines = script.definition.annotations.retained, list[str]()
    if any(isinstance(rule, Immutable) for rule in rules):
        lines += ["  pairing.asked = copy(desired)", "  pairing.asked.status = observed.status"]
    if rules and counts:
        lines.append("  local is_changed = false")
    for rule in rules:
        statements = _rule(script, rule)
        if counts:
            statements = [f"is_changed = {call} or is_changed" for call in statements]
        if isinstance(rule, Retained) and rule.condition:
            condition = f"unless_broken({script.function(rule.condition, 'is owned', 'first')}, observed)"
            statements = [f"if {condition} then", *_indented(statements), "end"]
        lines += _indented(statements)
    if rules and counts:
        lines.append(f"  if is_changed then {counts} end")
    return lines


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _is_plain(definition: Definition) -> bool:
    """Return whether each field of the member is at a certain path, and none is in a list with elements to match."""
    for query in switches(definition.components):
        paths = guarded_paths(query.node)
        if not paths or any(path.condition for path in paths):
            return False
    for rule in definition.annotations.retained:
        if not guarded_paths(rule.place.node):
            return False
    return all(guarded_paths(fields.query.node, may_be_null=True) for fields in definition.queued)


def _pairing(script: OperationScript) -> list[str]:
    finders: list[str] = []
    for component in script.definition.components:
        if component.instance_ids is not None:
            fields = [f"ids = {script.function(component.instance_ids, f'{component.name} ids', 'places')}"]
            if isinstance(component.pods, PodTemplate):
                fields.append(
                    f"pods = {script.function(component.pods.query, f'{component.name} templates', 'places')}"
                )
            finders.append(f"{{{', '.join(fields)}}}")
    if finders:
        script.features.add("instances")
    return [f"  local pairing = pairing_of({{{', '.join(finders)}}}, desired, observed)"]


def _calls(script: OperationScript, function: str, query: Query, name: str, *arguments: str) -> list[str]:
    """Return the calls of a function of the library for the fields of an expression."""
    if "lists" in script.features:
        return [_call(function, script.function(query, name, "places"), *arguments)]
    calls: list[str] = []
    for path in guarded_paths(query.node, may_be_null=True) or ():
        condition = _condition(script, path, name)
        calls.append(_call(function, _keys(path), *arguments, condition))
    return calls


def _call(function: str, *arguments: str) -> str:
    """Return a call without the arguments at its end that are nil."""
    given = list(arguments)
    while given[-1] == "nil":
        given.pop()
    return f"{function}(pairing, {', '.join(given)})"


def _keys(guarded: Guarded) -> str:
    return table_of([path.keys for path in guarded.paths])


def _condition(script: OperationScript, guarded: Guarded, name: str) -> str:
    if not guarded.condition:
        return "nil"
    script.features.add("conditions")
    return script.function(Query.compile(guarded.condition), f"keeps {name.partition(' ')[2]}", "condition")


def _counts(script: OperationScript) -> str:
    """Write what keeps the counts takes, and return the call."""
    leaves = script.definition.counted
    counts = [query for leaf in leaves for query in (leaf.replicas, leaf.min_replicas) if query]
    if not any(reads_object(query.node) for query in counts):
        return ""
    bounds = {leaf.name: _fields(leaf.min_replicas) for leaf in leaves if leaf.min_replicas}
    if all(has_plain_count(script, leaf) for leaf in leaves) and "" not in bounds.values():
        return _plain_counts(script, bounds)
    if all(has_lone_count(script, leaf) for leaf in leaves):
        return f"keep_counts({lone_pod_sets(script, asked=True)}, pairing, {_places(script)})"
    return f"keep_counts({script.components()}, pairing)"


def _plain_counts(script: OperationScript, bounds: Mapping[str, str]) -> str:
    """Return the call for counts at paths through objects. ``bounds``: the paths that each lower bound reads."""
    _pods_of(script)
    paths = {
        leaf.name: path.keys
        for leaf in script.definition.counted
        if leaf.replicas and (path := plain_path(leaf.replicas.node))
    }
    if not paths:
        return "keep_counts_at({}, pods_of, pairing)"
    script.features.add("counts")
    script.add(f"local count_paths = {_table_of_components(paths)}")
    if not bounds:
        return "keep_counts_at(count_paths, pods_of, pairing)"
    # If a bound is unset, the Karta also reads the pods, and fails if one is not a pod.
    script.features.add("bounded_counts")
    script.add(f"local bounds = {_table_of_components(bounds)}")
    return "keep_counts_at(count_paths, pods_of, pairing, bounds)"


def _pods_of(script: OperationScript) -> None:
    """Write the function that returns the pods of each component, or of one, without counts if it asks for none."""
    leaves = script.definition.counted
    lines = ["local function pods_of(obj, only, is_asked)", "  local found = {}"]
    for leaf in leaves:
        own = [*lone_component(script, leaf, lambda pods: f"found[{pods.name}] = is_asked or {pods.replicas}")]
        if limits := bounds_of(script, leaf):
            checks = [f"      count({quoted(leaf.name)}, {value})" for value in limits.values()]
            own[-1:-1] = ["    if not is_asked then", *checks, "    end"]
        if len(leaves) > 1:
            own = [f"  if not only or only == {quoted(leaf.name)} then", *_indented(own), "  end"]
        lines += own
    script.add("\n".join([*lines, "  return found", "end"]))


def _table_of_components(values: Mapping[str, str]) -> str:
    return table_of([f"{key_text(name)} = {value}" for name, value in values.items()])


def _places(script: OperationScript) -> str:
    """Write the table of the functions that give the places of each component's count, and return its name."""
    entries: list[str] = []
    for leaf in script.definition.counted:
        queries = {"replicas": leaf.replicas, "minimum": leaf.min_replicas}
        functions = [
            script.function(query, f"{leaf.name} {field}", "place") for field, query in queries.items() if query
        ]
        entries.append(f"[{quoted(leaf.name)}] = {{{', '.join(functions)}}}")
    script.add(f"local count_places = {table_of(entries)}")
    return "count_places"


def _fields(query: Query) -> str:
    """Return the paths of all fields of an expression, or nothing if it contains anything else, or conditions."""
    node = sources(query.node)
    guarded = guarded_paths(node) if node else None
    return _keys(guarded[0]) if guarded and len(guarded) == 1 and not guarded[0].condition else ""


def _queue(script: OperationScript) -> list[str]:
    definition = script.definition
    labels = definition.annotations.queue_labels
    if not definition.suspend or not labels:
        return []
    lines: list[str] = []
    for component in definition.components:
        resumed = resumed_values([component])
        for query in switches([component]):
            value = resumed.get(query)
            if has_empty(value):  # Karmada drops it if a script makes it
                raise ExportError(
                    f"resumeActions, `{query.text}`: Lua has one value for an empty object and an empty list"
                )
            lines += _calls(script, "keep_place", query, "switch", lua_value(value))
    added: dict[bool, list[str]] = {True: [], False: []}
    for fields in definition.queued:
        name = f"queued {_last_field(fields.query)}"
        added[fields.while_held] += _calls(script, "keep_added_fields", fields.query, name, str(fields.missing))
    lines += added[True]
    if added[False]:
        held = written(negated(_is_held(script)))
        is_started = 'peek(observed, "status", "startTime") ~= nil'
        lines += [f"if {held} or {is_started} then", *_indented(added[False]), "end"]
    queues: list[str] = []
    tests: list[str] = []
    for name in labels:
        queue = script.new("queue")
        queues.append(f'local {queue} = peek(desired, "metadata", "labels", {quoted(name)})')
        tests.append(f'type({queue}) == "string" and {queue} ~= ""')
    return _indented([*queues, f"if {' or '.join(tests)} then", *_indented(lines), "end"])


def _is_held(script: OperationScript) -> Expression:
    actions, observed = script.definition.suspend, Name("observed")
    if "lists" in script.features:
        held: list[Expression] = []
        for action in actions:
            places = script.function(action.path, "switch", "places")
            held.append(table(find=Name(places), value=constant(action.value)))
        return call("is_switched_off", observed, list_of(held))
    equalities: list[Expression] = []
    for action in actions:
        value = constant(action.value)
        for guarded in guarded_paths(action.path.node) or ():
            for path in guarded.paths:
                field = call("peek", observed, *map(text, path.steps))
                if isinstance(action.value, dict | list | tuple):
                    equalities.append(call("equal", field, value))
                else:
                    equalities.append(operation("==", field, value))
    return operation("and", *equalities)


def _rule(script: OperationScript, rule: RetainRule) -> list[str]:
    if isinstance(rule, Once):
        return [f"send_once(pairing, {table_of([quoted(str(step)) for step in rule.path])}, {quoted(rule.note)})"]
    name = f"retained {_last_field(rule.place)}"
    if isinstance(rule, Retained):
        if rule.drops:
            script.features.add("drops")
        return _calls(script, "keep_place", rule.place, name, lua_value(rule.absent), "true" if rule.drops else "nil")
    if isinstance(rule, Immutable):
        return _immutable(script, rule, name)
    if isinstance(rule, RetainedCount):
        return _calls(script, "keep_replicas", rule.place, name)
    adapted = "respelled" if isinstance(rule, KeepQuantityFormat) else _unset(script, rule)
    return _calls(script, "adapt_place", rule.place, name, adapted)


def _immutable(script: OperationScript, rule: Immutable, name: str) -> list[str]:
    is_changeable = rule.word == "changeable"
    if is_changeable and any(component.instance_ids for component in script.definition.components):
        raise ExportError("retain: a script finds the places of `changeable` by names, and not by ids of instances")
    condition = script.function(rule.condition, "applies", "first", "value") if rule.condition else "nil"
    word = "nil" if rule.word in ("immutable", "owned") else quoted(rule.word)
    return _calls(script, "exchange", rule.place, name, condition, word)


def _last_field(query: Query) -> str:
    """Return a name for the outputs of an expression: the field at its end."""
    return hint_of(query.node).rpartition("/")[2]


def _unset(script: OperationScript, rule: Unset) -> str:
    """Return the function that completes a value that the template may leave unset."""
    name = script.new("completed")
    lines = [f"local function {name}(ours, theirs, owner)"]
    condition = script.function(rule.condition, "is kept", "first", "value") if rule.condition else ""
    if rule.by is not None:
        key = script.list_of(rule.by, "key", "value")
        kept = f", {condition}" if condition else ""
        lines += [
            f"  local key_of_element = function(value) return identity_of({key}(value)) end",
            f"  local found = merged_elements(ours, theirs, key_of_element{kept})",
            "  if found == nil or found == false or (is_empty(found)) then return ours end",
            "  return found",
        ]
    else:
        if condition:
            lines.append(f"  if not (unless_broken({condition}, theirs)) then return ours end")
        lines.append('  if ours == "" then ours = nil end')
        if rule.value is not None:
            value = script.function(rule.value, "value instead", "first", "value")
            lines += ["  if ours ~= nil then return ours end", f"  return ((unless_broken({value}, owner)))"]
        else:
            lines.append("  return filled(ours, theirs)")
    script.add("\n".join([*lines, "end"]))
    return name
