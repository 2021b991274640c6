"""JSON Patch, with the jsonpatch package as an independent oracle."""

import copy
import json

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karta_interpreter.errors import PatchError
from karta_interpreter.k8s.patch import apply, diff
from karta_interpreter.k8s.values import JSON

KEYS = st.sampled_from(["a", "b", "0", "-", "", "a/b", "m~n", "~1", "é"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 0.5, "", "x"])
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


def text(document: JSON) -> str:
    """Equality that tells true from 1."""
    return json.dumps(document, sort_keys=True)


@given(DOCUMENTS, DOCUMENTS)
@settings(max_examples=200, deadline=None)
def test_applying_the_difference_gives_the_other_document(before: JSON, after: JSON) -> None:
    original = text(before)
    patch = diff(before, after)
    assert text(apply(patch, before)) == text(after)
    assert text(before) == original


@given(DOCUMENTS, DOCUMENTS)
@settings(max_examples=200, deadline=None)
def test_the_oracle_applies_our_patches(before: JSON, after: JSON) -> None:
    assert text(jsonpatch.apply_patch(before, diff(before, after))) == text(after)


@given(DOCUMENTS)
@settings(max_examples=100, deadline=None)
def test_equal_documents_have_no_difference(document: JSON) -> None:
    assert diff(document, copy.deepcopy(document)) == []


def add(path: str, value: JSON) -> dict[str, JSON]:
    return {"op": "add", "path": path, "value": value}


def remove(path: str) -> dict[str, JSON]:
    return {"op": "remove", "path": path}


def replace(path: str, value: JSON) -> dict[str, JSON]:
    return {"op": "replace", "path": path, "value": value}


@pytest.mark.parametrize(
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
    assert apply(patch, before) == after


def test_shared_parts_are_not_looked_into() -> None:
    class Untouchable(dict[str, JSON]):
        def keys(self) -> JSON:
            pytest.fail("compared a part that both documents share")

    shared = Untouchable(a=1)
    assert diff({"shared": shared, "x": 1}, {"shared": shared, "x": 2}) == [replace("/x", 2)]


@pytest.mark.parametrize(
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


# RFC 6902, appendix A, and the rules of its section 4.
@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        pytest.param({"foo": "bar"}, [add("/baz", "qux")], {"foo": "bar", "baz": "qux"}, id="A.1 add a member"),
        pytest.param(
            {"foo": ["bar", "baz"]}, [add("/foo/1", "qux")], {"foo": ["bar", "qux", "baz"]}, id="A.2 add an element"
        ),
        pytest.param({"baz": 1, "foo": 2}, [remove("/baz")], {"foo": 2}, id="A.3 remove a member"),
        pytest.param({"foo": [1, 2, 3]}, [remove("/foo/1")], {"foo": [1, 3]}, id="A.4 remove an element"),
        pytest.param({"baz": "qux"}, [replace("/baz", "boo")], {"baz": "boo"}, id="A.5 replace"),
        pytest.param(
            {"foo": {"waldo": "fred"}, "qux": {}},
            [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
            {"foo": {}, "qux": {"thud": "fred"}},
            id="A.6 move a value",
        ),
        pytest.param(
            {"foo": ["all", "grass", "cows", "eat"]},
            [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
            {"foo": ["all", "cows", "eat", "grass"]},
            id="A.7 move an element",
        ),
        pytest.param({"a": [1, 2]}, [{"op": "test", "path": "/a/1", "value": 2}], {"a": [1, 2]}, id="A.8 test"),
        pytest.param({}, [add("/child", {"grandchild": {}})], {"child": {"grandchild": {}}}, id="A.10 nested"),
        pytest.param({"a": 1}, [{**add("/b", 2), "xyz": 123}], {"a": 1, "b": 2}, id="A.11 unknown members"),
        pytest.param({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}, id="A.14"),
        pytest.param({"foo": ["bar"]}, [add("/foo/-", ["x"])], {"foo": ["bar", ["x"]]}, id="A.16 add at the end"),
        pytest.param({"a": 1}, [add("/a", 2)], {"a": 2}, id="add replaces a member"),
        pytest.param({"a": 1}, [add("", [1])], [1], id="add replaces the document"),
        pytest.param({"a": None}, [replace("/a", 1)], {"a": 1}, id="a null is there to be replaced"),
        pytest.param(
            {"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/c"}], {"a": {"b": 1}, "c": {"b": 1}}, id="copy"
        ),
        pytest.param({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}, id="move to the same place"),
        pytest.param({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}, id="test compares numbers"),
        pytest.param({"-": {"": 1}}, [replace("/-/", 2)], {"-": {"": 2}}, id="- and the empty key are keys of objects"),
    ],
)
def test_apply(document: JSON, patch: list[dict[str, JSON]], expected: JSON) -> None:
    before = copy.deepcopy(document)
    assert apply(patch, document) == expected
    assert document == before


@pytest.mark.parametrize(
    ("document", "operation", "message"),
    [
        pytest.param({"q": {"bar": 2}}, add("/a/b", 1), 'there is no "a"', id="add below a missing parent"),
        pytest.param({"a": None}, add("/a/b", 1), 'there is no "b" in null', id="add below null"),
        pytest.param({}, replace("/a", 1), 'there is no "a"', id="replace what is missing"),
        pytest.param({}, remove("/a"), 'there is no "a"', id="remove what is missing"),
        pytest.param([1], replace("/1", 1), '"1" is no index into a list of 1', id="replace behind the end"),
        pytest.param([1], add("/2", 1), '"2" is no index into a list of 1', id="add behind the end"),
        pytest.param([1], remove("/-"), '"-" is no index', id="- is no element"),
        pytest.param([1], remove("/-1"), '"-1" is no index', id="a negative index"),
        pytest.param([1, 2], remove("/01"), '"01" is no index', id="a leading zero"),
        pytest.param([1], remove("/9" * 50), "no index", id="a huge index"),
        pytest.param([1, 2], remove("/\u0661"), "no index", id="digits of another script"),
        pytest.param({"a": 1}, remove(""), "whole document cannot be removed", id="remove the document"),
        pytest.param({"a": 1}, {"op": "test", "path": "/a", "value": 2}, 'at "/a" is not', id="test fails"),
        pytest.param({"a": 1}, {"op": "test", "path": "/a", "value": "1"}, "is not", id="test of another type"),
        pytest.param({"a": 1}, {"op": "test", "path": "/a", "value": True}, "is not", id="1 is not true"),
        pytest.param({"a": 1}, {"op": "test", "path": "/b", "value": None}, 'no "b"', id="absent is not null"),
        pytest.param({"a": {}}, {"op": "move", "from": "/a", "path": "/a/b"}, "into itself", id="move into itself"),
        pytest.param({"a": 1}, {"op": "copy", "from": "/b", "path": "/c"}, 'no "b"', id="copy what is missing"),
        pytest.param({"a": 1}, {"op": "move", "from": "/b", "path": "/b"}, 'no "b"', id="move what is missing"),
        pytest.param({"a": 1}, {"op": "copy", "path": "/c"}, 'string in "from"', id="copy without from"),
        pytest.param({"a": 1}, {"op": "add", "path": "/c"}, "needs a value", id="add without value"),
        pytest.param({"a": 1}, {"op": "add", "value": 1}, 'string in "path"', id="no path"),
        pytest.param(
            {"a": 1}, {"op": "add", "path": ["c"], "value": 1}, 'string in "path"', id="a path of another type"
        ),
        pytest.param({"a": 1}, add("c", 1), "not a JSON Pointer", id="a path without slash"),
        pytest.param({"a": 1}, add("/~2", 1), "not a JSON Pointer", id="an unknown escape"),
        pytest.param({"a": 1}, {"op": "merge", "path": "/a"}, "'merge' is no operation", id="unknown operation"),
        pytest.param({"a": 1}, {"path": "/a"}, "None is no operation", id="no operation"),
        pytest.param("text", add("/a", 1), "in a string", id="below a scalar document"),
    ],
)
def test_what_does_not_apply_is_refused(document: JSON, operation: dict[str, JSON], message: str) -> None:
    before = copy.deepcopy(document)
    with pytest.raises(PatchError, match=f"operation 0 of the patch: .*{message}"):
        apply([operation], document)
    assert document == before


POINTERS = st.lists(KEYS | st.sampled_from(["1", "2"]), max_size=3).map(
    lambda steps: str(jsonpointer.JsonPointer.from_parts(steps).path)
)
OPERATIONS = st.one_of(
    st.builds(add, POINTERS, SCALARS),
    st.builds(remove, POINTERS.filter(bool)),
    st.builds(replace, POINTERS, SCALARS),
    st.builds(lambda source, target: {"op": "copy", "from": source, "path": target}, POINTERS, POINTERS),
    st.builds(lambda source, target: {"op": "move", "from": source, "path": target}, POINTERS.filter(bool), POINTERS),
)


@given(DOCUMENTS, st.lists(OPERATIONS, min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_agrees_with_the_oracle_on_any_patch(document: JSON, patch: list[dict[str, JSON]]) -> None:
    try:
        expected = text(jsonpatch.apply_patch(document, patch))
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError):
        with pytest.raises(PatchError):
            apply(patch, document)
    else:
        assert text(apply(patch, document)) == expected


def nested(levels: int, leaf: JSON) -> JSON:
    for level in range(levels):
        leaf = {"a": leaf} if level % 2 else [leaf]
    return leaf


def test_documents_may_be_deeper_than_the_stack() -> None:
    before, after = nested(3000, 1), nested(3000, 2)
    patch = diff(before, after)
    assert patch == [replace("/a/0" * 1500, 2)]
    assert diff(apply(patch, before), after) == []
