"""Laws of differences and of the series of them that are fights."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karta_interpreter.base.k8s.patch import diff, patched
from karta_interpreter.engine.contention import TURNS, WINDOW, FieldDifference, Streak, Turn, advanced, differences

KEYS = st.sampled_from(["name", "a", "b/c", "spec", "d~e"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "1"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(KEYS, parts, max_size=3),
    max_leaves=12,
)
OBJECTS = st.fixed_dictionaries({"spec": VALUES, "status": VALUES})
FIELD = ".spec.a"


def fought(values: list[tuple[Any, Any]], generations: list[int | None], seconds: float = 5.0) -> Streak | None:
    """The streak of a field after a pair of values for each turn."""
    streaks: dict[str, Streak] = {}
    for number, (pair, generation) in enumerate(zip(values, generations, strict=True)):
        found = [FieldDifference(FIELD, *pair)] if pair[0] != pair[1] else []
        streaks = advanced(streaks, Turn(number * seconds, number, generation, found))
    return streaks.get(FIELD)


@given(OBJECTS, OBJECTS)
def test_a_difference_is_found_in_both_directions(one: Any, other: Any) -> None:
    there = [(each.field, each.ours, each.theirs) for each in differences(one, other)]
    back = [(each.field, each.theirs, each.ours) for each in differences(other, one)]
    assert sorted(map(repr, there)) == sorted(map(repr, back))
    assert all(field.startswith(".spec") and "[0]" not in field for field, *_ in there)


@given(OBJECTS, VALUES)
def test_equal_specs_have_no_difference(obj: Any, status: Any) -> None:
    assert differences(obj, {**obj, "status": status}) == []


@given(VALUES, VALUES)
def test_a_document_is_patched_by_its_difference(old: Any, new: Any) -> None:
    before, after = {"top": old}, {"top": new}
    assert diff(patched(before, diff(before, after)), after) == []


@given(VALUES, VALUES, st.integers(TURNS, 9))
def test_two_values_that_take_turns_are_a_fight_from_the_fourth_turn_on(ours: Any, theirs: Any, turns: int) -> None:
    if not differences({"spec": ours}, {"spec": theirs}):
        return
    streaks: dict[str, Streak] = {}
    for number in range(turns):
        found = differences({"spec": ours}, {"spec": theirs})
        streaks = advanced(streaks, Turn(number * 5.0, number, 2 * number, found))
        assert {streak.is_fight for streak in streaks.values()} == {number + 1 >= TURNS}
    assert {round(streak.per_minute) for streak in streaks.values()} == {12}


@given(st.lists(st.integers(0, 3), min_size=2, max_size=20), st.integers(0, 3))
def test_a_template_that_never_keeps_a_value_for_four_turns_is_not_in_a_fight(ours: list[int], theirs: int) -> None:
    changed = [value for index, value in enumerate(ours) if index < 3 or len(set(ours[index - 3 : index + 1])) > 1]
    streaks: dict[str, Streak] = {}
    longest = run = 0
    before = None
    for number, value in enumerate(changed):
        run = run + 1 if value == before else 1
        before = value
        longest = max(longest, run)
        found = [FieldDifference(FIELD, value, theirs)]
        streaks = advanced(streaks, Turn(number * 5.0, number, 2 * number, found))
        assert not streaks[FIELD].is_fight or longest >= TURNS


@given(st.lists(st.integers(0, 1), min_size=TURNS, max_size=20))
def test_an_update_that_never_lands_is_not_a_fight(steps: list[int]) -> None:
    generations: list[int | None] = [sum(steps[: index + 1]) for index in range(len(steps))]
    streak = fought([("a", "b")] * len(steps), generations)
    assert streak
    # Others may change the object meanwhile: not twice between each two looks.
    assert streak.turns <= 1 + sum(steps) // 2


@pytest.mark.parametrize(
    ("values", "generations", "seconds", "is_fight"),
    [
        pytest.param([("a", "b")] * 4, [None] * 4, 5.0, True, id="a kind without generations"),
        pytest.param([("a", "b")] * 9, [2 * n for n in range(9)], WINDOW + 1, False, id="one turn an hour"),
        pytest.param([("a", "b"), ("b", "a")] * 6, [2 * n for n in range(12)], 5.0, False, id="back and forth"),
        pytest.param([("a", n) for n in range(6)], list(range(6)), 5.0, True, id="a webhook writes another each time"),
        pytest.param([(1, 9 - n) for n in range(6)], [2 * n for n in range(6)], 5.0, False, id="scaled in steps"),
        pytest.param([(3, 5 + n % 2) for n in range(9)], [2 * n for n in range(9)], 5.0, True, id="up and down"),
        pytest.param([(1, 5 + n) for n in range(6)], [2 * n for n in range(6)], 5.0, True, id="an autoscaler"),
        pytest.param([("a", "b"), ("a", "a")] * 4, list(range(8)), 5.0, True, id="agreement between turns"),
    ],
)
def test_a_series(values: list[tuple[Any, Any]], generations: list[int | None], seconds: float, is_fight: bool) -> None:
    streak = fought(values, generations, seconds)
    assert bool(streak and streak.is_fight) is is_fight


@pytest.mark.parametrize(
    ("ours", "theirs", "fields"),
    [
        ({"a": [{"name": "x"}]}, {"a": [{"name": "y"}, {"name": "x"}]}, [".spec.a[]"]),
        ({"a": [{"name": "x", "b": 1}]}, {"a": [{"name": "y"}, {"name": "x", "b": 2}]}, [".spec.a[].b", ".spec.a[]"]),
        ({"a": [{"name": "x"}, {"name": "y"}]}, {"a": [{"name": "y"}, {"name": "x"}]}, [".spec.a"]),
        ({"a": ["b", "a"]}, {"a": ["a", "b"]}, [".spec.a"]),
        ({"a": True}, {"a": 1}, [".spec.a"]),
        ({"a": None}, {}, []),
        ({"a-b": {"c/d": 1}}, {"a-b": {"c/d": 2}}, ['.spec["a-b"]["c/d"]']),
    ],
)
def test_the_field_of_a_difference(ours: Any, theirs: Any, fields: list[str]) -> None:
    assert [each.field for each in differences({"spec": ours}, {"spec": theirs})] == fields


def test_metadata_of_the_api_server_is_not_compared() -> None:
    ours = {"metadata": {"labels": {"a": "1"}, "resourceVersion": "1"}}
    theirs = {"metadata": {"labels": {"a": "2"}, "resourceVersion": "2", "uid": "u"}, "status": {"b": 1}}
    assert [each.field for each in differences(ours, theirs)] == [".metadata.labels.a"]
