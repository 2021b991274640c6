"""The scripts of the operations that only read: what `operations` answers, in Lua."""

from collections.abc import Iterable, Iterator, Sequence
from json import loads

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import JSON, Projection
from karta_interpreter.definitions.karta import (
    BEYOND_REST,
    FAILING,
    MATCHING_ORDER,
    ConditionsRule,
    Definition,
    ExtraDependency,
    Matcher,
    Status,
    StatusRules,
)
from karta_interpreter.engine.operations import counted, healthy_statuses
from karta_interpreter.export.lua import AND, is_key, negated, quoted, written
from karta_interpreter.export.pod_sets import Pods, each_component, has_computed_names, has_one
from karta_interpreter.export.script import OperationScript, lua_value
from karta_interpreter.export.traits import has_empty, literal
from karta_interpreter.languages.jq import Query, take_outputs, to_text


def replica(script: OperationScript) -> None:
    """Write ``GetReplicas``."""
    leaves = script.definition.counted
    lines = ["function GetReplicas(obj)"]
    unit = script.definition.annotations.unit
    if script.definition.is_counted_by_status:
        lines += ["  return 0, nil"]
    elif unit is not None:
        lines += [*_units(script, unit), *_pod_sets(script), "  return units_and_requirements(sets, units)"]
    elif len(leaves) == 1 and has_one(script, leaves[0]):
        lines += each_component(script, lambda pods: f"return {pods.replicas}, requirements({pods.spec})", "")
        lines += ["  return 0, nil"]
    else:
        lines += [*_pod_sets(script), "  return replicas_and_requirements(sets)"]
    script.add("\n".join([*lines, "end"]))


def _units(script: OperationScript, unit: Query) -> Iterator[str]:
    """Yield the lines that count the units. An object without any is asked with one."""
    if not script.has_one_output(unit):
        raise ExportError(f"annotation unit: `{unit.text}` may give several numbers")
    yield f"  local units, place = {script.function(unit, 'unit', 'place')}(obj)"
    yield '  units = count("unit", units) or 1'
    yield "  if units == 0 then write_place(place, obj, 1) end"


def component(script: OperationScript) -> None:
    """Write ``GetComponents``."""
    leaves = script.definition.counted
    lines = ["function GetComponents(obj)"]
    if has_computed_names(script.definition):
        script.features.add("computed_names")
    if script.definition.is_counted_by_status:
        lines.append("  return {}")
    elif all(has_one(script, leaf) for leaf in leaves) and "computed_names" not in script.features:
        lines += ["  local found = {}", *each_component(script, _append_component, ""), "  return found"]
    else:
        lines += [*_pod_sets(script), "  return components_of(sets)"]
    script.add("\n".join([*lines, "end"]))


def _append_component(pods: Pods) -> str:
    fields = f"name = {pods.name}, replicas = {pods.replicas}, replicaRequirements = requirements({pods.spec})"
    return f"found[#found + 1] = {{{fields}}}"


def _pod_sets(script: OperationScript) -> Iterator[str]:
    yield "  local sets = {}"
    yield from each_component(script, _append_pod_set, "add_pod_sets(sets, {}, obj)")


def _append_pod_set(pods: Pods) -> str:
    spec = f"check_object({pods.name}, {pods.spec})"  # a set without replicas may be asked for nothing else
    fields = f'component = {pods.name}, instance = "", replicas = {pods.replicas}, spec = {spec}'
    return f"sets[#sets + 1] = {{{fields}}}"


def dependency(script: OperationScript) -> None:
    """Write ``GetDependencies``."""
    annotations = script.definition.annotations
    claims = [script.list_of(query, "made claims") for query in annotations.of_dependencies("claims")]
    more = [script.list_of(query, "more pods") for query in annotations.of_dependencies("pods")]
    named = [_named(script, rule) for rule in annotations.dependencies if isinstance(rule, ExtraDependency)]
    values = [script.list_of(query, "parameters") for query in annotations.of_dependencies("parameters")]
    if claims:
        script.features.add("made_claims")
    lines = [
        "function GetDependencies(obj)",
        '  local found, namespace = {}, type(obj.metadata) == "table" and obj.metadata.namespace',
        '  if type(namespace) ~= "string" then namespace = "" end',
    ]
    without = "made" if claims else "nil"
    if claims:
        lines.append("  local made = {}")
    for function in claims:
        lines += _attempt([f"  for _, name in ipairs(texts({function}(obj))) do", "    made[name] = true", "  end"])
    for leaf in script.definition.leaves:
        lines += _attempt(
            each_component(
                script,
                lambda pods: f"add_pod_dependencies(found, {pods.spec}, namespace, {without})",
                f"add_dependencies(found, {{}}, obj, namespace, {without})",
                (leaf,),
                counted=False,
            )
        )
    for function in more:
        lines += _attempt(
            [
                f"  for _, template in each(limited_to(10000, {function}(obj))) do",
                '    local spec = get(template, "spec")',
                f"    if spec ~= nil then add_pod_dependencies(found, spec, namespace, {without}) end",
                "  end",
            ]
        )
    for line in named:
        lines += line
    for function in values:
        lines += _attempt([f"  found = with_parameters(found, {function}(obj))"])
    script.add("\n".join([*lines, "  return followed(found, namespace)", "end"]))


def _attempt(lines: Iterable[str]) -> list[str]:
    """Return the lines of a part that names nothing more where it fails, except at a bound."""
    return ["  attempt(function()", *lines, "  end)"]


def _named(script: OperationScript, rule: ExtraDependency) -> list[str]:
    versions = " or ".join(gvk.api_version for gvk in rule.versions[1:])
    note = f"  -- Always {rule.api_version}, also where karmada-apiserver serves only {versions}: a script cannot know."
    return [*([note] if versions else []), *_named_by(script, rule)]


def _named_by(script: OperationScript, rule: ExtraDependency) -> list[str]:
    if rule.objects.variables:
        objects = " or ".join(f"${name}" for name in sorted(rule.objects.variables))
        return [f"  -- Left out: each {rule.kind} that {objects} names, an object that a script cannot read."]
    places = rule.namespace and script.list_of(rule.namespace, f"{rule.kind} namespace")
    kind = f"{quoted(rule.api_version)}, {quoted(rule.kind)}"
    if rule.by_labels:
        # With places outputs keep their nulls, and a selector with one selects nothing.
        selectors = script.function(rule.objects, f"{rule.kind} selectors", "places")
        place = f"texts({places}(obj))[1] or namespace" if places else "namespace"
        return [f"  add_selected(found, {kind}, {place}, {selectors}(obj))"]
    names = script.list_of(rule.objects, f"{rule.kind} names")
    if places:
        return _attempt([f"  add_named(found, {kind}, {names}(obj), {places}(obj), namespace)"])
    return _attempt(
        [
            f"  for _, name in ipairs(texts({names}(obj))) do",
            f"    add_reference(found, {kind}, namespace, name)",
            "  end",
        ]
    )


def status(script: OperationScript) -> None:
    """Write ``ReflectStatus``."""
    reflect = "status_with_template" if script.definition.keeps_generation else "status_without_generation"
    if script.definition.annotations.observes_generation:
        is_later = script.definition.annotations.observes_generation_later
        reflect = "delivered_status" if is_later else "reflected_status"
    script.add(f"function ReflectStatus(obj)\n  return {reflect}(obj)\nend")


def possible_statuses(rules: StatusRules | None) -> tuple[Status, ...]:
    """Return the statuses that InterpretHealth can find, in Karta's matching order."""
    if rules is None:
        return ()
    mapped = {*dict(rules.mappings), *((Status.SUSPENDED,) if rules.rest else ())}
    return tuple(status for status in MATCHING_ORDER if status in mapped)


def _check_of_words(definition: Definition) -> Iterator[str]:
    """Yield the line that fails for a state that no mapping names. What `_statuses` leaves out needs a word."""
    rules = definition.status
    if rules is None or not rules.words or (rules.phase is None and rules.conditions is None):
        return
    words = ", ".join(f"[{quoted(word)}] = true" for word in sorted(rules.words))
    phase = "phase" if rules.phase else "nil"
    types = "by_type" if rules.conditions else "{}"
    field = rules.conditions.status_field if rules.conditions else ""
    unknown = "not is_defined(statuses)"
    if not rules.completes:
        unknown += f" and not has_counter(obj.status, {lua_value(_parts(counted(definition)))})"
    yield f"  if {unknown} then check_words({{{words}}}, {phase}, {types}, {quoted(field)}) end"


def _parts(projection: Projection) -> JSON:
    """Return what of a value is read: true for all of it, or its fields, with "[]" for each part."""
    if projection.is_whole:
        return True
    elements = {} if projection.elements is None else {"[]": _parts(projection.elements)}
    return {**{name: _parts(below) for name, below in projection.fields.items()}, **elements}


def matched_status(script: OperationScript, statuses: frozenset[Status] = frozenset(Status)) -> str:
    """Write the function that gives the statuses of an object as a set of their names, and return its name."""
    lines = _statuses(script, statuses)
    script.add("\n".join(["local function statuses_of(obj)", *lines, "  return statuses", "end"]))
    return "statuses_of"


def _statuses(script: OperationScript, statuses: frozenset[Status]) -> list[str]:
    """Return the lines that make `statuses`, the set of the names of an object's statuses.

    A status that is not wanted is left out unless its mapping has an expression, which may fail. Undefined needs all.
    """
    rules = script.definition.status
    if rules is None:
        return ["  local statuses = {Undefined = true}"]
    if rules.rest is not None:
        statuses |= BEYOND_REST
    mappings = [
        (status_, matchers)
        for status_, matchers in rules.mappings
        if not statuses.isdisjoint((status_, Status.UNDEFINED)) or any(matcher.expression for matcher in matchers)
    ]
    lines = ["  local statuses = {}"]
    if rules.phase is not None:
        phase = script.inline(rules.phase)
        phase_read = f"phase_of({phase})" if phase else f"first_phase({script.list_of(rules.phase, 'phase')}(obj))"
        lines.append(f"  local phase = {phase_read}")
    if rules.conditions is not None:
        lines += _conditions(script, rules.conditions, has_statuses_alone=_has_statuses_alone(rules))
    for status_, matchers in mappings:
        condition = "\n    or ".join(_matcher(script, rules, str(status_), matcher) for matcher in matchers)
        if Status.UNDEFINED in statuses:  # a status that does not hold has to be absent
            lines += [f"  if {condition} then", f"    statuses.{status_} = true", "  end"]
        else:
            lines.append(f"  statuses.{status_} = {condition}")
    if rules.rest is not None:
        ended = " or ".join(f"statuses.{status_}" for status_ in Status if status_ in BEYOND_REST)
        rest = written(script.value_of(rules.rest, "asks for rest"), AND)
        lines.append(f"  if not ({ended}) and {rest} then statuses.Suspended = true end")
    if Status.UNDEFINED in statuses:
        lines.append("  if next(statuses) == nil then statuses.Undefined = true end")
    return lines


def asks_for_rest(script: OperationScript) -> str:
    """Return the condition that an object itself asks for the rest that it has, "" if no kind of rest is asked for.

    A rest that only a status tells is a pause that somebody has to end. A queue ends the rest of what it holds.
    """
    rules = script.definition.status
    if rules is None:
        return ""
    asked = [written(script.value_of(rules.rest, "asks for rest"), AND)] if rules.rest else []
    for matcher in () if asked else _matchers_of_rest(rules):
        query = matcher.expression
        if query and _fields_read(query) - {"status"}:
            asked = [*asked, _expression(script, query, matcher.expected, "is Suspended")]
    labels = script.definition.annotations.queue_labels if script.definition.suspend else ()
    queued = [f'(peek(obj, "metadata", "labels", {quoted(name)}) or "") == ""' for name in labels]
    return " and ".join([f"({' or '.join(asked)})", *queued]) if asked else ""


def tells_of_rest(definition: Definition) -> bool:
    """Return whether a status can tell that an object rests. The operators of others do not look at it meanwhile."""
    for matcher in _matchers_of_rest(definition.status) if definition.status else ():
        if matcher.expression is None or "status" in _fields_read(matcher.expression):
            return True
    return False


def _matchers_of_rest(rules: StatusRules) -> Sequence[Matcher]:
    return dict(rules.mappings).get(Status.SUSPENDED, ())


def _fields_read(query: Query) -> frozenset[str]:
    projection = Projection()
    take_outputs(projection, query)
    return frozenset(projection.fields)


def _has_statuses_alone(rules: StatusRules) -> bool:
    """Return whether mappings ask for nothing of conditions but their statuses."""
    expected = [condition for _, matchers in rules.mappings for matcher in matchers for condition in matcher.conditions]
    return all(condition.status and not condition.reason for condition in expected)


def _conditions(script: OperationScript, rule: ConditionsRule, *, has_statuses_alone: bool) -> list[str]:
    """Return the lines that make `by_type`: the conditions by their types, or their statuses."""
    fields = quoted(rule.type_field) + (f", {quoted(rule.status_field)}" if has_statuses_alone else "")
    conditions = script.inline(rule.query)
    if not conditions:
        outputs = f"{script.list_of(rule.query, 'conditions')}(obj)"
        return [f"  local by_type = conditions_by_type({outputs}, {fields})"]
    return [f"  local by_type = conditions_of({conditions}, {fields})"]


def _matcher(script: OperationScript, rules: StatusRules, status: str, matcher: Matcher) -> str:
    conditions: list[str] = []
    if matcher.phase:
        conditions.append(f"phase == {quoted(matcher.phase)}" if rules.phase else "false")
    for expected in matcher.conditions:
        if rules.conditions is None:
            conditions.append("false")
            continue
        one = f"by_type.{expected.type}" if is_key(expected.type) else f"by_type[{quoted(expected.type)}]"
        if _has_statuses_alone(rules):
            conditions.append(f"{one} == {quoted(expected.status or '')}")
            continue
        if not expected.status and not expected.reason:
            conditions.append(f"{one} ~= nil")
        if expected.status:
            conditions.append(f"peek({one}, {quoted(rules.conditions.status_field)}) == {quoted(expected.status)}")
        if expected.reason:
            conditions.append(f"peek({one}, {quoted(rules.conditions.reason_field)}) == {quoted(expected.reason)}")
    if matcher.expression is not None:
        conditions.append(_expression(script, matcher.expression, matcher.expected, f"is {status}"))
    return " and ".join(conditions) or "true"


def _expression(script: OperationScript, query: Query, expected: str, name: str) -> str:
    """Return the condition that an expression gives the expected output."""
    if expected in ("true", "false"):
        holds = script.condition_of(query, name)
        if holds:
            return written(holds if expected == "true" else negated(holds), AND)
    return f"{_answer(expected)}, {script.function(query, name, 'first')}(obj))"


def _answer(expected: str) -> str:
    """Return the start of a call that compares results by text: only booleans share theirs, only texts are not JSON."""
    if expected in ("true", "false"):
        return f"is_answer({expected}"
    # jq's tostring gives JSON for all values but texts. Only a text may not be JSON, and Lua compares it at once.
    try:
        value = loads(expected)
        is_json = to_text(value) == expected
    except ValueError:
        is_json = False
    if not is_json:
        return f"is_answer({quoted(expected)}"
    if has_empty(value):
        raise ExportError(f"expectedResult `{expected}`: Lua has one value for an empty object and an empty list")
    if isinstance(value, int | float):
        literal(value)  # rejects a number that Lua cannot tell from its neighbours
    return f"is_text({quoted(expected)}"


def health(script: OperationScript) -> None:
    """Write ``InterpretHealth``."""
    definition = script.definition
    stale = "is_stale(obj)" if definition.may_be_stale else "false"
    if definition.annotations.health is not None:
        function = script.function(definition.annotations.health, "is healthy", "first")
        script.add(
            f"function InterpretHealth(obj)\n  if {stale} then return false end\n"
            f"  local healthy = {function}(obj)\n"
            '  if type(healthy) ~= "boolean" then error("the annotation health must give true or false", 0) end\n'
            "  return healthy\nend"
        )
        return
    counts, mapped = healthy_statuses(definition), {Status.UNDEFINED, *possible_statuses(definition.status)}
    known = mapped | {Status.INITIALIZING} if definition.may_be_stale else mapped
    healthy = [status for status in Status if status in counts & known]
    failing = [status for status in Status if status in FAILING & mapped]
    trouble = [status for status in failing if status not in counts]
    lines = ["function InterpretHealth(obj)", *_statuses(script, frozenset([*healthy, *trouble]))]
    if Status.SUSPENDED in healthy:
        lines.append("  if statuses.Suspended then return true end")
    if definition.may_be_stale:
        fields = ["Initializing = true", *(f"{status} = statuses.{status}" for status in failing)]
        lines += [
            "  -- A status of an older generation counts as Initializing; a failure remains one.",
            f"  if is_stale(obj) then statuses = {{{', '.join(fields)}}} end",
        ]
    if Status.UNDEFINED not in counts:
        lines += _check_of_words(definition)
    holds = _has_one_of(healthy)
    is_healthy = f"{holds} == true" if len(healthy) == 1 else f"({holds or 'false'}) == true"
    if trouble:
        is_healthy += f" and not ({_has_one_of(trouble)})"
    script.add("\n".join([*lines, f"  return {is_healthy}", "end"]))


def _has_one_of(statuses: Iterable[Status]) -> str:
    return " or ".join(f"statuses.{status}" for status in statuses)
