"""Sharing pods among targets."""

import operator
from itertools import product

import pytest
from hypothesis import assume, given, strategies as st

from karta_interpreter.base.k8s.values import MOST_REPLICAS
from karta_interpreter.engine.operations import apportion
from karta_interpreter.engine.operations.apportion import ScaleTarget, limits, share
from tests.support.rows import rows


def target(units: int, *, step: int = 1, least: int = 0, most: int = MOST_REPLICAS) -> ScaleTarget:
    return ScaleTarget(scales=(), step=step, units=units, least=least, most=most)


@rows(
    ("total", "targets", "expected"),
    [
        pytest.param(5, [target(3)], (5,), id="a lone target takes everything"),
        pytest.param(6, [target(2, step=4)], None, id="six pods are no whole groups of four"),
        pytest.param(8, [target(3, step=4)], (2,), id="eight pods are two groups of four"),
        pytest.param(9, [target(4), target(2)], (6, 3), id="two to one stays two to one"),
        pytest.param(4, [target(4), target(2)], (3, 1), id="2.67 and 1.33: the larger remainder gets the odd one"),
        pytest.param(1, [target(1), target(1)], (1, 0), id="equal remainders: the earlier target"),
        pytest.param(4, [target(0), target(0)], (2, 2), id="all at zero share equally"),
        pytest.param(0, [target(4), target(2)], (0, 0), id="to zero"),
        pytest.param(10, [target(1, most=2), target(1)], (2, 8), id="what a full target cannot take, the other does"),
        pytest.param(4, [target(9), target(1, least=2)], (2, 2), id="a floor is kept, the other gives way"),
        pytest.param(4, [target(9, most=2), target(1, least=2)], (2, 2), id="a cap and a floor take all at once"),
        pytest.param(7, [target(2, least=2, most=3), target(1, least=2, most=4), target(0, least=1, most=3)],
            (3, 3, 1), id="a floor of one pod is kept, too"),
        pytest.param(3, [target(1, least=2), target(1, least=2)], None, id="less than the floors add up to"),
        pytest.param(5, [target(1, most=2), target(1, most=2)], None, id="more than the caps add up to"),
        pytest.param(6, [target(1, step=2), target(1, step=3)], (0, 2), id="2a + 3b = 6, nearest to 1.2 and 1.2"),
        pytest.param(1, [target(1, step=2), target(1, step=4)], None, id="odd numbers are out of reach of even steps"),
        pytest.param(8, [target(0), target(4)], (0, 8), id="a target at zero has no share of a proportion"),
        pytest.param(133, [target(1, step=20), target(40, step=33)], (5, 1),
            id="133 = 20a + 33b has one way, far away"),
        pytest.param(9, [target(1, step=3), target(3, most=2)], (3, 0),
            id="a full target takes no pod that is left over"),
        pytest.param(9, [target(1, step=2), target(1), target(1, step=2)], (2, 1, 2),
            id="groups of two stay alike where they can"),
    ],
)  # fmt: skip
def test_share(total: int, targets: list[ScaleTarget], expected: tuple[int, ...] | None) -> None:
    assert share(total, targets) == expected


targets = st.builds(
    lambda units, step, least, room: target(units, step=step, least=least, most=least + room),
    st.integers(0, 50),
    st.integers(1, 5),
    st.integers(0, 5),
    st.integers(0, 60),
)


@given(st.lists(targets, min_size=1, max_size=5), st.integers(0, 400))
def test_apportioned_counts_add_up_within_bounds(some: list[ScaleTarget], total: int) -> None:
    units = share(total, some)
    assume(units is not None)
    assert units
    assert sum(unit * one.step for unit, one in zip(units, some, strict=True)) == total
    assert all(one.least <= unit <= one.most for unit, one in zip(units, some, strict=True))


few = st.builds(
    lambda units, step, least, room: target(units, step=step, least=least, most=least + room),
    st.integers(0, 9),
    st.integers(1, 9),
    st.integers(0, 3),
    st.integers(0, 5),
)


@given(st.lists(few, min_size=1, max_size=4), st.integers(0, 120))
def test_reachable_total_is_reached(some: list[ScaleTarget], total: int) -> None:
    ways = product(*(range(one.least, one.most + 1) for one in some))
    steps = [one.step for one in some]
    can_be_reached = any(sum(map(operator.mul, units, steps)) == total for units in ways)
    assert (share(total, some) is not None) == can_be_reached


def test_many_groups_of_many_sizes_are_shared() -> None:
    # Trying all ways to share them would take hours.
    some = [target(3 + index, step=97 - index) for index in range(60)]
    total = sum(one.units * one.step for one in some) + 11
    units = share(total, some)
    assert units is not None
    assert sum(map(operator.mul, units, (one.step for one in some))) == total


@rows("steps", [2, 3, 4, 5, 16, 20, 60, 300, 3000])
def test_search_does_not_grow_with_number_of_steps(steps: int) -> None:
    reach, sums = limits(steps)
    tried = 2 * reach + 1
    assert tried + (steps - 2) * tried * sums < 250_000


def test_impossible_sum_of_steps_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apportion, "limits", lambda _: pytest.fail("there is nothing to search"))
    some = [target(5, step=2 * step) for step in range(2, 302)]
    fixed = target(1, step=3, least=1, most=1)
    for targets in (some, [*some, fixed]):
        assert share(sum(one.units * one.step for one in targets) + 1, targets) is None


@given(st.lists(st.builds(target, st.integers(0, 50)), min_size=1, max_size=6), st.integers(0, 1000))
def test_single_steps_always_add_up_and_stay_within_one_of_proportion(some: list[ScaleTarget], total: int) -> None:
    units = share(total, some)
    assert units is not None
    weights = [one.units for one in some] if any(one.units for one in some) else [1] * len(some)
    for unit, weight in zip(units, weights, strict=True):
        assert abs(unit - total * weight / sum(weights)) < 1
