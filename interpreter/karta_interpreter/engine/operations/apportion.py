"""The places in an object that set its number of pods, and how a number of pods is shared among them."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, gcd, lcm
from typing import NamedTuple, TypeAlias

from karta_interpreter.base.k8s import MOST_REPLICAS, Object, Path, Projection, grouped
from karta_interpreter.definitions.karta import ComponentRules
from karta_interpreter.engine.evaluation import ScaleLocation
from karta_interpreter.languages.jq import Location, Query, syntax, take_outputs

_Units: TypeAlias = tuple[int, ...]
"""How many units each target or group gets."""

_MOST_FIELDS, _MOST_STEPS = 4, 12
"""The most fields that a message names, and the longest path."""

_REACH = {2: 1024, 3: 128, 4: 64}
_MOST_REACH, _LEAST_REACH = 16, 2
_MOST_SUMS, _LEAST_SUMS = 500, 16


def limits(steps: int) -> tuple[int, int]:
    """Return how far from the proportional share to search if that many different steps must add up.

    The first number says how many units around the share of each step are tried, the second how many sums of pods are
    followed at a time. The pods of a step are the hosts of a replica or the size of a group. Two steps meet again after
    as many units of one as the other has pods. So for two steps the nearest solution is found whenever one exists and a
    unit has at most 1024 pods. More steps have many solutions. Measured with random counts and units of up to 64 pods,
    all but 1 in 1000 of the reachable totals are reached. Units of hundreds of pods miss some. The limits keep the
    search below a third of a second, because every call of the process waits for it.

    >>> limits(2), limits(5), limits(64), limits(300)
    ((1024, 500), (16, 500), (4, 156), (2, 33))
    """
    reach = _REACH.get(steps) or max(_LEAST_REACH, min(_MOST_REACH, 256 // steps))
    return reach, max(_LEAST_SUMS, min(_MOST_SUMS, 10_000 // steps))


class ScaleTarget(NamedTuple):
    """One place and the pod sets it moves together."""

    scales: tuple[ScaleLocation, ...]
    step: int
    """The pods of one unit. A LeaderWorkerSet's ``.spec.replicas`` sets the number of both its leaders and its workers,
    so its step is the size of the group.
    """
    units: int
    """The present number of units."""
    least: int
    most: int

    @property
    def pod_sets(self) -> tuple[str, ...]:
        """The names of the pod sets that this target changes."""
        return tuple(scale.pod_set.name for scale in self.scales)

    def write(self, obj: Object, units: int) -> Object:
        """Return the object with ``units`` at this place. Raises `QueryWriteError` if that is impossible."""
        scale, location = self._count()
        count = units * location.factor
        if scale.replicas is not None:
            return self.write_default(scale.replicas.write(obj, count), units)
        if scale.minimum is not None:
            obj = scale.minimum.write(obj, count)
        # An autoscaler with a maximum below its minimum is invalid.
        if scale.maximum is not None and scale.scale.maximum is not None and scale.scale.maximum < count:
            obj = scale.maximum.write(obj, count)
        return self.write_default(obj, units)

    def write_default(self, obj: Object, units: int) -> Object:
        """Return the object with its default written out, because Retain would keep the member's count there."""
        scale, location = self._count()
        revised: Object = location.write_default(obj, units) if scale.places.component.has_default_count else obj
        return revised

    def _count(self) -> tuple[ScaleLocation, Location]:
        located = ((scale, scale.count) for scale in self.scales)
        return next((scale, location) for scale, location in located if location and location.factor)

    def __str__(self) -> str:
        words = [f"{' and '.join(self.pod_sets)} can change"]
        if self.step > 1:
            words.append(f"in steps of {self.step}")
        if self.least:
            words.append(f"from {self.least * self.step}")
        if self.most < MOST_REPLICAS // self.step:
            words.append(f"up to {self.most * self.step}")
        return " ".join(words)


def scale_targets(scales: Iterable[ScaleLocation], elastic: frozenset[str]) -> list[ScaleTarget]:
    """Return the targets that change an elastic pod set, in order. Pod sets with a shared place change together."""
    places = dict[Path, list[tuple[ScaleLocation, Location]]]()
    for scale in scales:
        location = scale.count
        if location is not None:
            places.setdefault(location.path, []).append((scale, location))
    targets = []
    for sharing in places.values():
        moved = [(scale, location) for scale, location in sharing if location.factor]
        if moved and any(scale.pod_set.name in elastic for scale, _ in sharing):
            bounds = [_bounds(scale, location) for scale, location in moved]
            first, location = moved[0]
            target = ScaleTarget(
                scales=tuple([scale for scale, _ in sharing]),
                step=sum([location.factor for _, location in moved]),
                units=first.pod_set.replicas // location.factor,
                least=max([least for least, _ in bounds]),
                most=min([most for _, most in bounds]),
            )
            targets.append(target)
    return targets


def _bounds(scale: ScaleLocation, location: Location) -> tuple[int, int]:
    """Return the least and the most units that the expression and the pod set's own bounds allow."""
    minimum, maximum = scale.scale.minimum, scale.scale.maximum
    if scale.replicas is None:
        # A minimum that is the count itself moves with it. So does a maximum that would be exceeded, if it can be
        # written.
        minimum = None
        if scale.maximum is not None:
            maximum = None
    least = max([bound for bound in (0, location.floor, minimum) if bound is not None])
    most = min([bound for bound in (MOST_REPLICAS, location.cap, maximum) if bound is not None])
    return ceil(least / location.factor), floor(most / location.factor)


def why_fixed(component: ComponentRules) -> str:
    """Return why no number of pods can be written for a component, with the fields that set its number."""
    if component.count is None:
        return f"its definition has no replicasPath for {component.name}"
    if fields := fields_read(component.count):
        return f"its count follows from {fields}"
    return "no field sets its count" if isinstance(component.count.node, syntax.Literal) else "its count is computed"


def fields_read(*queries: Query) -> str:
    """Return the fields that expressions read, or the objects with these fields. Return "" if there are none.

    >>> fields_read(Query.compile(".spec.groups[] | .replicas * .hosts"))
    'spec.groups[].replicas, spec.groups[].hosts'
    """
    projection = Projection()
    take_outputs(projection, *queries)
    steps, fields = _MOST_STEPS, [] if projection.is_whole else projection.paths(_MOST_STEPS)
    while len(fields) > _MOST_FIELDS and steps > 1:
        steps -= 1
        fields = projection.paths(steps)
    return ", ".join(fields)


def share(total: int, targets: Sequence[ScaleTarget]) -> _Units | None:
    """Return the units of each target so that their pods add up to ``total``, or None if that is impossible.

    Shares follow the present counts (equal shares if all are zero). Pods that do not divide evenly go to the largest
    remainder first, and among equals to the earlier target.
    """
    least = sum(target.least * target.step for target in targets)
    if not least <= total <= sum(target.most * target.step for target in targets):
        return None
    # Steps that are all even never add up to an odd number, and the search would try them all.
    common = gcd(*(target.step for target in targets if target.least < target.most))
    if common and (total - least) % common:
        return None
    if len(targets) == 1:
        units, remainder = divmod(total, targets[0].step)
        return None if remainder else (units,)
    ideals = _ideals(total, targets)
    return _rounded(total, targets, *ideals) or _stepped(total, targets, *ideals)


def _ideals(total: int, targets: Sequence[ScaleTarget]) -> tuple[list[int], int]:
    """Return the exact proportional units of each target in parts, and the number of parts of a unit.

    A share beyond a bound stops at the bound, and the rest is shared anew. Each round pins only the side that violates
    more, so that no target is pinned too early.
    """
    pinned: dict[int, int] = {}
    while True:
        free = {index: target for index, target in enumerate(targets) if index not in pinned}
        to_share = total - sum(units * targets[index].step for index, units in pinned.items())
        weights = [target.units * target.step for target in free.values()]
        if not any(weights):
            weights = [1] * len(weights)
        # Whole numbers, because a float rounds the product of two counts of up to 31 bits each.
        step = lcm(*(target.step for target in free.values()))
        unit = sum(weights) * step or 1
        ideals, excess, balance = dict[int, int](), dict[int, int](), 0
        for weight, (index, target) in zip(weights, free.items(), strict=True):
            ideal = to_share * weight * (step // target.step)
            ideals[index] = ideal
            excess[index] = min(max(ideal, target.least * unit), target.most * unit) - ideal
            balance += excess[index] * target.step
        # The targets with an excess of the same sign as the sum of all. If the sum is 0, both sides.
        beyond = {index: amount for index, amount in excess.items() if amount * (balance or amount) > 0}
        if not beyond:
            ideals |= {index: units * unit for index, units in pinned.items()}
            return [ideals[index] for index in range(len(targets))], unit
        pinned |= {index: (ideals[index] + amount) // unit for index, amount in beyond.items()}


def _rounded(total: int, targets: Sequence[ScaleTarget], ideals: Sequence[int], unit: int) -> _Units | None:
    """Round down, then add a unit where the remainder is largest. Return None if the steps do not add up."""
    units = [parts // unit for parts in ideals]
    to_share = total - sum(count * target.step for count, target in zip(units, targets, strict=True))
    # The sort is stable even in reverse, so the earlier target comes first among equals.
    for index in sorted(range(len(targets)), key=lambda index: ideals[index] % unit, reverse=True):
        target = targets[index]
        if target.step <= to_share and units[index] < target.most:
            units[index] += 1
            to_share -= target.step
    return tuple(units) if to_share == 0 else None


class _Group(NamedTuple):
    """All targets of one step, with the sums of their bounds (in units) and of their ideals (in parts of a unit)."""

    step: int
    least: int
    most: int
    parts: int


def _stepped(total: int, targets: Sequence[ScaleTarget], ideals: Sequence[int], unit: int) -> _Units | None:
    """Find units near the ideals that add up exactly although steps differ.

    Targets of the same step are interchangeable. So the pods of each step are found first and then shared among its
    targets, which always adds up.
    """
    by_step = grouped((target.step, index) for index, target in enumerate(targets))
    groups: list[_Group] = []
    for step, places in by_step.items():
        least = most = parts = 0
        for index in places:
            target = targets[index]
            least, most, parts = least + target.least, most + target.most, parts + ideals[index]
        groups.append(_Group(step, least, most, parts))
    counts = _cheapest(total, groups, unit)
    if counts is None:
        return None
    units = dict[int, int]()
    for places, count in zip(by_step.values(), counts, strict=True):
        alone = [targets[at]._replace(step=1) for at in places]
        units |= zip(places, share(count, alone) or (), strict=True)
    return tuple(units[index] for index in range(len(targets)))


def _cheapest(total: int, groups: Sequence[_Group], unit: int) -> _Units | None:
    """Return the units of each group: of the solutions tried, the nearest to the ideals. Not all solutions are tried.

    All groups but the last one try the units around their ideal. The last one takes the remainder.
    """
    reach, sums = limits(len(groups))
    best: dict[int, tuple[int, _Units]] = {0: (0, ())}  # by the pods so far, their cost and the units
    for step, least, most, parts in groups[:-1]:
        middle = parts // unit
        reachable: dict[int, tuple[int, _Units]] = {}
        window = range(max(least, middle - reach), min(most, middle + reach) + 1)
        prices = [(units * step, abs(units * unit - parts) * step, units) for units in window]
        for pods, (cost, chosen) in best.items():
            for more, price, units in prices:
                cheapest = reachable.get(pods + more)
                if cheapest is None or cost + price < cheapest[0]:
                    reachable[pods + more] = cost + price, (*chosen, units)
        best = dict(sorted(reachable.items(), key=lambda entry: entry[1][0])[:sums])
    step, least, most, parts = groups[-1]
    ways = []
    for pods, (cost, chosen) in best.items():
        units, remainder = divmod(total - pods, step)
        if not remainder and least <= units <= most:
            ways.append((cost + abs(units * unit - parts) * step, (*chosen, units)))
    return min(ways)[1] if ways else None
