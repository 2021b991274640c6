"""Health of Argo CD from the status definition of a Karta: ``resource.customizations`` of the ConfigMap argocd-cm.

Argo CD runs one script for a group and kind in a Lua VM with the libraries base, table and os. The other libraries
require ``useOpenLibs`` (``util/lua`` of Argo CD). The script reads the global ``obj`` and returns a table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import JSON, grouped
from karta_interpreter.definitions.karta import FAILING, ConditionsRule, Definition, Status, StatusRules
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export.interpretation import asks_for_rest, matched_status, possible_statuses, tells_of_rest
from karta_interpreter.export.library import words_of
from karta_interpreter.export.lua import quoted
from karta_interpreter.export.script import OperationScript, lua_value

# The libraries of Lua that scripts use, and that Argo CD opens on request.
_OPEN_LIBS: Final = {"string", "math"}
_ENTRY: Final = "resource.customizations."
_MOVING: Final = frozenset({Status.RUNNING, Status.INITIALIZING, Status.DEGRADED, Status.SUSPENDING})
"""The statuses of an object that does not rest yet."""


def argocd_health(*versions: Definition) -> dict[str, str]:
    """Return the entries of the ConfigMap for a kind: Argo CD has one health script for all versions of it.

    The second entry has Argo CD open the libraries of Lua, for scripts that need them.

    Failed and Degraded are Degraded, also where the definition counts them as healthy because no move would help.
    docs/gitops.md has the other verdicts. Healthy implies that the object is healthy to Karmada. An object of a version
    that is not given is judged as one of the last version. Raises ExportError with the field, the expression and the
    reason if a script cannot give the same answer.
    """
    gvk = versions[-1].gvk
    names = " and ".join(definition.name for definition in versions)
    made_from = f"the {'Kartas' if len(versions) > 1 else 'Karta'} {names}"
    scripts = _scripts_by_version(versions)
    *_, last = scripts
    script = scripts[last]
    if len(set(scripts.values())) > 1:  # the script chooses by the version of the object
        checks = "\n".join(f"checks[{quoted(name)}] = function()\n{text}end\n" for name, text in scripts.items())
        script = f"local checks = {{}}\n\n{checks}\nreturn (checks[obj.apiVersion] or checks[{quoted(last)}])()\n"
    text = f"-- The health of {gvk.kind} to Argo CD, made from {made_from}.\n\n{script}"
    name = f"{gvk.group}_{gvk.kind}" if gvk.group else gvk.kind
    open_libs = {} if _OPEN_LIBS.isdisjoint(words_of(text)) else {f"{_ENTRY}useOpenLibs.{name}": "true"}
    return {f"{_ENTRY}health.{name}": text, **open_libs}


def by_kind(definitions: Iterable[Definition]) -> list[Sequence[Definition]]:
    """Return definitions, those with the same group and kind together."""
    return list(
        grouped(((definition.gvk.group, definition.gvk.kind), definition) for definition in definitions).values()
    )


def _scripts_by_version(versions: Sequence[Definition]) -> Mapping[str, str]:
    """Return the script of each definition by its ``apiVersion``. With several, an ExportError names the version."""
    scripts = dict[str, str]()
    for definition in versions:
        name = definition.gvk.api_version
        try:
            _refuse_unfollowed(definition)
            scripts[name] = _health_script(definition)
        except ExportError as error:
            if len(versions) == 1:
                raise
            raise ExportError(f"{name}: {error}") from error
    return scripts


def _refuse_unfollowed(definition: Definition) -> None:
    """Raise ExportError if no check of Argo CD can judge health as Karmada does."""
    if definition.scripts.of(Operation.INTERPRET_HEALTH):
        raise ExportError("annotation lua: its script answers InterpretHealth, and a check has no functions of Karmada")
    if definition.status is None and definition.annotations.health is None:
        raise ExportError("statusDefinition: there is none, and nothing to judge health by")


def _health_script(definition: Definition) -> str:
    script = OperationScript(definition)
    statuses = matched_status(script)
    verdict = "\n".join(_verdict(script))
    script.add(
        f"-- The health, and the statuses that decide on it.\nlocal function health_of(obj, statuses)\n{verdict}\nend"
    )
    message = _message(script)
    script.add(
        f"local statuses = {statuses}(obj)\n"
        "local health, deciding = health_of(obj, statuses)\n"
        'local rests = health == "Healthy" and statuses.Suspended and "Suspended"\n'
        f"return {{status = health, message = rests or {message}(obj, statuses, deciding)}}"
    )
    return script.text()


def _verdict(script: OperationScript) -> Iterator[str]:
    """Yield the lines that give the health by the statuses of an object."""
    definition = script.definition
    mapped = possible_statuses(definition.status)
    named = definition.annotations.healthy_statuses
    counted_as_healthy = {Status.RUNNING, Status.COMPLETED} if named is None else named
    # A person looks at what the operator calls a trouble, also where a move would not help.
    trouble = [status for status in Status if status in FAILING and status in mapped]
    suspended = [status for status in (Status.SUSPENDED, Status.SUSPENDING) if status in mapped]
    healthy = [status for status in (*mapped, Status.UNDEFINED) if status in counted_as_healthy]
    rests = Status.SUSPENDED in mapped and (named is None or Status.SUSPENDED in named)
    unless_at_rest = "not statuses.Suspended and " if rests else ""
    at_rest = list(_at_rest(script, mapped))
    if not tells_of_rest(definition):  # its operator does not look at the object, and its status stays old
        yield from at_rest
        at_rest = []
    if definition.shows_generation:
        # A status of an older generation shows only a failure.
        yield "  if is_stale(obj) then"
        yield from _returns("Degraded", trouble, when=unless_at_rest, indent=4)
        yield '    return "Progressing", {}'
        yield "  end"
    if definition.annotations.health is None:
        yield from _returns("Degraded", trouble, when=unless_at_rest)
        yield from at_rest
        yield from _returns("Suspended", suspended)
        yield from _returns("Healthy", healthy)
    else:
        function = script.function(definition.annotations.health, "is healthy", "first")
        yield f"  local healthy = {function}(obj)"
        yield '  if type(healthy) ~= "boolean" then error("the annotation health must give true or false", 0) end'
        yield from _returns("Degraded", trouble, when="not healthy and ")
        yield from at_rest
        yield from _returns("Suspended", suspended)
        yield f'  if healthy then return "Healthy", {lua_value(healthy)} end'
    unmapped = [status for status in mapped if status not in {*trouble, *suspended, *healthy}]
    yield f'  return "Progressing", {lua_value(unmapped)}'


def _at_rest(script: OperationScript, mapped: Sequence[Status]) -> Iterator[str]:
    """Yield the lines for an object that rests as it asks: a sync of Argo CD waits for Healthy or Degraded."""
    if Status.SUSPENDED not in mapped or not (asked := asks_for_rest(script)):
        return
    # Where a status tells of rest, what else it tells says that the object does not rest yet.
    moving = _MOVING if tells_of_rest(script.definition) else {Status.SUSPENDING}
    unless = [f" and not statuses.{status}" for status in mapped if status in moving]
    yield f"  if statuses.Suspended{''.join(unless)} and {asked} then"
    yield '    return "Healthy", {"Suspended"}'
    yield "  end"


def _returns(health: str, statuses: Sequence[Status], *, when: str = "", indent: int = 2) -> Iterator[str]:
    """Yield the line that returns a health if an object has one of some statuses."""
    if statuses:
        names = lua_value(statuses)
        yield f'{" " * indent}if {when}has_any(statuses, {names}) then return "{health}", {names} end'


def _message(script: OperationScript) -> str:
    """Write the function that names the statuses, with the message of the condition that decided. Return its name."""
    rules = script.definition.status
    names = [*possible_statuses(rules), Status.UNDEFINED]
    lines = [
        "local function message_of(obj, statuses, deciding)",
        "  local names = {}",
        f"  for _, name in ipairs({lua_value(names)}) do",
        "    if statuses[name] then names[#names + 1] = name end",
        "  end",
        '  local message = table.concat(names, ", ")',
    ]
    if script.definition.shows_generation:
        lines.append('  if is_stale(obj) then return message .. " in an older generation" end')
    if rules and rules.conditions:
        lines += _condition_message(script, rules, rules.conditions)
    script.add("\n".join([*lines, "  return message", "end"]))
    return "message_of"


def _condition_message(script: OperationScript, rules: StatusRules, rule: ConditionsRule) -> Iterator[str]:
    """Yield the lines that return the message of the first condition that makes a deciding status."""
    query = script.list_of(rule.query, "conditions")
    yield "  local conditions_of = {"
    for status, matchers in rules.mappings:
        conditions: list[JSON] = []
        for matcher in matchers:
            for condition in matcher.conditions:
                expected = {"type": condition.type, "status": condition.status, "reason": condition.reason}
                conditions.append({field: text for field, text in expected.items() if text})
        if conditions:
            yield f"    {status} = {lua_value(conditions)},"
    yield "  }"
    yield f"  local by_type = conditions_by_type({query}(obj), {quoted(rule.type_field)})"
    yield "  for _, name in ipairs(deciding) do"
    yield "    for _, expected in ipairs(statuses[name] and conditions_of[name] or {}) do"
    yield "      local condition = by_type[expected.type]"
    for field, path in (("status", rule.status_field), ("reason", rule.reason_field)):
        message = f"peek(condition, {quoted(path)})"
        yield f"      local has_{field} = expected.{field} == nil or {message} == expected.{field}"
    yield f"      local text = text_or_nil(peek(condition, {quoted(rule.message_field)}))"
    yield '      if has_status and has_reason and text and text ~= "" then return message .. ": " .. text end'
    yield "    end"
    yield "  end"
