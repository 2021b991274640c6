"""The scripts of the operations that only read: what `operations` answers, in Lua."""

from json import loads

from karta_interpreter.export.script import Script
from karta_interpreter.export.writer import is_key, quoted
from karta_interpreter.karta.annotations import ExtraDependency, MadeClaims, MorePods
from karta_interpreter.karta.status_rules import Matcher, Status, StatusRules
from karta_interpreter.operations.interpret_health import healthy_statuses

_TROUBLE = (Status.FAILED, Status.DEGRADED)


def replica(script: Script) -> None:
    """``GetReplicas``."""
    components = script.components()
    script.add(f"function GetReplicas(obj)\n  return replicas_and_requirements(pod_sets({components}, obj))\nend")


def component(script: Script) -> None:
    """``GetComponents``."""
    components = script.components()
    script.add(f"function GetComponents(obj)\n  return components_of(pod_sets({components}, obj))\nend")


def dependency(script: Script) -> None:
    """``GetDependencies``."""
    rules = script.definition.annotations.dependencies
    made = [script.list_of(rule.volumes, "made claims") for rule in rules if isinstance(rule, MadeClaims)]
    more = [script.list_of(rule.templates, "more pods") for rule in rules if isinstance(rule, MorePods)]
    named = [_named(script, rule) for rule in rules if isinstance(rule, ExtraDependency)]
    lines = [
        "function GetDependencies(obj)",
        '  local found, namespace = {}, text_or_nil(peek(obj, "metadata", "namespace")) or ""',
    ]
    has_pods = bool(script.definition.leaves or more)
    if has_pods:
        lines.append("  local made = {}")
    for function in made:
        lines += [f"  for _, name in ipairs(texts({function}(obj))) do", "    made[name] = true", "  end"]
    if script.definition.leaves:
        components = script.components(counted=False)
        lines += [
            f"  for _, template in ipairs(pod_templates({components}, obj)) do",
            "    add_pod_dependencies(found, template, namespace, made)",
            "  end",
        ]
    for function in more:
        lines += [
            f"  for _, template in each(limited({function}(obj))) do",
            "    if template ~= nil then add_pod_dependencies(found, template, namespace, made) end",
            "  end",
        ]
    for line in named:
        lines += line
    script.add("\n".join([*lines, "  return found", "end"]))


def _named(script: Script, rule: ExtraDependency) -> list[str]:
    names = script.list_of(rule.name, f"{rule.kind} names")
    place = "namespace"
    if rule.namespace is not None:
        place = f"texts({script.list_of(rule.namespace, f'{rule.kind} namespace')}(obj))[1] or namespace"
    return [
        f"  for _, name in ipairs(texts({names}(obj))) do",
        f"    add_reference(found, {quoted(rule.api_version)}, {quoted(rule.kind)}, {place}, name)",
        "  end",
    ]


def status(script: Script) -> None:
    """``ReflectStatus``."""
    observes = script.definition.annotations.observes_generation
    reflect = "reflected_status" if observes else "status_without_generation"
    script.add(f"function ReflectStatus(obj)\n  return {reflect}(obj)\nend")


def matched_status(script: Script) -> str:
    """Write the function that gives the statuses of an object as a set of their names, and return its name."""
    rules = script.definition.status
    lines = ["local function statuses_of(obj)", "  local found = {}"]
    if rules is None:
        script.add("local function statuses_of(obj)\n  return {Undefined = true}\nend")
        return "statuses_of"
    if rules.phase is not None:
        phase = script.inline(rules.phase)
        lines += [f"  {line}" for line in script.comment_about(rules.phase)] if phase else []
        found = f"phase_of({phase})" if phase else f"first_phase({script.list_of(rules.phase, 'phase')}(obj))"
        lines.append(f"  local phase = {found}")
    if rules.conditions is not None:
        query, field = rules.conditions.query, quoted(rules.conditions.type_field)
        conditions = script.inline(query)
        lines += [f"  {line}" for line in script.comment_about(query)] if conditions else []
        found = (
            f"conditions_of({conditions}"
            if conditions
            else f"conditions_by_type({script.list_of(query, 'conditions')}(obj)"
        )
        lines.append(f"  local by_type = {found}, {field})")
    # First of all: an expression that several statuses have would take the comment of one of them.
    notes = {
        status_: [f"  {line}" for line in script.comment_on(str(status_).lower())] for status_, _ in rules.mappings
    }
    for status_, matchers in rules.mappings:
        ways = [_matcher(script, rules, str(status_), matcher) for matcher in matchers]
        condition = (
            ways[0] if len(ways) == 1 else "\n    or ".join(f"({way})" if " and " in way else way for way in ways)
        )
        lines += [*notes[status_], f"  if {condition} then", f"    found.{status_} = true", "  end"]
    lines += ["  if next(found) == nil then found.Undefined = true end", "  return found", "end"]
    script.add("\n".join(lines))
    return "statuses_of"


def _matcher(script: Script, rules: StatusRules, status: str, matcher: Matcher) -> str:
    parts: list[str] = []
    if matcher.phase:
        parts.append(f"phase == {quoted(matcher.phase)}" if rules.phase else "false")
    for expected in matcher.conditions:
        if rules.conditions is None:
            parts.append("false")
            continue
        one = f"by_type.{expected.type}" if is_key(expected.type) else f"by_type[{quoted(expected.type)}]"
        if not expected.status and not expected.reason:
            parts.append(f"{one} ~= nil")
        if expected.status:
            parts.append(f"peek({one}, {quoted(rules.conditions.status_field)}) == {quoted(expected.status)}")
        if expected.reason:
            parts.append(f"peek({one}, {quoted(rules.conditions.reason_field)}) == {quoted(expected.reason)}")
    if matcher.expression is not None:
        function = script.condition_of(matcher.expression, f"is {status}")
        if function and matcher.expected in ("true", "false"):
            parts.append(f"{function}(obj)" if matcher.expected == "true" else f"not {function}(obj)")
        else:
            function = script.first_of(matcher.expression, f"is {status}")
            parts.append(f"{_answer(matcher.expected)}, {function}(obj))")
    return " and ".join(parts) or "true"


def _answer(expected: str) -> str:
    """Return the begin of a call that compares a result as text: that of no other value is a boolean's, or no JSON."""
    if expected in ("true", "false"):
        return f"is_answer({expected}"
    try:
        loads(expected)
    except ValueError:
        return f"is_answer({quoted(expected)}"
    return f"is_text({quoted(expected)}"


def health(script: Script) -> None:
    """``InterpretHealth``."""
    definition = script.definition
    stale = "is_stale(obj)" if definition.annotations.observes_generation else "false"
    if definition.annotations.health is not None:
        function = script.first_of(definition.annotations.health, "is healthy")
        script.add(
            f"function InterpretHealth(obj)\n  if {stale} then return false end\n"
            f"  local healthy = {function}(obj)\n"
            '  if type(healthy) ~= "boolean" then error("the annotation health must give true or false", 0) end\n'
            "  return healthy\nend"
        )
        return
    counts = healthy_statuses(definition)
    matched = matched_status(script)
    known = {Status.UNDEFINED, *(dict(definition.status.mappings) if definition.status else ())}
    stale_ones = {Status.INITIALIZING} if definition.annotations.observes_generation else set()
    healthy = [each for each in Status if each in counts and each in known | stale_ones]
    trouble = [each for each in _TROUBLE if each in known - counts]
    lines = ["function InterpretHealth(obj)", f"  local statuses = {matched}(obj)"]
    if definition.annotations.observes_generation:
        lines += [
            "  -- A status of an older generation counts as Initializing; a failure remains one.",
            "  if is_stale(obj) then",
            "    statuses = {Initializing = true, Failed = statuses.Failed, Degraded = statuses.Degraded}",
            "  end",
        ]
    holds, fails = (" or ".join(f"statuses.{each}" for each in group) for group in (healthy, trouble))
    lines.append(f"  local is_healthy = {holds or 'false'}")
    lines.append(f"  return is_healthy == true and not ({fails})" if fails else "  return is_healthy == true")
    script.add("\n".join([*lines, "end"]))
