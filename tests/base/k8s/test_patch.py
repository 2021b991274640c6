"""JSON Patch, with the jsonpatch package as an independent oracle."""

import copy
import json

import jsonpatch
import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.patch import changes, diff
from karta_interpreter.base.k8s.values import JSON, NOTHING
from tests.support.rows import rows

KEYS = st.sampled_from(["a", "b", "0", "-", "", "a/b", "m~n", "~1", "é"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 0.5, "", "x"])
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=15
)


def text(document: JSON) -> str:
    """Equality that tells true from 1."""
    return json.dumps(document, sort_keys=True)


@given(DOCUMENTS, DOCUMENTS)
def test_applying_the_difference_gives_the_other_document(before: JSON, after: JSON) -> None:
    original = text(before)
    patch = diff(before, after)
    assert text(before) == original
    assert text(jsonpatch.apply_patch(before, patch)) == text(after)


@given(DOCUMENTS)
def test_equal_documents_have_no_difference(document: JSON) -> None:
    assert diff(document, copy.deepcopy(document)) == []


def add(path: str, value: JSON) -> dict[str, JSON]:
    return {"op": "add", "path": path, "value": value}


def remove(path: str) -> dict[str, JSON]:
    return {"op": "remove", "path": path}


def replace(path: str, value: JSON) -> dict[str, JSON]:
    return {"op": "replace", "path": path, "value": value}


@rows(
    ("before", "after", "patch"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, [], id="the order of keys is no difference"),
        pytest.param({"a": 1}, {"a": 1.0}, [], id="numbers of equal value are equal"),
        pytest.param({"a": [1, {"b": 0}]}, {"a": [1.0, {"b": 0.0}]}, [], id="inside lists as well"),
        pytest.param({"a": True}, {"a": 1}, [replace("/a", 1)], id="true is not 1"),
        pytest.param([False], [0], [replace("/0", 0)], id="false is not 0, in a list"),
        pytest.param({"a": None}, {}, [remove("/a")], id="null is not absent"),
        pytest.param({}, {"a": None}, [add("/a", None)], id="null can be added"),
        pytest.param({"a": {}}, {"a": []}, [replace("/a", [])], id="another type is replaced whole"),
        pytest.param({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, [replace("/a/b/c", 2)], id="only the leaf"),
        pytest.param(
            {"spec": {}}, {"spec": {}, "status": {"a": {"b": 1}}}, [add("/status", {"a": {"b": 1}})], id="one add"
        ),
        pytest.param(
            {"a": 1, "b": 1, "c": {"d": 1}},
            {"a": 2, "e": 1, "c": {"d": 2}},
            [remove("/b"), add("/e", 1), replace("/a", 2), replace("/c/d", 2)],
            id="what comes and goes first, then what changed, by key",
        ),
        pytest.param([1, 2, 3], [1, 9, 2, 3], [add("/1", 9)], id="an element comes in the middle"),
        pytest.param([1, 2, 3], [9, 1, 2, 3], [add("/0", 9)], id="at the start"),
        pytest.param([1, 2], [1, 2, 3, 4], [add("/2", 3), add("/3", 4)], id="at the end"),
        pytest.param([1, 2, 3, 4], [1, 4], [remove("/2"), remove("/1")], id="elements go, the last one first"),
        pytest.param([1, 1, 1], [1, 1], [remove("/2")], id="head and tail do not overlap"),
        pytest.param([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 3}], [replace("/1/n", 3)], id="inside an element"),
        pytest.param([1, 2, 3], [4, 5], [remove("/2"), replace("/0", 4), replace("/1", 5)], id="all different"),
        pytest.param(1, 2, [replace("", 2)], id="the whole document"),
        pytest.param({"": {"a": 1}}, {"": {"a": 2}}, [replace("/", {"a": 2})], id="nothing below an empty key"),
        pytest.param({"": [1]}, {"": [1, 2]}, [replace("/", [1, 2])], id="nor in a list below it"),
        pytest.param({"a/b": {"m~n": 1}}, {"a/b": {"m~n": 2}}, [replace("/a~1b/m~0n", 2)], id="escapes"),
    ],
)
def test_difference(before: JSON, after: JSON, patch: list[dict[str, JSON]]) -> None:
    assert diff(before, after) == patch
    assert jsonpatch.apply_patch(before, patch) == after


def test_shared_parts_are_not_looked_into() -> None:
    class Untouchable(dict[str, JSON]):
        def keys(self) -> JSON:
            pytest.fail("compared a part that both documents share")

    shared = Untouchable(a=1)
    assert diff({"shared": shared, "x": 1}, {"shared": shared, "x": 2}) == [replace("/x", 2)]


@rows(
    ("key", "expected"),
    [
        pytest.param("a/b", "/a~1b", id="a slash"),
        pytest.param("m~n", "/m~0n", id="a tilde"),
        pytest.param("~1", "/~01", id="the tilde first"),
        pytest.param("", "/", id="an empty key"),
    ],
)
def test_keys_are_escaped(key: str, expected: str) -> None:
    assert diff({}, {key: 1}) == [{"op": "add", "path": expected, "value": 1}]


def nested(levels: int, leaf: JSON) -> JSON:
    for level in range(levels):
        leaf = {"a": leaf} if level % 2 else [leaf]
    return leaf


def test_documents_may_be_deeper_than_the_stack() -> None:
    before, after = nested(3000, 1), nested(3000, 2)
    patch = diff(before, after)
    assert patch == [replace("/a/0" * 1500, 2)]


@rows(
    ("before", "after", "expected"),
    [
        pytest.param({"a": 1}, {"a": 1.0}, [], id="numbers of equal value are equal"),
        pytest.param({"a": [1]}, {"a": [True]}, [(("a", 0), 1, True)], id="true is not 1, in a list of equal length"),
        pytest.param({"a": [1]}, {"a": [1, 2]}, [(("a",), [1], [1, 2])], id="a longer list is one change"),
        pytest.param({"b": 1}, {"a": {"c": 2}}, [(("b",), 1, NOTHING), (("a",), NOTHING, {"c": 2})],
                     id="a field that comes or goes is one change, in the order of both"),
        pytest.param({"a": None}, {}, [(("a",), None, NOTHING)], id="null is not the same as no field"),
        pytest.param([1], {"a": 1}, [((), [1], {"a": 1})], id="another type is one change"),
    ],
)  # fmt: skip
def test_places_that_differ(before: JSON, after: JSON, expected: list[JSON]) -> None:
    assert list(changes(before, after)) == expected


@given(DOCUMENTS, DOCUMENTS)
def test_places_differ_where_documents_do(before: JSON, after: JSON) -> None:
    assert bool(list(changes(before, after))) is bool(diff(before, after))
