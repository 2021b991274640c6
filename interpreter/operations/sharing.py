"""Sharing a number of pods among levers: in proportion, within bounds, in whole steps."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, lcm
from typing import NamedTuple, Self

from interpreter.operations.lever import Lever

_REACH = {2: 1024, 3: 128}
_LEAST_REACH = 16
"""How many units around the proportional share are tried when so many steps of different size must add up, or more.

Two steps meet again after as many units of one as the other has pods, which are the hosts of a replica, the size of a
group. Of more steps there are many ways.
"""

_MOST_SUMS = 500
"""How many sums of pods are followed at a time: an object may have hundreds of groups, and all their steps differ."""


def share(total: int, levers: Sequence[Lever]) -> tuple[int, ...] | None:
    """Return the units of each lever so that their pods add up to ``total``, or None when nothing does.

    Shares follow today's counts (equal ones when all are zero); what does not divide goes to the largest remainder
    first, to the earlier lever among equals.
    """
    if (
        not sum(lever.least * lever.step for lever in levers)
        <= total
        <= sum(lever.most * lever.step for lever in levers)
    ):
        return None
    if len(levers) == 1:
        units, rest = divmod(total, levers[0].step)
        return None if rest else (units,)
    ideals = _ideals(total, levers)
    return _rounded(total, levers, ideals) or _stepped(total, levers, ideals)


def _ideals(total: int, levers: Sequence[Lever]) -> list[Fraction]:
    """Return the proportional units of each lever; a share beyond a bound stops there and the rest is shared anew.

    In each round only the side that violates more is pinned, so that no lever is pinned too early.
    """
    pinned: dict[int, Fraction] = {}
    while True:
        free = [index for index in range(len(levers)) if index not in pinned]
        rest = total - sum(units * levers[index].step for index, units in pinned.items())
        shares = _proportional(rest, [levers[index] for index in free])
        ideals = pinned | dict(zip(free, shares, strict=True))
        bounds = {index: _bound(ideals[index], levers[index]) for index in free}
        excess = {index: bound - ideals[index] for index, bound in bounds.items() if bound is not None}
        balance = sum(amount * levers[index].step for index, amount in excess.items())
        beyond = [index for index, amount in excess.items() if amount * (balance or amount) > 0]
        if not beyond:
            return [ideals[index] for index in range(len(levers))]
        pinned |= {index: ideals[index] + excess[index] for index in beyond}


def _proportional(rest: int | Fraction, levers: Sequence[Lever]) -> list[Fraction]:
    weights = [lever.pods for lever in levers]
    if not any(weights):
        weights = [1] * len(levers)
    return [Fraction(rest * weight, sum(weights) * lever.step) for weight, lever in zip(weights, levers, strict=True)]


def _bound(units: Fraction, lever: Lever) -> int | None:
    """Return the bound that a share is beyond; the upper one wins."""
    if units > lever.most:
        return lever.most
    return min(lever.least, lever.most) if units < lever.least else None


def _rounded(total: int, levers: Sequence[Lever], ideals: Sequence[Fraction]) -> tuple[int, ...] | None:
    """Round down, then give one more unit where the remainder is largest; None when steps do not add up."""
    units = [floor(ideal) for ideal in ideals]
    left = total - sum(unit * lever.step for unit, lever in zip(units, levers, strict=True))
    for index in sorted(range(len(levers)), key=lambda index: units[index] - ideals[index]):
        lever = levers[index]
        if lever.step <= left and units[index] < lever.most:
            units[index] += 1
            left -= lever.step
    return tuple(units) if left == 0 else None


def _stepped(total: int, levers: Sequence[Lever], ideals: Sequence[Fraction]) -> tuple[int, ...] | None:
    """Find units near the ideals that add up exactly although steps differ.

    Levers of the same step can stand in for each other. So the pods of each step are settled first, and then shared
    among its levers, which always adds up.
    """
    places: dict[int, list[int]] = {}
    for index, lever in enumerate(levers):
        places.setdefault(lever.step, []).append(index)
    classes = [
        _Class.of([levers[index] for index in each], [ideals[index] for index in each]) for each in places.values()
    ]
    settled = _settled(total, classes)
    if settled is None:
        return None
    units = dict[int, int]()
    for each, count in zip(places.values(), settled, strict=True):
        alone = [levers[index]._replace(step=1) for index in each]
        units |= zip(each, share(count, alone) or (), strict=True)
    return tuple(units[index] for index in range(len(levers)))


class _Class(NamedTuple):
    """All levers of one step: what they share in units, exactly and at least and at most."""

    step: int
    ideal: Fraction
    least: int
    most: int

    @classmethod
    def of(cls, levers: Sequence[Lever], ideals: Sequence[Fraction]) -> Self:
        least, most = (sum(bounds) for bounds in zip(*((lever.least, lever.most) for lever in levers), strict=True))
        return cls(levers[0].step, Fraction(sum(ideals)), least, most)

    def window(self, reach: int) -> range:
        """The units that are tried."""
        middle = floor(self.ideal)
        return range(max(self.least, middle - reach), min(self.most, middle + reach) + 1)


def _settled(total: int, classes: Sequence[_Class]) -> tuple[int, ...] | None:
    """Return the units of each class, the cheapest way to the total; there may be a way that is not tried."""
    reach = _REACH.get(len(classes), _LEAST_REACH)
    scale = lcm(*(each.ideal.denominator for each in classes))  # with it costs are whole numbers
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for each in classes[:-1]:
        ideal = int(each.ideal * scale)
        window = [(unit * each.step, abs(unit * scale - ideal) * each.step, unit) for unit in each.window(reach)]
        reachable: dict[int, tuple[int, tuple[int, ...]]] = {}
        for pods, (cost, units) in best.items():
            for more, price, unit in window:
                known = reachable.get(pods + more)
                if known is None or cost + price < known[0]:
                    reachable[pods + more] = cost + price, (*units, unit)
        best = dict(sorted(reachable.items(), key=lambda found: found[1][0])[:_MOST_SUMS])
    last = classes[-1]
    ways = [
        (cost + abs(unit * scale - int(last.ideal * scale)) * last.step, (*units, unit))
        for pods, (cost, units) in best.items()
        for unit, rest in [divmod(total - pods, last.step)]
        if not rest and last.least <= unit <= last.most
    ]
    return min(ways)[1] if ways else None
