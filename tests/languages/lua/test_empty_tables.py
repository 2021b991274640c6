"""Empty tables of a result, against worked examples of Karmada's rules and against laws."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.languages.lua.empty_tables import restore_empty_tables
from tests.support.rows import rows

_NESTED: Any = {"spec": {"template": {"volumes": [{"name": "a", "emptyDir": {}}]}, "list": []}}


@rows(
    ("value", "references", "mended"),
    [
        pytest.param({"a": []}, [{"a": {}}], {"a": {}}, id="an object there is an object here"),
        pytest.param({"a": {}}, [{"a": {}}], {"a": {}}, id="also where the script never touched it"),
        pytest.param({"a": []}, [{"a": []}], {"a": []}, id="a list there is a list here"),
        pytest.param({"a": {}}, [{"a": []}], {"a": []}, id="whichever way it comes back"),
        pytest.param({"a": 1, "b": []}, [{"a": {}}], {"a": 1}, id="nothing there is nothing here"),
        pytest.param({"a": 1, "b": {}}, [], {"a": 1}, id="no references, no empties"),
        pytest.param({"a": {"b": []}}, [], {"a": {}}, id="what becomes empty stays"),
        pytest.param({"a": []}, [{"a": {"b": 1}}], {}, id="an object that has lost its fields was not empty"),
        pytest.param({"a": []}, [{"a": None}], {}, id="null is not empty"),
        pytest.param({"a": []}, [{"a": []}, {"a": {}}], {"a": {}},
            id="an object in one and a list in the other: object"),
        pytest.param({"a": []}, [{}, {"a": []}], {"a": []}, id="the second reference counts too"),
        pytest.param({"l": [{"x": []}, {"x": []}]}, [{"l": [{"x": {}}]}], {"l": [{"x": {}}, {"x": {}}]},
            id="any index will do"),
        pytest.param({"l": [{"x": []}, {"x": []}]}, [{"l": [{"x": {}}, {"x": []}]}], {"l": [{"x": {}}, {"x": {}}]},
            id="so one empty object in a list of objects makes objects of all"),
        pytest.param({"l": []}, [{"l": [{}]}], {"l": {}}, id="an empty element has the place of its list"),
        pytest.param({"l": [[], 1]}, [{"l": [[]]}], {"l": [[], 1]}, id="and stays by the same rule"),
        pytest.param({"l": [[], 1, {}, 2, []]}, [], {"l": [1, 2]}, id="all empty elements go, no others"),
        pytest.param({"l": [[], {"a": []}]}, [], {"l": [{}]}, id="also next to one that loses a field"),
        pytest.param({"m": {"app.kubernetes.io/a:b": []}}, [{"m": {"app.kubernetes.io/a:b": {}}}],
            {"m": {"app.kubernetes.io/a:b": {}}}, id="dots and colons belong to the key"),
        pytest.param({"a.b": []}, [{"a": {"b": {}}}], {}, id="and are no path"),
        pytest.param({"m": {"a*": []}}, [{"m": {"a*": {}}}], {"m": {"a*": {}}}, id="a star is a key as any other"),
        pytest.param({"a": "{}", "b": "[]"}, [], {"a": "{}", "b": "[]"}, id="strings are left alone"),
        pytest.param({"a": 2**70, "b": []}, [], {"a": 2**70}, id="so are numbers that JSON writers refuse"),
    ],
)  # fmt: skip
def test_mends(value: Any, references: list[Any], mended: Any) -> None:
    assert restore_empty_tables(value, references) == mended


def test_shares_what_needs_no_change() -> None:
    value = {**_NESTED, "added": []}
    mended = restore_empty_tables(value, [_NESTED])
    assert mended == _NESTED
    assert mended["spec"] is _NESTED["spec"]


def test_leaves_its_input_alone() -> None:
    value: Any = {"a": [[], 1], "b": {"c": []}}
    restore_empty_tables(value, [{"b": {"c": {}}}])
    assert value == {"a": [[], 1], "b": {"c": []}}


def test_mends_what_moved() -> None:
    moved = {"status": _NESTED["spec"]}
    assert restore_empty_tables(moved, [_NESTED]) == {"status": {"template": {"volumes": [{"name": "a"}]}}}


def test_unread_part_follows_the_rules() -> None:
    reference = {"l": [{"x": {}}, {"x": []}]}
    assert restore_empty_tables(dict(reference), [reference]) == {"l": [{"x": {}}, {"x": {}}]}


_LEAVES = st.sampled_from([0, 1, "", "text", True])
_VALUES = st.recursive(
    _LEAVES | st.builds(dict) | st.builds(list),
    lambda parts: st.dictionaries(st.sampled_from("abc"), parts, max_size=3) | st.lists(parts, max_size=3),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.sampled_from("abc"), _VALUES, min_size=1, max_size=3)


def _through_lua(value: Any) -> Any:
    """A copy in which no empty table tells what it was."""
    if isinstance(value, dict):
        return {key: _through_lua(part) for key, part in value.items()} or []
    return [_through_lua(part) for part in value] if isinstance(value, list) else value


@given(_OBJECTS, st.lists(_OBJECTS, max_size=2))
def test_restored_tables_ignore_what_lua_made_of_empty_ones(value: Any, references: list[Any]) -> None:
    assert restore_empty_tables(value, references) == restore_empty_tables(_through_lua(value), references)


@given(_OBJECTS, st.lists(_OBJECTS, max_size=2))
def test_restored_tables_ignore_shared_references(value: Any, references: list[Any]) -> None:
    copies = [_through_lua(reference) for reference in references]
    shared = {**value, **{f"shared{index}": reference for index, reference in enumerate(references)}}
    copied = {**value, **{f"shared{index}": copy for index, copy in enumerate(copies)}}
    known = [{f"shared{index}": reference} for index, reference in enumerate(references)]
    assert restore_empty_tables(shared, [*references, *known]) == restore_empty_tables(copied, [*references, *known])
