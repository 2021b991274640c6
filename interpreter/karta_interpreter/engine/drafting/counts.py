"""The counts of pods: the numbers in objects, or lengths of their lists, that equal the pods of a component."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, takewhile
from math import prod
from typing import Final, NamedTuple

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import Object, Path
from karta_interpreter.definitions.openapi.draft.pod_fields import FACTORS, Form, NumberField, PodsField, product
from karta_interpreter.definitions.openapi.schema import (
    CustomKind,
    Entries,
    SchemaPath,
    below,
    entries,
    fields,
    is_pod_spec,
    is_pod_template,
    parts_below,
)
from karta_interpreter.languages.jq import Query

_MOST_NUMBERS: Final = 100
_MOST_FACTORS: Final = 3
_MOST_MULTIPLIED: Final = 16
_MOST_RESHAPED: Final = 8
_BOUNDS: Final = tuple(f"[({{number}}), ({{other}} // empty)] | {name}" for name in ("min", "max"))
_STOPPED: Final = "if {other} then 0 else {number} end"
_LESS: Final = "({number}) - (if {other} then 1 else 0 end)"
_COUNT: Final = re.compile(r"(?i)(?!min|max)\w*(count|size|replicas|instances|nodes|workers|members|parallelism|hosts)")


class Counted(NamedTuple):
    """An object and its pods: how many at each of some positions together, of all instances of a component."""

    object: Object
    instances: int
    pods: tuple[tuple[tuple[int, ...], int], ...]


class Count(NamedTuple):
    """The expression of a count, "" for one pod, and notes."""

    text: str
    notes: tuple[tuple[Path, str], ...]


class _Candidate(NamedTuple):
    numbers: tuple[NumberField, ...]
    agreeing: int
    groups: int
    """In how many groups of pods it agrees, of all objects."""
    rank: tuple[float, ...]


def count_of(kind: CustomKind, pods: PodsField, shown: Sequence[Counted]) -> Count:
    """Return the count that most objects agree with. What leaves a doubt is a note."""
    numbers = sorted(
        _numbers(kind.schema, pods), key=lambda number: (not _is_set(number, shown), _likeness(number, kind))
    )
    numbers = numbers[:_MOST_NUMBERS]
    values = {number: [_values(pods, number, each) for each in shown] for number in numbers}
    values = {number: found for number, found in values.items() if any(each is not None for each in found)}
    found = [_candidate((), values, kind, pods, shown)]
    likely = sorted(values, key=lambda number: (_likeness(number, kind), -_divided(values[number], shown)))
    for size in range(1, _MOST_FACTORS + 1):
        chosen = combinations(likely if size == 1 else likely[:_MOST_MULTIPLIED], size)
        found += [_candidate(each, values, kind, pods, shown) for each in chosen]
        if max(each.agreeing for each in found) == len(shown):
            break
    best, shaped = min(found, key=_order), [*found]
    for _ in range(_MOST_FACTORS if best.agreeing < len(shown) else 0):
        shaped += [
            _candidate(each, values, kind, pods, shown)
            for candidate in sorted(shaped, key=_order)[:_MOST_RESHAPED]
            for each in _reshaped(kind, candidate.numbers, values, pods, shown)
        ]
        best = min(shaped, key=_order)
    return Count(product(pods.place, best.numbers) if best.numbers else "", tuple(_notes(kind, best, found, shown)))


def _order(candidate: _Candidate) -> tuple[object, ...]:
    return -candidate.agreeing, -candidate.groups, candidate.rank


def _reshaped(
    kind: CustomKind,
    numbers: tuple[NumberField, ...],
    values: dict[NumberField, list[list[int] | None]],
    pods: PodsField,
    shown: Sequence[Counted],
) -> Iterator[tuple[NumberField, ...]]:
    """Yield numbers of which one has another default, a bound or a switch next to it, or one less beside a template."""
    for index, number in enumerate(numbers):
        schema = kind.schema
        for step in number.parent.steps:
            name = "items" if isinstance(step, Entries) and not step.is_map else "additionalProperties"
            schema = below(schema, step) if isinstance(step, str) else entries(schema, name) or {}
        shaped = [] if type(number.default) is int else [replace(number, default=0)]
        for other, field in fields(schema):
            if field.get("type") == "integer" and other != number.name:
                shaped += [replace(number, shape=shape, other=other) for shape in _BOUNDS]
            elif field.get("type") == "boolean" or (is_pod_template(field) and number.parent / other != pods.place):
                shaped.append(replace(number, shape=_LESS if is_pod_template(field) else _STOPPED, other=other))
        for each in shaped if number.shape == "{number}" and not number.is_length else ():
            values[each] = [_values(pods, each, of) for of in shown]
            yield (*numbers[:index], each, *numbers[index + 1 :])


def _notes(
    kind: CustomKind, best: _Candidate, found: Sequence[_Candidate], shown: Sequence[Counted]
) -> Iterator[tuple[Path, str]]:
    at = ("scaleDefinition",) if best.numbers else ("specDefinition",)
    what = "the number of pods" if best.numbers else "one pod each"
    evidence = f"{best.agreeing} of {count(len(shown), 'object')} {'agrees' if len(shown) == 1 else 'agree'}: {what}."
    rivals = [each for each in found if each is not best and each.agreeing == best.agreeing and len(each.numbers) == 1]
    different = {number for each in shown for _, number in each.pods}
    doubts = []
    if best.agreeing < len(shown):
        doubts.append("What is the count of the others?")
    if any(number.other for number in best.numbers):
        doubts.append("Do all of its fields count?")
    if len(shown) <= 1:
        doubts.append("One object is little evidence.")
    if best.numbers and len(different) == 1:
        doubts.append(f"All have {different.pop()}, which other numbers may be as well.")
    if not best.numbers and not kind.crd:
        doubts.append("Is there a count that all leave unset?")
    if any(each.rank[1] <= best.rank[1] for each in rivals):
        doubts.append("Which number is it?")
    if rivals and doubts:
        doubts.append(f"As many: {', '.join(each.numbers[0].place.jq for each in rivals[:_MOST_NAMED])}.")
    yield at, f"CHECK: {evidence} {' '.join(doubts)}" if doubts else evidence


_MOST_NAMED: Final = 4
_UNLIKE: Final = 2


def _candidate(
    numbers: tuple[NumberField, ...],
    values: dict[NumberField, list[list[int] | None]],
    kind: CustomKind,
    pods: PodsField,
    shown: Sequence[Counted],
) -> _Candidate:
    columns = [[values[number][index] for number in numbers] for index in range(len(shown))]
    groups = [_agreeing(factors, each) for factors, each in zip(columns, shown, strict=True)]
    agreeing = sum(number == len(each.pods) for number, each in zip(groups, shown, strict=True))
    names = [_likeness(number, kind) for number in numbers]
    distance = sum(_distance(pods.place, number.parent) for number in numbers)
    return _Candidate(numbers, agreeing, sum(groups), (len(numbers) or 1, max(names, default=_UNLIKE - 0.5), distance))


def _distance(place: SchemaPath, parent: SchemaPath) -> int:
    """Return how many steps lead from one place to the other."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(place.steps, parent.steps, strict=False)))
    return len(place.steps) + len(parent.steps) - 2 * shared


def _likeness(number: NumberField, kind: CustomKind) -> int:
    if number.name in FACTORS or number.place.jq == kind.scale_path:
        return 0
    return 1 if _COUNT.fullmatch(number.name) and not number.is_length else _UNLIKE


def _agreeing(factors: Sequence[list[int] | None], shown: Counted) -> int:
    """Return the number of groups whose pods a product counts."""
    columns = [each for each in factors if each is not None]
    if len(columns) < len(factors):
        return 0
    counts = [prod(column[position] for column in columns) for position in range(shown.instances)]
    return sum(sum(counts[position] for position in positions) == number for positions, number in shown.pods)


def _divided(values: Sequence[list[int] | None], shown: Sequence[Counted]) -> int:
    """Return in how many objects a number divides the pods."""
    pods = [sum(number for _, number in each.pods) for each in shown]
    return sum(
        all(value and not total % value for value in column or [0]) for column, total in zip(values, pods, strict=True)
    )


def _is_set(number: NumberField, shown: Sequence[Counted]) -> bool:
    """Return whether an object has a number."""
    with suppress(QueryError):
        query = Query.compile(number.place.jq)
        return any(value is not None for each in shown for value in query.evaluate(each.object))
    return False


def _values(pods: PodsField, number: NumberField, shown: Counted) -> list[int] | None:
    """Return the values of a number for each instance in an object, None if there are others than numbers."""
    try:
        found = Query.compile(product(pods.place, (number,))).evaluate(shown.object)
    except QueryError:
        return None
    return found if len(found) == shown.instances and all(type(each) is int for each in found) else None


def _numbers(schema: Object, pods: PodsField) -> Iterator[NumberField]:
    """Yield the numbers of an object that may count the pods at a place, the nearest last."""
    yield from _inside(SchemaPath(("spec",)), below(schema, "spec"), pods)


def _inside(path: SchemaPath, schema: Object, pods: PodsField) -> Iterator[NumberField]:
    steps = pods.place.steps
    lists = [index for index, step in enumerate(path.steps) if isinstance(step, Entries)]
    is_on_way = not lists or path.steps[: lists[-1] + 1] == steps[: lists[-1] + 1]
    if not is_on_way or is_pod_template(schema) or (is_pod_spec(schema) and pods.form is not Form.SPEC):
        return
    for name, inner in fields(schema):
        if inner.get("type") == "integer" or inner.get("x-kubernetes-int-or-string") is True:
            yield NumberField(path, name, inner.get("default"))
        elif inner.get("type") == "array" and steps[: len(path.steps) + 1] != (*path.steps, name):
            yield NumberField(path, name, is_length=True)
    for at, inner in parts_below(path, schema):
        yield from _inside(at, inner, pods)
