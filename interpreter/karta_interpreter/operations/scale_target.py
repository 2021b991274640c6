"""The places in an object that set how many pods it has."""

from collections.abc import Iterable
from math import ceil, floor
from typing import NamedTuple

from karta_interpreter.jq import Location
from karta_interpreter.k8s.values import Object, Path
from karta_interpreter.karta import ScaleLocation

UNBOUNDED = 2**31 - 1
"""Karmada counts replicas in 32 bits."""


class ScaleTarget(NamedTuple):
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
        """The names of the pod sets that this target moves."""
        return tuple(scale.pod_set.name for scale in self.scales)

    @property
    def pods(self) -> int:
        """Today's number of pods over all of them."""
        return self.units * self.step

    def write(self, obj: Object, units: int) -> Object:
        """Return the object with ``units`` at this place; `QueryWriteError` when that cannot be."""
        scale, place = self._count()
        count = units * place.factor
        if scale.replicas is not None:
            return self.write_default(scale.replicas.write(obj, count))
        if scale.minimum is not None:
            obj = scale.minimum.write(obj, count)
        if scale.maximum is not None and scale.scale.maximum is not None and scale.scale.maximum < count:
            obj = scale.maximum.write(obj, count)
        return obj

    def write_default(self, obj: Object) -> Object:
        """Return the object with the default that it leaves to its API; Retain would keep the member's count there."""
        scale, place = self._count()
        revised: Object = place.write_default(obj) if scale.has_default else obj
        return revised

    def _count(self) -> "_Placed":
        return next((scale, place) for scale in self.scales if (place := scale.count) and place.factor)

    def __str__(self) -> str:
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        bounds = [f"from {self.least * self.step}"] if self.least else []
        bounds += [f"up to {self.most * self.step}"] if self.most < UNBOUNDED // self.step else []
        return " ".join([f"{' and '.join(self.pod_sets)} can change{steps}", *bounds])


def scale_targets(scales: Iterable[ScaleLocation], elastic: frozenset[str]) -> list[ScaleTarget]:
    """Return the targets that move at least one elastic pod set, in the order of their first one.

    A pod set that shares its place with an elastic one moves with it.
    """
    places: dict[Path, list[_Placed]] = {}
    for scale in scales:
        if (place := scale.count) is not None:
            places.setdefault(place.path, []).append((scale, place))
    return [
        _target(sharing)
        for sharing in places.values()
        if any(scale.pod_set.name in elastic for scale, _ in sharing) and any(place.factor for _, place in sharing)
    ]


_Placed = tuple[ScaleLocation, Location]
"""The counts of a pod set and the place that sets them."""


def _target(sharing: list[_Placed]) -> ScaleTarget:
    moved = [(scale, place) for scale, place in sharing if place.factor]
    bounds = [_bounds(scale, place) for scale, place in moved]
    first, place = moved[0]
    return ScaleTarget(
        scales=tuple([scale for scale, _ in sharing]),
        step=sum([place.factor for _, place in moved]),
        units=first.pod_set.replicas // place.factor,
        least=max([least for least, _ in bounds]),
        most=min([most for _, most in bounds]),
    )


def _bounds(scale: ScaleLocation, place: Location) -> tuple[int, int]:
    """Return the least and the most units that the expression and the pod set's own bounds allow."""
    minimum, maximum = scale.scale.minimum, scale.scale.maximum
    if scale.replicas is None:
        # A minimum that is the count itself moves, and a maximum that is in its way moves with it if it can be written.
        minimum, maximum = None, maximum if scale.maximum is None else None
    least = max([bound for bound in (0, place.floor, minimum) if bound is not None])
    most = min([bound for bound in (UNBOUNDED, place.cap, maximum) if bound is not None])
    return ceil(least / place.factor), floor(most / place.factor)
