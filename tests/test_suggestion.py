from itertools import count

import pytest

from karta_interpreter.suggestion import closest, did_you_mean


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        pytest.param(100, "there are: n0, n1, ", id="as many as are looked at"),
        pytest.param(101, "n99, …", id="one more than is looked at"),
    ],
)
def test_a_hint_lists_a_hundred_names_at_most(names: int, hint: str) -> None:
    found = did_you_mean("something else", [f"n{number}" for number in range(names)])
    assert hint in found
    assert found.endswith("…") == (names > 100)


def test_a_suggestion_costs_the_same_for_any_number_of_names() -> None:
    asked = count()
    names = (f"n{next(asked)}" for _ in range(10_000))
    assert did_you_mean("something else", names).startswith("there are: ")
    assert next(asked) == 101
    assert closest("something else", (f"n{next(asked)}" for _ in range(10_000))) == ""
    assert next(asked) < 210
