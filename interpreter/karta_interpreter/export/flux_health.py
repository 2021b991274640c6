"""Health checks of Flux from the status definition of a Karta: ``healthCheckExprs`` of a Kustomization, in CEL.

Flux reads them in the order inProgress, failed, current. An object that matches none of them is in progress, and so is
an object with a ``status.observedGeneration`` other than its generation (``pkg/runtime/cel`` of Flux).
"""

from collections.abc import Collection, Mapping
from functools import partial, reduce
from json import loads

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.definitions.karta import FAILING, ConditionsRule, Definition, Matcher, Status, StatusRules
from karta_interpreter.definitions.karta.model import ConditionMatcher
from karta_interpreter.export.cel import (
    NOT,
    OR,
    Cel,
    cel,
    is_one,
    joined,
    literal,
    negation,
    truth,
)
from karta_interpreter.export.gitops import checks_by_version
from karta_interpreter.languages.jq import OutputKind, Query, syntax as ast, to_text

FALSE = Cel("false", result=OutputKind.BOOLEAN)
_CURRENT = (Status.RUNNING, Status.COMPLETED, Status.SUSPENDED)


def flux_health(*versions: Definition) -> Object:
    """Return the entry of ``healthCheckExprs`` for a kind: Flux has one for all versions of it.

    Failed and Degraded objects are failed, unless the definition counts them as healthy. Running, Completed and
    Suspended objects are current, and so are objects that the definition's own annotations count as healthy. A workload
    that waits for a queue is healthy to Karmada, and in progress to Flux. An object of a version that is not given is
    judged as one of the last version. Raises ExportError with the field, the expression and the reason if CEL cannot
    express the same.
    """
    checks = checks_by_version(versions, _expressions)
    current = _chosen({name: check for name, (check, _) in checks.items()})
    failed = _chosen({name: check for name, (_, check) in checks.items()})
    entry: Object = {**versions[-1].gvk.type_meta, "current": current}
    return entry if failed == "false" else {**entry, "failed": failed}


def _chosen(texts: Mapping[str, str]) -> str:
    """Return the expression that chooses by the version of the object, if the versions do not agree."""
    *others, last = texts
    if len(set(texts.values())) == 1:
        return texts[last]
    choices = "".join(f"apiVersion == {literal(name)} ? ({texts[name]})\n: " for name in others)
    return f"{choices}({texts[last]})"


def _expressions(definition: Definition) -> tuple[str, str]:
    health = definition.annotations.health
    rules = definition.status
    named = definition.annotations.healthy_statuses
    healthy = _CURRENT if named is None else tuple(sorted(named))
    current = truth(_value("annotation health", health)).text if health else _any_of(rules, healthy)
    failing = FAILING.difference(named or ())
    return current, _any_of(rules, [status for status in Status if status in failing])


def _any_of(rules: StatusRules | None, statuses: Collection[Status]) -> str:
    mappings = dict(rules.mappings) if rules else {}
    conditions = [
        _holds(rules, status, matcher) for status in statuses for matcher in mappings.get(status, ()) if rules
    ]
    if Status.UNDEFINED in statuses:  # an object with none of the others
        conditions.append(Cel(f"!({_any_of(rules, mappings)})", NOT))
    return "\n|| ".join(condition.within(OR) for condition in conditions) or "false"


def _holds(rules: StatusRules, status: Status, matcher: Matcher) -> Cel:
    conditions = []
    if matcher.phase:
        if rules.phase is None:
            raise ExportError(f"statusMappings.{status.lower()}.byPhase: there is no phaseDefinition")
        conditions.append(is_one(_value("phaseDefinition.path", rules.phase), [literal(matcher.phase)]))
    conditions += [_condition(rules.conditions, expected) for expected in matcher.conditions]
    if matcher.expression is not None:
        value = _value(f"statusMappings.{status.lower()}.byExpression", matcher.expression)
        if value.result is OutputKind.BOOLEAN:
            conditions.append({"true": value, "false": negation(value)}.get(matcher.expected, FALSE))
        else:
            conditions.append(is_one(value, [*map(literal, _choices(matcher.expected))]))
    return joined("&&", conditions)


def _condition(rule: ConditionsRule | None, expected: ConditionMatcher) -> Cel:
    if rule is None:
        return FALSE  # as in `StatusReader`: there are no conditions to look at
    if not _value("conditionsDefinition.path", rule.query).optional:
        raise ExportError(f"conditionsDefinition.path `{rule.query.text}` is not a path of fields")
    # A type is compared even if it is empty.
    tests = [_is_field(rule.type_field, expected.type)]
    tests += [
        _is_field(field, value)
        for field, value in ((rule.status_field, expected.status), (rule.reason_field, expected.reason))
        if value
    ]
    condition = reduce(partial(ast.Binary, "and"), tests)
    return cel(ast.FunctionCall("any", (ast.Iterate(rule.query.node), condition)))


def _is_field(field: str, value: str) -> ast.Node:
    return ast.Binary("==", ast.Index(ast.Identity(), ast.Literal(field)), ast.Literal(value))


def _choices(expected: str) -> list[JSON]:
    """Return all values of one text: the text, and what jq writes so."""
    try:
        value = loads(expected)
    except ValueError:
        return [expected]
    if isinstance(value, dict | list):
        raise ExportError(f"expectedResult `{expected}`: CEL has no text of objects and lists")
    return [value, expected] if to_text(value) == expected and value != expected else [expected]


def _value(field: str, query: Query) -> Cel:
    try:
        return cel(query.node)
    except ExportError as error:
        raise ExportError(f"{field}: {error}") from error
