"""How many pods there are: numbers on the way to a pod definition."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.drafting.place import Place
from karta_interpreter.karta.drafting.pods import Form, Pods
from karta_interpreter.karta.drafting.shapes import fields, is_number

FACTORS = ("replicas", "parallelism", "hosts", "numOfHosts", "numHosts", "nodeCount", "numNodes", "instances")
"""Fields that multiply the pods of what they stand in, as kinds of operators are wont to call them."""

_MAY_COUNT = re.compile(r"(?i)replicas|count|size|num|hosts|nodes|workers|completions")
_MOST = 4


@dataclass(frozen=True, slots=True)
class Number:
    """A field on the way to pods that holds a number; ``default`` is what the API server puts there."""

    parent: Place
    name: str
    default: JSON = None

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.parent / self.name


@dataclass(frozen=True, slots=True)
class Counts:
    """The fields of a `scaleDefinition`.

    ``others`` are numbers nearby that may have to be in them, too; ``is_product`` tells that several are.
    """

    paths: dict[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_product: bool = False


def counts(pods: Pods, scale_path: str) -> Counts:
    """The product of every count on the way to pods; without one that of the scale subresource.

    Counts of a Karta are for the whole workload: those of what a part stands in are multiplied in.
    """
    numbers = list(_numbers(pods))
    factors = [number for number in numbers if number.name in FACTORS]
    bounds = {f"{number.name}Path": number.place.jq for number in _bounds(factors, numbers)}
    paths = bounds
    if factors:
        paths = {"replicasPath": _product(pods.place, factors), **bounds}
    elif scale_path and not (bounds or pods.place.has_instances):
        paths = {"replicasPath": f"{scale_path} // 1"}
    return Counts(paths, _others(numbers, bounds.values()), len(factors) > 1)


def _numbers(pods: Pods) -> Iterator[Number]:
    own = ((pods.place, pods.schema),) if pods.form is Form.SPEC else ()
    for place, schema in (*pods.ancestors, *own):
        for name, part in fields(schema):
            if is_number(part):
                yield Number(place, name, part.get("default"))


def _others(numbers: Sequence[Number], used: Collection[str]) -> tuple[str, ...]:
    found = (number.place.jq for number in numbers if number.name not in FACTORS and _MAY_COUNT.search(number.name))
    return tuple(path for path in found if path not in used)[:_MOST]


def _bounds(factors: Sequence[Number], numbers: Sequence[Number]) -> list[Number]:
    """The least and the largest count, where nothing else has to be multiplied in."""
    if [factor.name for factor in factors] not in ([], ["replicas"]):
        return []
    bounds = [number for name in ("minReplicas", "maxReplicas") for number in numbers if number.name == name]
    parent = next((number.parent for number in (*factors, *reversed(bounds))), None)
    return [number for number in bounds if number.parent == parent]


def _product(place: Place, factors: Sequence[Number]) -> str:
    """One count for each instance of the pods at a place.

    >>> from karta_interpreter.karta.drafting.place import Entries
    >>> groups = Place(("spec", "groups", Entries(key="name")))
    >>> _product(groups / "template", [Number(groups, "replicas"), Number(groups, "numOfHosts", 2)])
    '.spec.groups[] | (.replicas // 1) * (.numOfHosts // 2)'
    >>> _product(groups / "template", [Number(Place(("spec",)), "replicas")])
    '(.spec.replicas // 1) * (.spec.groups[] | 1)'
    """
    mine = [factor for factor in factors if not factor.parent.has_instances]
    deeper = [_inside(factor) for factor in factors if factor.parent.has_instances]
    parts = [f"{factor.place.jq} // {_default(factor)}" for factor in mine]
    if not place.has_instances:
        return _times(parts)
    steps = len(place.first.steps) + 1
    each = f"{Place(place.steps[:steps]).jq} | {_product(Place(place.steps[steps:]), deeper)}"
    return _times([*parts, each])


def _inside(factor: Number) -> Number:
    """The same number, seen from an entry of the first list or map on the way to it."""
    steps = len(factor.parent.first.steps) + 1
    return Number(Place(factor.parent.steps[steps:]), factor.name, factor.default)


def _times(parts: Sequence[str]) -> str:
    return " * ".join(f"({part})" for part in parts) if len(parts) > 1 else "".join(parts) or "1"


def _default(number: Number) -> int:
    return number.default if type(number.default) is int else 1
