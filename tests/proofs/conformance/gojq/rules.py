"""What Karta's library makes of gojq's answers: instances, counts, statuses, the places of pods.

This is that library as its documentation and its behaviour are known, done again: of this project's code only the
definition is used, which says what expressions there are.
"""

import json
import re
from collections.abc import Iterable, Sequence

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import (
    ComponentRules,
    Definition,
    Fragments,
    PodSpec,
    PodTemplate,
    SuspendWrite,
)
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.definitions.karta.status_rules import ConditionsRule, Matcher
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.asking import Answer, Ask, NoAnswerError
from tests.proofs.conformance.gojq.readings import Reading, program

_ORDER = ("Resuming", "Suspending", "Suspended", "Running", "Failed", "Completed", "Initializing", "Degraded")
_INT32 = range(-(2**31), 2**31)
_PIECES = {
    "schedulerNamePath": str,
    "priorityClassNamePath": str,
    "imagePath": str,
    "containersPath": list,
    "resourceClaimsPath": list,
}
"""The types of the pieces of a pod that are no objects."""


def instance_ids(ask: Ask, component: ComponentRules) -> list[str]:
    """The id of each instance, in order."""
    if component.instance_ids is None:
        return [""]
    ids = _strings(ask.outputs(component.instance_ids))
    if "" in ids:
        raise NoAnswerError("an empty id")
    if Reading.REPEATED in ask.readings and len(set(ids)) < len(ids):
        raise NoAnswerError("an id that is there twice")
    return ids


def scales(ask: Ask, component: ComponentRules) -> Answer:
    """Replicas, minimum and maximum of each instance."""
    queries = (component.replicas, component.min_replicas, component.max_replicas)
    if not any(queries):
        return {}
    ids = instance_ids(ask, component)
    lists = [[_count(ask, value) for value in ask.outputs(query)] if query else None for query in queries]
    if Reading.ABSENT in ask.readings:
        lists = [lists[0], *(None if counts == [] else counts for counts in lists[1:])]
    given = [counts for counts in lists if counts is not None]
    longest = len(ids) if not given and Reading.ABSENT in ask.readings else max(map(len, given), default=0)
    if Reading.UNFILLED in ask.readings and any(len(counts) != len(ids) for counts in given):
        raise NoAnswerError("a list that is too short or too long")
    filled = [(counts or []) + [None] * (longest - len(counts or [])) for counts in lists]
    return _by_id(ids, [list(row) for row in zip(*filled, strict=True)])


def pod_templates(ask: Ask, component: ComponentRules) -> Answer:
    """The pods of each instance by the field of the schema that says where they are."""
    match component.pods:
        case PodTemplate(query):
            return {"podTemplateSpecPath": _values(ask, component, query, dict)}
        case PodSpec(query, metadata):
            whole = _values(ask, component, query, dict)
            rest = {"metadataPath": _values(ask, component, metadata, dict, piece=True)} if metadata else {}
            return {"podSpecPath": whole, **rest}
        case Fragments(queries):
            return _fragments(ask, component, queries)
        case _:
            return {}


def status(ask: Ask, definition: Definition) -> Answer:
    """Phase, conditions and all matching statuses."""
    rules = definition.status
    if rules is None:
        return [None, [], ["Undefined"]]
    phases = _strings(ask.outputs(rules.phase)) if rules.phase else []
    phase = phases[0] if phases else None
    conditions = _conditions(ask, rules.conditions) if rules.conditions else []
    by_type = {condition[0]: condition for condition in conditions}
    mappings = {str(status): matchers for status, matchers in rules.mappings}
    matched = [name for name in _ORDER if any(_holds(ask, each, phase, by_type) for each in mappings.get(name, ()))]
    return [phase, conditions, matched or ["Undefined"]]


def acted(ask: Ask, actions: Iterable[SuspendWrite]) -> Answer:
    """The object after some actions."""
    steps = [program(each.path, ask.readings, "(", f") = {json.dumps(each.value)}") for each in actions]
    if not steps:
        return None
    outputs, _ = ask.run(" | ".join(f"({step})" for step in steps))
    return outputs[0]


def attribution(ask_object: Ask, ask: Ask, definition: Definition) -> Answer:
    """ComponentRules, instance and replica of a pod."""
    component = _component(ask, definition)
    ids = instance_ids(ask_object, component)
    return [component.name, _instance(ask, component, ids), _replica(ask, definition, component)]


def member(ask: Ask, definition: Definition) -> Answer:
    """The group and the component of the rule that decides on a pod, and the keys that it gives."""
    component: ComponentRules | None = _component(ask, definition)
    while component is not None:
        for group in definition.gang.pod_groups:
            for rule in group.members:
                if rule.component == component.name and _passes(ask, rule.filters):
                    return [group.name, rule.component, [_key(ask, path) for path in rule.group_by]]
        component = _named(definition, component.owner)
    return None


def _strings(values: Iterable[JSON]) -> list[str]:
    if not all(value is None or isinstance(value, str) for value in values):
        raise NoAnswerError("something else than a string")
    return [value or "" for value in values]


def _count(ask: Ask, value: JSON) -> int | None:
    """A number of replicas as Go reads it into 32 bits."""
    if value is None:
        return None
    number: int | None = None
    if isinstance(value, str) and re.fullmatch("[+-]?[0-9]+", value, re.ASCII):
        number = int(value) if len(value.lstrip("+-0")) < 20 else None
    elif isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        number = int(value)
    if number is None or number not in _INT32 or (Reading.NEGATIVE in ask.readings and number < 0):
        raise NoAnswerError("no count")
    return number


def _fragments(ask: Ask, component: ComponentRules, queries: Sequence[tuple[str, Query]]) -> Answer:
    """The pieces by field and instance: lists are filled up to the longest of them."""
    ids = instance_ids(ask, component)
    lists = {field: _checked(ask, query, _PIECES.get(field, dict)) for field, query in queries}
    if Reading.ABSENT in ask.readings:
        lists = {field: values or [None] * len(ids) for field, values in lists.items()}
    if Reading.UNFILLED in ask.readings and any(len(values) != len(ids) for values in lists.values()):
        raise NoAnswerError("a list that is too short or too long")
    longest = max(map(len, lists.values()))
    empty = {field: None if Reading.NOTHING in ask.readings else _PIECES.get(field, dict)() for field in lists}
    return {field: _by_id(ids, values + [empty[field]] * (longest - len(values))) for field, values in lists.items()}


def _values(ask: Ask, component: ComponentRules, query: Query, kind: type, *, piece: bool = False) -> Answer:
    values = _checked(ask, query, kind)
    ids = instance_ids(ask, component)
    if Reading.ABSENT in ask.readings and not values and (piece or component.instance_ids is None):
        values = [None] * len(ids)
    return _by_id(ids, values)


def _checked(ask: Ask, query: Query, kind: type) -> list[JSON]:
    """Values of one type; null is the empty one."""
    values = ask.outputs(query)
    if not all(value is None or isinstance(value, kind) for value in values):
        raise NoAnswerError("a value of another type")
    return [kind() if value is None and Reading.NOTHING not in ask.readings else value for value in values]


def _by_id(ids: Sequence[str], values: Sequence[JSON]) -> Answer:
    if len(ids) != len(values):
        raise NoAnswerError("another number of values than of instances")
    return dict(zip(ids, values, strict=True))


def _conditions(ask: Ask, rule: ConditionsRule) -> list[JSON]:
    found: list[JSON] = []
    for value in ask.outputs(rule.query):
        if not isinstance(value, list | None):
            raise NoAnswerError("no list of conditions")
        # Go reads a null as an empty condition.
        elements = [{} if element is None else element for element in value or ()]
        if not all(isinstance(element, dict) for element in elements):
            raise NoAnswerError("no list of conditions")
        names = (rule.type_field, rule.status_field, rule.reason_field, rule.message_field)
        found += [[_text(element.get(name)) for name in names] for element in elements]
    return found


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def _holds(ask: Ask, matcher: Matcher, phase: str | None, by_type: dict[str, list[JSON]]) -> bool:
    if matcher.phase and phase != matcher.phase:
        return False
    for expected in matcher.conditions:
        if expected.type not in by_type:
            return False
        _, status, reason, _ = by_type[expected.type]
        if (expected.status and status != expected.status) or (expected.reason and reason != expected.reason):
            return False
    if matcher.expression is None:
        return True
    outputs = ask.outputs(matcher.expression, "(", ") | tostring")
    return bool(outputs) and outputs[0] == matcher.expected


def _component(ask: Ask, definition: Definition) -> ComponentRules:
    leaves = [component for component in definition.components if component.pods is not None]
    if len(leaves) == 1:
        return leaves[0]
    for leaf in leaves:
        if _matches(ask, leaf):
            return leaf
    raise NoAnswerError("a pod of no component")


def _matches(ask: Ask, component: ComponentRules) -> bool:
    selector = component.selector.component_type
    if selector is None:
        return False
    ((labels,), _) = ask.run(".metadata.labels")
    if any((labels or {}).get(name) != value for name, value in selector.labels.items()):
        return False
    if selector.key is None:
        return len(selector.labels) > 0
    if selector.value is None:
        return any(value is not None for value in ask.outputs(selector.key))
    return any(value is True for value in ask.outputs(selector.key, after=f"== {json.dumps(selector.value)}"))


def _instance(ask: Ask, component: ComponentRules, ids: Sequence[str]) -> str:
    if list(ids) == [""] or (not ids and Reading.HOMELESS not in ask.readings):
        return ""
    selector = component.selector.instance_id
    if selector is None or (said := _key(ask, selector)) not in ids:
        raise NoAnswerError("an instance that is not there")
    return said


def _replica(ask: Ask, definition: Definition, component: ComponentRules) -> str | None:
    maker: ComponentRules | None = component
    while maker is not None and maker.selector.replica_key is None:
        maker = _named(definition, maker.owner)
    if maker is None or maker.selector.replica_key is None:
        return None
    path = maker.selector.replica_key
    if Reading.SILENT in ask.readings and all(value in (None, "") for value in ask.outputs(path)):
        return None
    return _key(ask, path)


def _named(definition: Definition, name: str | None) -> ComponentRules | None:
    return next((each for each in definition.components if each.name == name), None)


def _passes(ask: Ask, filters: Iterable[PodQuery]) -> bool:
    return all(_single(ask, each)[0] is True for each in filters)


def _single(ask: Ask, path: PodQuery) -> tuple[JSON, str]:
    outputs, texts = ask.texts(path)
    if len(outputs) != 1 or outputs[0] in (None, ""):
        raise NoAnswerError("another number of results than one, or nothing")
    return outputs[0], texts[0]


def _key(ask: Ask, path: PodQuery) -> str:
    value, text = _single(ask, path)
    if Reading.STRUCTURED in ask.readings and isinstance(value, list | dict):
        raise NoAnswerError("a list or an object")
    if Reading.COMPUTED in ask.readings and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text
