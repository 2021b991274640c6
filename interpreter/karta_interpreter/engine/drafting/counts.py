"""The counts of pods: the numbers in objects, or lengths of their lists, that equal the pods of a component."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Final, NamedTuple

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import Object, Path
from karta_interpreter.definitions.openapi.draft.pod_fields import FACTORS, Form, NumberField, PodsField, product
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
from karta_interpreter.engine.drafting.inference import FEW, held_out, outputs

_MOST_NUMBERS: Final = 100
_MOST_FACTORS: Final = 3
_MOST_MULTIPLIED: Final = 16
_MOST_NAMED: Final = 4
_UNLIKE: Final = 2
_COUNT: Final = re.compile(r"(?i)(?!min|max)\w*(count|size|replicas|instances|nodes|workers|members|parallelism|hosts)")


class Counted(NamedTuple):
    """An object and its pods: how many at each of some positions together, of all instances of a component."""

    object: Object
    instances: int
    pods: tuple[tuple[tuple[int, ...], int], ...]


_Numbers = tuple[NumberField, ...]
"""Numbers whose product may be a count. Without any, the count is 1."""


def count_of(kind: CustomKind, pods: PodsField, shown: Sequence[Counted]) -> tuple[str, tuple[Path, str]]:
    """Return the expression of the count that most objects agree with, "" for one pod, and a note about it."""
    values = dict(_values(kind, pods, shown))
    likely = sorted(values, key=lambda number: _likeness(number, kind))
    counts = [number for number in likely if _likeness(number, kind) < _UNLIKE][:_MOST_MULTIPLIED]
    together = (
        each
        for size in range(2, _MOST_FACTORS + 1)
        for each in combinations(counts, size)
        if _are_of_one_part(each, pods.place)
    )
    chosen = [(), *((number,) for number in likely[:_MOST_NUMBERS]), *together]
    ranked = sorted(chosen, key=lambda numbers: _rank(numbers, kind, pods))
    agreement = {
        numbers: [_agrees([values[number][at] for number in numbers], each) for at, each in enumerate(shown)]
        for numbers in ranked
    }
    best = max(ranked, key=lambda numbers: sum(agreement[numbers]))
    return product(pods.place, best) if best else "", _note(kind, best, agreement, shown)


def _are_of_one_part(numbers: Sequence[NumberField], place: SchemaPath) -> bool:
    """Return whether numbers stand in one part of an object, or all on the way to the pods. They are different ones."""
    steps = [number.parent.steps for number in numbers]
    is_on_way = all(place.steps[: len(each)] == each for each in steps)
    is_of_one = len({each[:2] for each in steps}) == 1
    return (is_on_way or is_of_one) and len({number.place for number in numbers}) == len(numbers)


def _note(
    kind: CustomKind, best: _Numbers, agreement: Mapping[_Numbers, Sequence[bool]], shown: Sequence[Counted]
) -> tuple[Path, str]:
    """Return the note about the best numbers. ``agreement`` has for all, by their rank, the objects that agree."""
    what = "the number of pods" if best else "one pod each"
    agreeing, held = sum(agreement[best]), held_out([*agreement.values()])
    evidence = f"{agreeing} of {count(len(shown), 'object')} {'agrees' if len(shown) == 1 else 'agree'}: {what}."
    rivals = dict.fromkeys(
        " * ".join(number.place.jq for number in numbers)
        for numbers, agrees in agreement.items()
        if numbers != best and sum(agrees) == agreeing and 0 < len(numbers) <= max(len(best), 1)
    )
    different = {str(number) for each in shown for _, number in each.pods}
    is_same, is_few = bool(best) and len(different) == 1, len(shown) < FEW
    doubts = (
        (agreeing < len(shown), "What is the count of the others?"),
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


def _rank(numbers: _Numbers, kind: CustomKind, pods: PodsField) -> tuple[float, ...]:
    likeness = max((_likeness(number, kind) for number in numbers), default=_UNLIKE - 0.5)
    return len(numbers) or 1, likeness, sum(pods.place.distance(number.parent) for number in numbers)


def _likeness(number: NumberField, kind: CustomKind) -> int:
    if number.name in FACTORS or number.place.jq == kind.scale_path:
        return 0
    return 1 if _COUNT.fullmatch(number.name) and not number.is_length else _UNLIKE


def _agrees(factors: Sequence[list[int] | None], shown: Counted) -> bool:
    """Return whether a product counts the pods of every group of an object."""
    columns = [each for each in factors if each is not None]
    if len(columns) < len(factors):
        return False
    counts = [prod(column[position] for column in columns) for position in range(shown.instances)]
    return all(sum(counts[position] for position in positions) == number for positions, number in shown.pods)


def _values(
    kind: CustomKind, pods: PodsField, shown: Sequence[Counted]
) -> Iterator[tuple[NumberField, list[list[int] | None]]]:
    """Yield the numbers that some objects have, with their values for each instance, None if some are no numbers.

    A number that an object leaves unset may also mean that it has no pods.
    """
    for number in _inside(SchemaPath(("spec",)), below(kind.schema, "spec"), pods):
        is_likely = type(number.default) is int and _likeness(number, kind) < _UNLIKE
        is_set = any(value is not None for each in shown for value in outputs(number.place.jq, each.object))
        if not (is_likely or is_set):
            continue
        before: list[list[int] | None] = [None] * len(shown)
        for variant in (number,) if number.is_length else (number, replace(number, default=0)):
            text = product(pods.place, (variant,))
            found = [[value for value in outputs(text, each.object) if type(value) is int] for each in shown]
            columns = [own if len(own) == each.instances else None for own, each in zip(found, shown, strict=True)]
            if columns != before:
                yield variant, columns
            before = columns


def _inside(path: SchemaPath, schema: Object, pods: PodsField) -> Iterator[NumberField]:
    """Yield the numbers of an object that may count the pods at a place, the nearest last."""
    steps = pods.place.steps
    lists = [index for index, step in enumerate(path.steps) if isinstance(step, Entries)]
    is_on_way = not lists or path.steps[: lists[-1] + 1] == steps[: lists[-1] + 1]
    if not is_on_way or is_pod_template(schema) or (is_pod_spec(schema) and pods.form is not Form.SPEC):
        return
    switch = (path / "enabled").jq if below(schema, "enabled").get("type") == "boolean" else ""
    for name, inner in fields(schema):
        if inner.get("type") == "integer" or inner.get("x-kubernetes-int-or-string") is True:
            yield NumberField(path, name, inner.get("default"), switch=switch)
        elif inner.get("type") == "array" and steps[: len(path.steps) + 1] != (*path.steps, name):
            yield NumberField(path, name, is_length=True)
    for at, inner in parts_below(path, schema):
        yield from _inside(at, inner, pods)
