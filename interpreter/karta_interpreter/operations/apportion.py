"""Sharing a number of pods among targets: in proportion, within bounds, in whole steps."""

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple, Self

from karta_interpreter.operations.scale_target import ScaleTarget

_REACH = {2: 1024, 3: 128}
_LEAST_REACH = 16
"""How many units around the proportional share are tried when so many steps of different size must add up, or more.

Two steps meet again after as many units of one as the other has pods, which are the hosts of a replica, the size of a
group. Of more steps there are many ways.
"""

_MOST_SUMS = 500
"""How many sums of pods are followed at a time: an object may have hundreds of groups, and all their steps differ."""


def share(total: int, targets: Sequence[ScaleTarget]) -> tuple[int, ...] | None:
    """Return the units of each target so that their pods add up to ``total``, or None when nothing does.

    Shares follow today's counts (equal ones when all are zero); what does not divide goes to the largest remainder
    first, to the earlier target among equals.
    """
    if (
        not sum(target.least * target.step for target in targets)
        <= total
        <= sum(target.most * target.step for target in targets)
    ):
        return None
    if len(targets) == 1:
        units, rest = divmod(total, targets[0].step)
        return None if rest else (units,)
    ideals = _ideals(total, targets)
    return _rounded(total, targets, ideals) or _stepped(total, targets, ideals)


class _Ideals(NamedTuple):
    """The proportional units of targets, exactly: in ``parts`` of which a unit has ``unit``."""

    parts: Sequence[int]
    unit: int


def _ideals(total: int, targets: Sequence[ScaleTarget]) -> _Ideals:
    """Return the proportional units of each target; a share beyond a bound stops there and the rest is shared anew.

    In each round only the side that violates more is pinned, so that no target is pinned too early.
    """
    pinned: dict[int, int] = {}
    while True:
        free = [index for index in range(len(targets)) if index not in pinned]
        rest = total - sum(units * targets[index].step for index, units in pinned.items())
        shares, unit = _proportional(rest, [targets[index] for index in free])
        excess: dict[int, int] = {}
        bounds: dict[int, int] = {}
        for index, parts in zip(free, shares, strict=True):
            bound = _bound(parts, unit, targets[index])
            if bound is not None:
                bounds[index], excess[index] = bound, bound * unit - parts
        balance = sum(amount * targets[index].step for index, amount in excess.items())
        beyond = {index: bounds[index] for index, amount in excess.items() if amount * (balance or amount) > 0}
        if not beyond:
            ideals = {index: units * unit for index, units in pinned.items()} | dict(zip(free, shares, strict=True))
            return _Ideals([ideals[index] for index in range(len(targets))], unit)
        pinned |= beyond


def _proportional(rest: int, targets: Sequence[ScaleTarget]) -> _Ideals:
    weights = [target.pods for target in targets]
    if not any(weights):
        weights = [1] * len(targets)
    step = lcm(*(target.step for target in targets))
    parts = [rest * weight * (step // target.step) for weight, target in zip(weights, targets, strict=True)]
    return _Ideals(parts, sum(weights) * step or 1)


def _bound(parts: int, unit: int, target: ScaleTarget) -> int | None:
    """Return the bound that a share is beyond; the upper one wins."""
    if parts > target.most * unit:
        return target.most
    return min(target.least, target.most) if parts < target.least * unit else None


def _rounded(total: int, targets: Sequence[ScaleTarget], ideals: _Ideals) -> tuple[int, ...] | None:
    """Round down, then give one more unit where the remainder is largest; None when steps do not add up."""
    units = [parts // ideals.unit for parts in ideals.parts]
    left = total - sum(unit * target.step for unit, target in zip(units, targets, strict=True))
    remainders = [parts % ideals.unit for parts in ideals.parts]
    for index in sorted(range(len(targets)), key=remainders.__getitem__, reverse=True):
        target = targets[index]
        if target.step <= left and units[index] < target.most:
            units[index] += 1
            left -= target.step
    return tuple(units) if left == 0 else None


def _stepped(total: int, targets: Sequence[ScaleTarget], ideals: _Ideals) -> tuple[int, ...] | None:
    """Find units near the ideals that add up exactly although steps differ.

    Targets of the same step can stand in for each other. So the pods of each step are settled first, and then
    shared among its targets, which always adds up.
    """
    places: dict[int, list[int]] = {}
    for index, target in enumerate(targets):
        places.setdefault(target.step, []).append(index)
    classes = [
        _Class.of([targets[index] for index in each], sum(ideals.parts[index] for index in each))
        for each in places.values()
    ]
    settled = _settled(total, classes, ideals.unit)
    if settled is None:
        return None
    units = dict[int, int]()
    for each, count in zip(places.values(), settled, strict=True):
        alone = [targets[index]._replace(step=1) for index in each]
        units |= zip(each, share(count, alone) or (), strict=True)
    return tuple(units[index] for index in range(len(targets)))


class _Class(NamedTuple):
    """All targets of one step: what they share in units, at least and at most, and exactly in ``parts``."""

    step: int
    parts: int
    least: int
    most: int

    @classmethod
    def of(cls, targets: Sequence[ScaleTarget], parts: int) -> Self:
        least, most = (sum(bounds) for bounds in zip(*((target.least, target.most) for target in targets), strict=True))
        return cls(targets[0].step, parts, least, most)

    def window(self, reach: int, unit: int) -> range:
        """The units that are tried."""
        middle = self.parts // unit
        return range(max(self.least, middle - reach), min(self.most, middle + reach) + 1)


def _settled(total: int, classes: Sequence[_Class], one: int) -> tuple[int, ...] | None:
    """Return the units of each class, the cheapest way to the total; there may be a way that is not tried.

    A unit has ``one`` parts.
    """
    reach = _REACH.get(len(classes), _LEAST_REACH)
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for each in classes[:-1]:
        window = [
            (unit * each.step, abs(unit * one - each.parts) * each.step, unit) for unit in each.window(reach, one)
        ]
        reachable: dict[int, tuple[int, tuple[int, ...]]] = {}
        for pods, (cost, units) in best.items():
            for more, price, unit in window:
                known = reachable.get(pods + more)
                if known is None or cost + price < known[0]:
                    reachable[pods + more] = cost + price, (*units, unit)
        best = dict(sorted(reachable.items(), key=lambda found: found[1][0])[:_MOST_SUMS])
    last = classes[-1]
    ways = [
        (cost + abs(unit * one - last.parts) * last.step, (*units, unit))
        for pods, (cost, units) in best.items()
        for unit, rest in [divmod(total - pods, last.step)]
        if not rest and last.least <= unit <= last.most
    ]
    return min(ways)[1] if ways else None
