"""What objects and their pods tell: the labels of a component and an instance, and the status of what runs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, Object, edit, get
from karta_interpreter.definitions.karta.schema_types import ROOT
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import SchemaPath
from karta_interpreter.engine.verification import Evidence, is_ready
from karta_interpreter.languages.jq import Query

FEW: Final = 4
"""From so many objects on a rule is tried on each of them, chosen from the others. With fewer it is to be checked."""
_STATUS: Final = (*ROOT, "statusDefinition")
_MAPPINGS: Final = (*_STATUS, "statusMappings")
_CONDITION: Final = ("type", "status", "reason")
_MOST_SIGNS: Final = 500
_LONGEST: Final = 63

Label = tuple[str, str]
"""The key and the value of a label."""


class PlacedPod(NamedTuple):
    """A pod, and the component and instance of each pod set that it may belong to."""

    pod: Object
    sets: frozenset[tuple[int, str]]


def component_labels(pods: Sequence[PlacedPod], words: Sequence[frozenset[str]]) -> dict[int, Label]:
    """Return the label of each component: one key with another value for each. Nothing without such a key.

    ``words`` are the names of each component in lower case: a pod that may be of several is of the one that it names.
    """
    for key in sorted(keys_of([pod for pod, _ in pods]), key=len):
        meanings: dict[str, set[int]] = {}
        for pod, sets in pods:
            value, components = label_of(pod, key), {component for component, _ in sets}
            named = {component for component in components if value.lower() in words[component]}
            meanings[value] = meanings.get(value, components) & (named if len(named) == 1 else components)
        told = {component for own in meanings.values() for component in own if len(own) == 1}
        if len(told) == len(meanings) == len(words):
            return {component: (key, value) for value, (component,) in meanings.items()}
    return {}


def component_selector(label: Label) -> Object:
    """Return the selector of the component that a label of its pods tells."""
    return {"componentTypeSelector": {"keyPath": _path_of(label[0]), "value": label[1]}}


def instance_selector(pods: Sequence[PlacedPod], component: int) -> Object | None:
    """Return the selector by the label that has the id of the instance, None without one."""
    ids = [{instance for number, instance in sets if number == component} for _, sets in pods]
    keys = [
        key
        for key in keys_of([pod for pod, _ in pods])
        if all(label_of(pod, key) in own for (pod, _), own in zip(pods, ids, strict=True))
    ]
    return {"componentInstanceSelector": {"idPath": _path_of(min(keys, key=len))}} if keys else None


def keys_of(pods: Sequence[Object]) -> Iterable[str]:
    """Return the labels that all pods have."""
    labels: list[Mapping[str, JSON]] = [get(pod, ("metadata", "labels")) or {} for pod in pods]
    return sorted(set(labels[0]).intersection(*labels)) if labels else ()


def label_of(pod: Object, key: str) -> str:
    """Return the value of a label, "None" without the label."""
    return str(get(pod, ("metadata", "labels", key)))


def _path_of(key: str) -> str:
    return f".metadata.labels[{json.dumps(key)}]"


def held_out(rules: Sequence[Sequence[bool]]) -> int:
    """Return for how many objects the rule is right that the others choose: the first of those right for most of them.

    ``rules`` has for each rule whether it is right for each object.

    >>> held_out([[True, True, True, False], [True, True, False, True]])
    2
    >>> held_out([[True, True, True, True], [True, True, False, True]])
    4
    """
    totals = [sum(each) for each in rules]
    chosen = [
        max(zip(rules, totals, strict=True), key=lambda rule: rule[1] - rule[0][at])[0] for at in range(len(rules[0]))
    ]
    return sum(rule[at] for at, rule in enumerate(chosen))


def outputs(text: str, value: JSON) -> list[JSON]:
    """Return the outputs of an expression, none for a value that it does not fit."""
    try:
        return Query.compile(text).evaluate(value)
    except QueryError:
        return []


def with_running(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft with the status that most objects with ready pods, and few others, show."""
    active = [each for each in evidence if each.active]
    ready = [all(is_ready(pod, each.now) for pod in each.active) for each in active]
    signs = [[*filter(None, islice(_signs(draft.karta, each), _MOST_SIGNS))] for each in active]
    mappings = edit.get(draft.karta, _MAPPINGS) or {}
    guessed = [json.dumps(each) for each in mappings.get("running", ())]
    # Without an object that does not run, every value that all have is as good: then the guess by names decides.
    found = sorted({*chain(*signs)}, key=lambda sign: (sign not in guessed, "byExpression" in sign, len(sign), sign))
    rules = {sign: [(sign in own) == right for own, right in zip(signs, ready, strict=True)] for sign in found}
    sign = max(rules, key=lambda each: sum(rules[each]), default="")
    shown = sum(sign in own for own, right in zip(signs, ready, strict=True) if right)
    if 2 * shown <= sum(ready):
        return draft
    kept = {
        name: left
        for name, matchers in mappings.items()
        if name != "running" and (left := [each for each in matchers if json.dumps(each) != sign])
    }
    karta = edit.set_value(draft.karta, _MAPPINGS, {"running": [json.loads(sign)], **kept})
    others, elsewhere = len(ready) - sum(ready), sum(sign in own for own in signs) - shown
    note = f"{shown} of {count(sum(ready), 'object')} with ready pods and {elsewhere} of {others} others show it."
    is_sure = others and len(active) >= FEW and held_out([*rules.values()]) == len(active)
    note = note if is_sure else f"CHECK: {note} Does it end when pods fail?"
    return Draft(karta, (*draft.notes, ((*_MAPPINGS, "running"), note)))


def _signs(karta: Object, evidence: Evidence) -> Iterator[str]:
    """Yield the matchers that hold for an object, as JSON."""
    definition, replicas = edit.get(karta, _STATUS) or {}, edit.get(karta, (*ROOT, "scaleDefinition", "replicasPath"))
    phase = get(definition, ("phaseDefinition", "path"))
    for path, value in _values(SchemaPath(("status",)), evidence.object.get("status")):
        if isinstance(value, str) and path.jq == phase:
            yield json.dumps({"byPhase": value})
        elif isinstance(value, bool) or (isinstance(value, str) and len(value) <= _LONGEST):
            yield _expression(f"{path.jq} == {json.dumps(value)}")
        elif type(value) is int and value == len(evidence.active) and replicas:
            yield _expression(f"({path.jq} // 0) >= ({replicas})")
        elif isinstance(value, dict) and path.steps[-1] == "conditions" and "conditionsDefinition" in definition:
            names = _CONDITION[:2] if value.get("status") == "True" else _CONDITION
            condition = {name: value[name] for name in names if isinstance(value.get(name), str)}
            yield json.dumps({"byConditions": [condition]}) if "type" in condition else ""


def _expression(text: str) -> str:
    return json.dumps({"byExpression": {"expression": text, "expectedResult": "true"}})


def _values(path: SchemaPath, value: JSON) -> Iterator[tuple[SchemaPath, JSON]]:
    """Yield the values of a status, wherever they stand outside of lists, and the entries of its conditions."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(path / name, inner)
    elif isinstance(value, list):
        yield from ((path, each) for each in value if path.steps[-1] == "conditions" and isinstance(each, dict))
    else:
        yield path, value
