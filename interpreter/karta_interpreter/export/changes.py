"""The scripts of the operations that change an object: ReviseReplica and Retain."""

from karta_interpreter.export.paths import paths_of, plain_path
from karta_interpreter.export.pods import has_one, lone_component
from karta_interpreter.export.script import Script, has_default, lua_value
from karta_interpreter.export.traits import hint_of
from karta_interpreter.export.writer import key_text, quoted
from karta_interpreter.jq import Query
from karta_interpreter.karta.annotations import Respelled, Retained, Unset
from karta_interpreter.karta.definition import Component, PodTemplate


def revise(script: Script) -> None:
    """``ReviseReplica``."""
    leaves, elastic_ones = script.definition.leaves, script.definition.annotations.elastic
    if len(leaves) == 1 and _is_plain_count(script, leaves[0]) and elastic_ones in (None, (leaves[0].name,)):
        _revise_one(script, leaves[0])
        return
    components = script.components()
    named = script.definition.annotations.elastic
    elastic = "nil"
    if named is not None:
        elastic = "{" + ", ".join(f"[{quoted(name)}] = true" for name in named) + "}"
    script.add(f"function ReviseReplica(obj, replicas)\n  return revised({components}, {elastic}, obj, replicas)\nend")


def _revise_one(script: Script, component: Component) -> None:
    """Write ``ReviseReplica`` for the only component, whose count is at one path or at none."""
    path = plain_path(component.replicas.node) if component.replicas else None
    default = path.default if path and has_default(component) else ""
    arguments = ", ".join(["obj", "replicas", "pods", *([path.keys] if path else []), *([default] if default else [])])
    lines = [
        "function ReviseReplica(obj, replicas)",
        "  local pods = nil",
        *lone_component(script, component, lambda pods: f"pods = {pods.replicas}"),
        f"  return with_pods({arguments})",
        "end",
    ]
    script.add("\n".join(lines))


def _is_plain_count(script: Script, component: Component) -> bool:
    """Whether the only pods of a component are counted at a path without lists, or by an expression without a place."""
    if not has_one(script, component) or component.min_replicas or component.max_replicas:
        return False
    query = component.replicas
    if query is None:
        return True
    path = plain_path(query.node)
    if path:
        return path.steps[0] == "spec" and not path.default.startswith('"')
    return query.is_plain and not script.has_place(query)


def retain(script: Script) -> None:
    """``Retain``."""
    has_lists = _has_lists(script)
    script.features |= {"lists"} if has_lists else set()
    lines = _pairing(script) if has_lists else ["  local pairing = {desired = desired, observed = observed}"]
    switches = dict.fromkeys(
        action.path for part in script.definition.components for action in (*part.suspend, *part.resume)
    )
    if switches and has_lists:
        finders = ", ".join(script.places_of(query, "switch") for query in switches)
        lines.append(f"  keep_unset_switches(pairing, {{{finders}}})")
    else:
        lines += [f"  keep_unset_paths(pairing, {script.keys_of(query, 'switch')})" for query in switches]
    are_plain = all(_is_plain_count(script, leaf) for leaf in script.definition.leaves)
    counts = _keep_counts_at(script) if are_plain else _keep_counts(script)
    lines += [f"  {counts}"] if counts else []
    lines += _queue(script)
    rules = script.definition.annotations.retain
    if rules:
        lines.append("  local is_changed = false")
        lines += [f"  is_changed = {_rule(script, rule)} or is_changed" for rule in rules]
        if counts:
            lines.append(f"  if is_changed then {counts} end")
    script.add("\n".join(["function Retain(desired, observed)", *lines, "  return desired", "end"]))


def _has_lists(script: Script) -> bool:
    """Whether a field of the member may be in a list, whose elements have to be matched, or at no certain path."""
    definition = script.definition
    actions = [action.path for part in definition.components for action in (*part.suspend, *part.resume)]
    places = [rule.place for rule in definition.annotations.retain]
    queries = (*actions, *places, *(fields.query for fields in definition.queued))
    return not all(
        (paths := paths_of(query.node)) and all(path.is_plain and not path.default for path in paths)
        for query in queries
    )


def _find(script: Script, query: Query, name: str) -> str:
    return script.places_of(query, name) if "lists" in script.features else script.keys_of(query, name)


def _keep_counts(script: Script) -> str:
    if not script.definition.leaves:
        return ""
    return f"keep_counts({script.components()}, pairing)"


def _keep_counts_at(script: Script) -> str:
    """Write the function that gives the components whose pods exist, and return the call that keeps their counts."""
    leaves = script.definition.leaves
    if not leaves:
        return ""
    lines = ["local function pods_of(obj, only)", "  local found = {}"]
    counts: dict[str, str] = {}
    for leaf in leaves:
        own = lone_component(script, leaf, lambda pods: f"found[{pods.name}] = only or {pods.replicas}")
        if len(leaves) == 1:
            lines += own
        else:
            lines += [f"  if not only or only == {quoted(leaf.name)} then", *(f"  {line}" for line in own), "  end"]
        if leaf.replicas and (path := plain_path(leaf.replicas.node)):
            counts[leaf.name] = path.keys
    script.add("\n".join([*lines, "  return found", "end"]))
    paths = ", ".join(f"{key_text(name)} = {keys}" for name, keys in counts.items())
    return f"keep_counts_at({{{paths}}}, pods_of, pairing)"


def _pairing(script: Script) -> list[str]:
    finders: list[str] = []
    for part in script.definition.components:
        if part.instance_ids is not None:
            fields = [f"ids = {script.places_of(part.instance_ids, f'{part.name} ids')}"]
            if isinstance(part.pods, PodTemplate):
                fields.append(f"pods = {script.places_of(part.pods.query, f'{part.name} templates')}")
            finders.append(f"{{{', '.join(fields)}}}")
    script.features |= {"instances"} if finders else set()
    return [f"  local pairing = pairing_of({{{', '.join(finders)}}}, desired, observed)"]


def _queue(script: Script) -> list[str]:
    definition = script.definition
    labels = definition.annotations.queue_labels
    if not definition.suspend or not labels:
        return []
    switches: list[str] = []
    for part in definition.components:
        resumed = {action.path: action.value for action in part.resume}
        for query in dict.fromkeys(action.path for action in (*part.suspend, *part.resume)):
            value = f", resumed = {lua_value(resumed[query])}" if query in resumed else ""
            switches.append(f"{{find = {_find(script, query, 'switch')}{value}}}")
    held = [
        f"{{find = {_find(script, action.path, 'switch')}, value = {lua_value(action.value)}}}"
        for action in definition.suspend
    ]
    lines = [
        f"  if is_queued(desired, {lua_value(list(labels))}) then",
        f"    keep_switches(pairing, {{{', '.join(switches)}}})",
    ]
    if definition.queued:
        lines.append(f"    local is_held = is_switched_off(observed, {{{', '.join(held)}}})")
    for fields in definition.queued:
        find = _find(script, fields.query, f"queued {_last_field(fields.query)}")
        keep = f"keep_added_fields(pairing, {find}, {fields.missing})"
        lines.append(f"    {keep}" if fields.while_held else f"    if not is_held then {keep} end")
    return [*lines, "  end"]


def _rule(script: Script, rule: Retained | Unset | Respelled) -> str:
    find = _find(script, rule.place, f"retained {_last_field(rule.place)}")
    if isinstance(rule, Respelled):
        return f"adapt_place(pairing, {find}, respelled)"
    if isinstance(rule, Retained):
        return f"keep_place(pairing, {find}, {lua_value(rule.absent)}, {lua_value(rule.drops)})"
    return f"adapt_place(pairing, {find}, {_unset(script, rule)})"


def _last_field(query: Query) -> str:
    """Return a name for the outputs of an expression: the field at its end."""
    return hint_of(query.node)


def _unset(script: Script, rule: Unset) -> str:
    """The function that completes a value that the template may leave unset."""
    name = script.new("completed")
    lines = [f"local function {name}(ours, theirs, owner)"]
    condition = script.first_of(rule.condition, "is kept", "value") if rule.condition else ""
    if rule.by is not None:
        key = script.list_of(rule.by, "key", "value")
        kept = f", function(value) return (({condition}(value))) end" if condition else ""
        lines += [
            f"  local key_of_element = function(value) return identity_of({key}(value)) end",
            f"  local found = merged_elements(ours, theirs, key_of_element{kept})",
            "  if found == nil or found == false or (is_empty(found)) then return ours end",
            "  return found",
        ]
    else:
        if condition:
            lines.append(f"  if not ({condition}(theirs)) then return ours end")
        lines.append('  if ours == "" then ours = nil end')
        if rule.value is not None:
            value = script.first_of(rule.value, "value instead", "value")
            lines += ["  if ours ~= nil then return ours end", f"  return (({value}(owner)))"]
        else:
            lines.append("  return filled(ours, theirs)")
    script.add("\n".join([*lines, "end"]))
    return name
