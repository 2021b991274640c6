"""Sharing a number of pods among levers: in proportion, within bounds, in whole steps."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from interpreter.operations.lever import Lever

_REACH = 8
"""How many units around the proportional share are tried when steps of different size must add up."""


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
    ideals = _ideals(total, levers)
    return _rounded(total, levers, ideals) or _exact(total, levers, ideals)


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
        excess = {index: _clamped(ideals[index], levers[index]) - ideals[index] for index in free}
        balance = sum(amount * levers[index].step for index, amount in excess.items())
        beyond = [index for index in free if excess[index] * (balance or excess[index]) > 0]
        if not beyond:
            return [ideals[index] for index in range(len(levers))]
        pinned |= {index: ideals[index] + excess[index] for index in beyond}


def _proportional(rest: int | Fraction, levers: Sequence[Lever]) -> list[Fraction]:
    weights = [lever.pods for lever in levers]
    if not any(weights):
        weights = [1] * len(levers)
    return [Fraction(rest * weight, sum(weights) * lever.step) for weight, lever in zip(weights, levers, strict=True)]


def _clamped(units: Fraction, lever: Lever) -> Fraction:
    return min(max(units, Fraction(lever.least)), Fraction(lever.most))


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


def _exact(total: int, levers: Sequence[Lever], ideals: Sequence[Fraction]) -> tuple[int, ...] | None:
    """Find the units nearest to the ideals that add up exactly: the cheapest way to each partial sum."""
    best: dict[int, tuple[Fraction, tuple[int, ...]]] = {0: (Fraction(0), ())}
    for lever, ideal in zip(levers, ideals, strict=True):
        reachable: dict[int, tuple[Fraction, tuple[int, ...]]] = {}
        window = range(max(lever.least, floor(ideal) - _REACH), min(lever.most, floor(ideal) + _REACH) + 1)
        for pods, (cost, units) in best.items():
            for unit in window:
                candidate = (cost + abs(unit - ideal) * lever.step, (*units, unit))
                reached = pods + unit * lever.step
                if reached not in reachable or candidate[0] < reachable[reached][0]:
                    reachable[reached] = candidate
        best = reachable
    return best[total][1] if total in best else None
