"""The scripts of the operations that change an object: ReviseReplica and Retain."""

from karta_interpreter.export.script import Script, lua_value
from karta_interpreter.export.traits import hint_of
from karta_interpreter.export.writer import quoted
from karta_interpreter.jq import Query
from karta_interpreter.jq.syntax import Comma
from karta_interpreter.jq.syntax.traversal import terms_of
from karta_interpreter.karta.annotations import Respelled, Retained, Unset
from karta_interpreter.karta.definition import PodTemplate


def revise(script: Script) -> None:
    """``ReviseReplica``."""
    components = script.components()
    named = script.definition.annotations.elastic
    elastic = "nil"
    if named is not None:
        elastic = "{" + ", ".join(f"[{quoted(name)}] = true" for name in named) + "}"
    script.add(f"function ReviseReplica(obj, replicas)\n  return revised({components}, {elastic}, obj, replicas)\nend")


def retain(script: Script) -> None:
    """``Retain``."""
    lines = _pairing(script)
    switches = dict.fromkeys(
        action.path for part in script.definition.components for action in (*part.suspend, *part.resume)
    )
    if switches:
        finders = ", ".join(script.places_of(query, "switch") for query in switches)
        lines.append(f"  keep_unset_switches(pairing, {{{finders}}})")
    counts = _keep_counts(script)
    lines += [f"  {counts}"] if counts else []
    lines += _queue(script)
    rules = script.definition.annotations.retain
    if rules:
        lines.append("  local is_changed = false")
        lines += [f"  is_changed = {_rule(script, rule)} or is_changed" for rule in rules]
        if counts:
            lines.append(f"  if is_changed then {counts} end")
    script.add("\n".join(["function Retain(desired, observed)", *lines, "  return desired", "end"]))


def _keep_counts(script: Script) -> str:
    if not script.definition.leaves:
        return ""
    return f"keep_counts({script.components()}, pairing)"


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
            switches.append(f"{{find = {script.places_of(query, 'switch')}{value}}}")
    held = [
        f"{{find = {script.places_of(action.path, 'switch')}, value = {lua_value(action.value)}}}"
        for action in definition.suspend
    ]
    lines = [
        f"  if is_queued(desired, {lua_value(list(labels))}) then",
        f"    keep_switches(pairing, {{{', '.join(switches)}}})",
    ]
    if definition.queued:
        lines.append(f"    local is_held = is_switched_off(observed, {{{', '.join(held)}}})")
    for fields in definition.queued:
        find = script.places_of(fields.query, f"queued {_last_field(fields.query)}")
        keep = f"keep_added_fields(pairing, {find}, {fields.missing})"
        lines.append(f"    {keep}" if fields.while_held else f"    if not is_held then {keep} end")
    return [*lines, "  end"]


def _rule(script: Script, rule: Retained | Unset | Respelled) -> str:
    find = script.places_of(rule.place, f"retained {_last_field(rule.place)}")
    if isinstance(rule, Respelled):
        return f"adapt_place(pairing, {find}, respelled)"
    if isinstance(rule, Retained):
        return f"keep_place(pairing, {find}, {lua_value(rule.absent)}, {lua_value(rule.drops)})"
    return f"adapt_place(pairing, {find}, {_unset(script, rule)})"


def _last_field(query: Query) -> str:
    """Return a name for what an expression gives: the field at its end."""
    node = terms_of(query.node)[0] if isinstance(query.node, Comma) else query.node
    return hint_of(node)


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
            f"  local found = united(ours, theirs, key_of_element{kept})",
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
