"""What objects and their pods tell: the labels of a component and an instance, counts, and the status of what runs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations, islice
from math import prod
from typing import Final, NamedTuple

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import COUNT_NAME, JSON, Object, Path, edit, get
from karta_interpreter.definitions.karta import ROOT, ROOT_STATUS
from karta_interpreter.definitions.openapi.draft import FACTORS, Draft, Form, NumberField, PodsField, product
from karta_interpreter.definitions.openapi.schema import (
    CustomKind,
    Entries,
    SchemaPath,
    below,
    fields,
    is_pod_spec,
    is_pod_template,
    parts_below,
)
from karta_interpreter.engine.verification import Evidence, is_ready
from karta_interpreter.languages.jq import Query

FEW: Final = 4
"""From so many objects on a rule is tried on each of them, chosen from the others. With fewer it is to be checked."""
_MAPPINGS: Final = (*ROOT_STATUS, "statusMappings")
_CONDITION: Final = ("type", "status", "reason")
_MOST_SIGNS: Final = 500
_LONGEST: Final = 63

# The same expressions are tried on every object.
_query: Final = lru_cache(1024)(Query.compile)

Label = tuple[str, str]
"""The key and the value of a label."""


PlacedPod = tuple[Object, frozenset[tuple[int, str]]]
"""A pod, and the component and instance of each pod set that it may belong to."""


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
        distinct = {component for components in meanings.values() for component in components if len(components) == 1}
        if len(distinct) == len(meanings) == len(words):
            return {component: (key, value) for value, (component,) in meanings.items()}
    return {}


def component_selector(label: Label) -> Object:
    """Return the selector of the component that a label of its pods tells, or its key if the label has no value."""
    value = {"value": label[1]} if label[1] else {}
    return {"componentTypeSelector": {"keyPath": _path_of(label[0]), **value}}


def instance_selector(pods: Sequence[PlacedPod], component: int) -> Object | None:
    """Return the selector by the label that has the id of the instance, None without one."""
    ids = [{instance for number, instance in sets if number == component} for _, sets in pods]
    keys = [
        key
        for key in keys_of([pod for pod, _ in pods])
        if all(label_of(pod, key) in pod_ids for (pod, _), pod_ids in zip(pods, ids, strict=True))
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
    totals = [sum(verdicts) for verdicts in rules]
    chosen = [
        max(zip(rules, totals, strict=True), key=lambda rule: rule[1] - rule[0][at])[0] for at in range(len(rules[0]))
    ]
    return sum(rule[at] for at, rule in enumerate(chosen))


def outputs(text: str, value: JSON) -> list[JSON]:
    """Return the outputs of an expression, none for a value that it does not fit."""
    try:
        return _query(text).evaluate(value)
    except QueryError:
        return []


def with_running(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft with the status that most objects with ready pods, and few others, show."""
    active = [workload for workload in evidence if workload.active]
    ready = [all(is_ready(pod, workload.now) for pod in workload.active) for workload in active]
    signs = [[*filter(None, islice(_signs(draft.karta, workload), _MOST_SIGNS))] for workload in active]
    mappings = edit.get(draft.karta, _MAPPINGS) or {}
    guessed = [json.dumps(matcher) for matcher in mappings.get("running", ())]
    # Without an object that does not run, every value that all have is as good: then the guess by names decides.
    ordered = sorted({*chain(*signs)}, key=lambda sign: (sign not in guessed, "byExpression" in sign, len(sign), sign))
    rules = {
        sign: [(sign in workload_signs) == right for workload_signs, right in zip(signs, ready, strict=True)]
        for sign in ordered
    }
    sign = max(rules, key=lambda candidate: sum(rules[candidate]), default="")
    well_with_sign = sum(sign in workload_signs for workload_signs, right in zip(signs, ready, strict=True) if right)
    if 2 * well_with_sign <= sum(ready):
        return draft
    kept = {
        name: left
        for name, matchers in mappings.items()
        if name != "running" and (left := [matcher for matcher in matchers if json.dumps(matcher) != sign])
    }
    karta = edit.set_value(draft.karta, _MAPPINGS, {"running": [json.loads(sign)], **kept})
    others, elsewhere = (
        len(ready) - sum(ready),
        sum(sign in workload_signs for workload_signs in signs) - well_with_sign,
    )
    note = (
        f"{well_with_sign} of {count(sum(ready), 'object')} with ready pods and {elsewhere} of {others} others show it."
    )
    is_sure = others and len(active) >= FEW and held_out([*rules.values()]) == len(active)
    note = note if is_sure else f"CHECK: {note} Does it end when pods fail?"
    return Draft(karta, (*draft.notes, ((*_MAPPINGS, "running"), note)))


def _signs(karta: Object, evidence: Evidence) -> Iterator[str]:
    definition, replicas = (
        edit.get(karta, ROOT_STATUS) or {},
        edit.get(karta, (*ROOT, "scaleDefinition", "replicasPath")),
    )
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
        yield from (
            (path, condition) for condition in value if path.steps[-1] == "conditions" and isinstance(condition, dict)
        )
    else:
        yield path, value


_MOST_NUMBERS: Final = 100
_MOST_FACTORS: Final = 3
_MOST_MULTIPLIED: Final = 16
_MOST_NAMED: Final = 4
_UNLIKE: Final = 2


class Counted(NamedTuple):
    """An object and its pods: how many at each of some positions together, of all instances of a component."""

    object: Object
    instances: int
    pods: tuple[tuple[tuple[int, ...], int], ...]


# Numbers whose product may be a count. Without any, the count is 1.
_Factors = tuple[NumberField, ...]


def count_of(
    kind: CustomKind, pods: PodsField, samples: Sequence[Counted], template: str
) -> tuple[str, tuple[Path, str]]:
    """Return the expression of the count that most objects agree with, "" for one pod, and a note about it.

    Of several, the one is chosen that is nearest to the pods, and in a part that their ``template`` reads.
    """
    values = dict(_numbers(kind, pods, samples))
    likely = sorted(values, key=lambda number: _likeness(number, kind))
    counts = [number for number in likely if _likeness(number, kind) < _UNLIKE][:_MOST_MULTIPLIED]
    together = (
        factors
        for size in range(2, _MOST_FACTORS + 1)
        for factors in combinations(counts, size)
        if _are_of_one_part(factors, pods.place)
    )
    chosen = [(), *((number,) for number in likely[:_MOST_NUMBERS]), *together]
    ranked = sorted(chosen, key=lambda numbers: _rank(numbers, kind, pods, template))
    agreement = {
        numbers: [_agrees([values[number][at] for number in numbers], counted) for at, counted in enumerate(samples)]
        for numbers in ranked
    }
    best = max(ranked, key=lambda numbers: sum(agreement[numbers]))
    return product(pods.place, best) if best else "", _note(kind, best, agreement, samples)


def _are_of_one_part(numbers: Sequence[NumberField], base: SchemaPath) -> bool:
    """Return whether numbers stand in one part of an object, or all on the way to the pods. They are different ones."""
    parents = [number.parent.steps for number in numbers]
    is_on_way = all(base.steps[: len(parent)] == parent for parent in parents)
    is_of_one_part = len({parent[:2] for parent in parents}) == 1
    return (is_on_way or is_of_one_part) and len({number.place for number in numbers}) == len(numbers)


def _note(
    kind: CustomKind, best: _Factors, agreement: Mapping[_Factors, Sequence[bool]], samples: Sequence[Counted]
) -> tuple[Path, str]:
    """Return the note about the best numbers. ``agreement`` has for all, by their rank, the objects that agree."""
    choice = "the number of pods" if best else "one pod each"
    agreeing, held = sum(agreement[best]), held_out([*agreement.values()])
    evidence = f"{agreeing} of {count(len(samples), 'object')} {'agrees' if len(samples) == 1 else 'agree'}: {choice}."
    rivals = dict.fromkeys(
        " * ".join(number.place.jq for number in numbers)
        for numbers, agrees in agreement.items()
        if numbers != best and sum(agrees) == agreeing and 0 < len(numbers) <= max(len(best), 1)
    )
    different = {str(number) for counted in samples for _, number in counted.pods}
    is_same, is_few = bool(best) and len(different) == 1, len(samples) < FEW
    doubts = (
        (agreeing < len(samples), "What is the count of the others?"),
        (is_few, f"Fewer than {FEW} objects are little evidence."),
        (not is_few and held < agreeing, f"Chosen without an object, the count is right for {held} of them."),
        (is_same, f"All have {''.join(different)}, which other numbers may be as well."),
        (not best and not kind.crd, "Is there a count that all leave unset?"),
        *((bool(number.switch), f"Is there none with {number.switch}: false?") for number in best),
        (bool(rivals), f"Or which number is it? As many: {', '.join([*rivals][:_MOST_NAMED])}."),
    )
    asked = [doubt for holds, doubt in doubts if holds]
    note = f"CHECK: {evidence} {' '.join(asked)}" if asked else evidence
    return ("scaleDefinition",) if best else ("specDefinition",), note


def _rank(numbers: _Factors, kind: CustomKind, pods: PodsField, template: str) -> tuple[float, ...]:
    likeness = max((_likeness(number, kind) for number in numbers), default=_UNLIKE - 0.5)
    unread = (
        pods.place.distance(number.parent) - sum(f".{step}." in template for step in number.parent.steps)
        for number in numbers
    )
    return len(numbers) or 1, likeness, sum(unread)


def _likeness(number: NumberField, kind: CustomKind) -> int:
    if number.name in FACTORS or number.place.jq == kind.scale_path:
        return 0
    return 1 if COUNT_NAME.fullmatch(number.name) and not number.is_length else _UNLIKE


def _agrees(factors: Sequence[list[int] | None], sample: Counted) -> bool:
    """Return whether a product counts the pods of every group of an object."""
    columns = [column for column in factors if column is not None]
    if len(columns) < len(factors):
        return False
    counts = [prod(column[position] for column in columns) for position in range(sample.instances)]
    return all(sum(counts[position] for position in positions) == number for positions, number in sample.pods)


def _numbers(
    kind: CustomKind, pods: PodsField, samples: Sequence[Counted]
) -> Iterator[tuple[NumberField, list[list[int] | None]]]:
    """Yield the numbers that some objects have, with their values for each instance, None if a value is not a number.

    A number that an object leaves unset may also mean that it has no pods.
    """
    for number in _inside(SchemaPath(("spec",)), below(kind.schema, "spec"), pods):
        is_likely = type(number.default) is int and _likeness(number, kind) < _UNLIKE
        is_set = any(value is not None for counted in samples for value in outputs(number.place.jq, counted.object))
        if not (is_likely or is_set):
            continue
        before: list[list[int] | None] = [None] * len(samples)
        for variant in (number,) if number.is_length else (number, replace(number, default=0)):
            text = product(pods.place, (variant,))
            numbers = [[value for value in outputs(text, counted.object) if type(value) is int] for counted in samples]
            columns = [
                workload_numbers if len(workload_numbers) == counted.instances else None
                for workload_numbers, counted in zip(numbers, samples, strict=True)
            ]
            if columns != before:
                yield variant, columns
            before = columns


def _inside(path: SchemaPath, schema: Object, pods: PodsField) -> Iterator[NumberField]:
    """Yield the numbers of an object that may count the pods at a place, the nearest last."""
    steps = pods.place.steps
    lists = [index for index, step in enumerate(path.steps) if isinstance(step, Entries)]
    is_on_way = not lists or path.steps[: lists[-1] + 1] == steps[: lists[-1] + 1]
    if not is_on_way or is_pod_template(schema):
        return
    # A section with containers may have the count of its pods, too. A pod spec has none.
    is_section = is_pod_spec(schema) and pods.form is not Form.SPEC and path.steps != steps[: len(path.steps)]
    switch = (path / "enabled").jq if below(schema, "enabled").get("type") == "boolean" else ""
    for name, inner in fields(schema):
        if inner.get("type") == "integer" or inner.get("x-kubernetes-int-or-string") is True:
            if not is_section or COUNT_NAME.fullmatch(name):
                yield NumberField(path, name, inner.get("default"), switch=switch)
        elif not is_section and inner.get("type") == "array" and steps[: len(path.steps) + 1] != (*path.steps, name):
            yield NumberField(path, name, is_length=True)
    for at, inner in () if is_section else parts_below(path, schema):
        yield from _inside(at, inner, pods)
