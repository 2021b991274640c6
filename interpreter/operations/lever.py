"""The places in an object that set how many pods it has."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

from interpreter.k8s.values import Object, Path
from interpreter.karta.pods import ScaleLocation
from interpreter.query import Location

UNBOUNDED = 2**31 - 1
"""Karmada counts replicas in 32 bits."""


@dataclass(frozen=True, slots=True)
class Lever:
    """One place and the pod sets it moves together.

    A LeaderWorkerSet's ``.spec.replicas`` sets the number of its leaders and of its workers: one unit of it is
    ``step`` pods, as many as the group has. ``units`` is today's number, ``least`` and ``most`` are its bounds.
    """

    scales: tuple[ScaleLocation, ...]
    step: int
    units: int
    least: int
    most: int

    @property
    def pod_sets(self) -> tuple[str, ...]:
        """The names of the pod sets that this lever moves."""
        return tuple(scale.pod_set.name for scale in self.scales)

    @property
    def pods(self) -> int:
        """Today's number of pods over all of them."""
        return self.units * self.step

    def write(self, obj: Object, units: int) -> Object:
        """Return the object with ``units`` at this place; `QueryWriteError` when that cannot be."""
        scale = next(scale for scale in self.scales if _factor(scale))
        count = units * _factor(scale)
        if scale.replicas is not None:
            revised: Object = scale.replicas.write(obj, count)
            return revised
        if scale.minimum is not None:
            obj = scale.minimum.write(obj, count)
        if scale.maximum is not None and scale.scale.maximum is not None and scale.scale.maximum < count:
            obj = scale.maximum.write(obj, count)
        return obj

    def __str__(self) -> str:
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        bounds = [f"from {self.least * self.step}"] if self.least else []
        bounds += [f"up to {self.most * self.step}"] if self.most < UNBOUNDED // self.step else []
        return " ".join([f"{' and '.join(self.pod_sets)} can change{steps}", *bounds])


def levers_of(scales: Iterable[ScaleLocation], elastic: frozenset[str]) -> list[Lever]:
    """Return the levers that move at least one elastic pod set, in the order of their first one.

    A pod set that shares its place with an elastic one moves with it.
    """
    places: dict[Path, list[ScaleLocation]] = {}
    for scale in scales:
        location = _location(scale)
        if location is not None:
            places.setdefault(location.path, []).append(scale)
    levers = []
    for sharing in places.values():
        is_elastic = any(scale.pod_set.name in elastic for scale in sharing)
        if is_elastic and any(_factor(scale) for scale in sharing):
            levers.append(_lever(tuple(sharing)))
    return levers


def _location(scale: ScaleLocation) -> Location | None:
    return scale.replicas or scale.minimum


def _factor(scale: ScaleLocation) -> int:
    location = _location(scale)
    return location.factor if location is not None else 0


def _lever(scales: tuple[ScaleLocation, ...]) -> Lever:
    bounds = [_bounds(scale) for scale in scales if _factor(scale)]
    first = next(scale for scale in scales if _factor(scale))
    return Lever(
        scales=scales,
        step=sum(_factor(scale) for scale in scales),
        units=first.pod_set.replicas // _factor(first),
        least=max(least for least, _ in bounds),
        most=min(most for _, most in bounds),
    )


def _bounds(scale: ScaleLocation) -> tuple[int, int]:
    """Return the least and the most units that the expression and the pod set's own bounds allow."""
    factor, location = _factor(scale), _location(scale)
    if location is None:
        return 0, UNBOUNDED
    # A minimum that is the count itself moves, and a maximum that is in its way moves with it if it can be written.
    minimum = scale.scale.minimum if scale.replicas is not None else None
    maximum = scale.scale.maximum if scale.replicas is not None or scale.maximum is None else None
    least = max(bound for bound in (0, location.floor, minimum) if bound is not None)
    most = min(bound for bound in (UNBOUNDED, location.cap, maximum) if bound is not None)
    return ceil(least / factor), floor(most / factor)
