"""Copy-on-write edits."""

import copy

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Path
from tests.support.rows import rows

DOCUMENT: dict[str, JSON] = {
    "spec": {"replicas": 3, "paused": None, "list": [{"name": "a"}, {"name": "b"}]},
    "status": {"phase": "Ready"},
}


@rows(
    ("path", "expected"),
    [
        pytest.param((), DOCUMENT, id="the empty path is the document"),
        pytest.param(("spec", "list", 1, "name"), "b", id="through a list"),
        pytest.param(("spec", "paused"), None, id="a null that is there is not absent"),
        pytest.param(("spec", "paused", "deeper"), "absent", id="nothing is below null"),
        pytest.param(("spec", "list", 2), "absent", id="behind the end of a list"),
        pytest.param(("spec", "list", -1), "absent", id="an index does not count from the end"),
        pytest.param(("spec", "list", "0"), "absent", id="a key does not index a list"),
        pytest.param(("spec", 0), "absent", id="an index does not read an object"),
        pytest.param(("spec", "replicas", "deeper"), "absent", id="nothing is below a number"),
    ],
)
def test_get(path: Path, expected: JSON) -> None:
    assert edit.get(DOCUMENT, path, "absent") == expected


@rows(
    ("document", "path", "expected"),
    [
        pytest.param({"a": 1}, (), "new", id="the empty path replaces the document"),
        pytest.param({"a": {"b": 1, "c": 2}}, ("a", "b"), {"a": {"b": "new", "c": 2}}, id="an existing value"),
        pytest.param({}, ("a", "b", "c"), {"a": {"b": {"c": "new"}}}, id="missing parents are created"),
        pytest.param({"a": None}, ("a", "b"), {"a": {"b": "new"}}, id="a null parent becomes an object"),
        pytest.param(None, ("a",), {"a": "new"}, id="a null document becomes an object"),
        pytest.param({"a": [1, {"b": 2}]}, ("a", 1, "b"), {"a": [1, {"b": "new"}]}, id="through a list"),
        pytest.param({"a": [None]}, ("a", 0, "b"), {"a": [{"b": "new"}]}, id="a null element becomes an object"),
        pytest.param({"a": [1, 2]}, ("a", 0), {"a": ["new", 2]}, id="an element"),
    ],
)
def test_set_value(document: JSON, path: Path, expected: JSON) -> None:
    before = copy.deepcopy(document)
    assert edit.set_value(document, path, "new") == expected
    assert document == before


@rows(
    ("path", "message"),
    [
        pytest.param(("spec", "replicas", "x"), "cannot write spec.replicas.x: spec.replicas is a number", id="number"),
        pytest.param(("spec", "list", "x"), "cannot write spec.list.x: spec.list is a list", id="key of a list"),
        pytest.param(("spec", "list", 2), r"cannot write spec.list\[2\]: spec.list is a list of 2", id="no such index"),
        pytest.param(("status", 0), r"cannot write status\[0\]: status is an object", id="index of an object"),
        pytest.param(("spec", "paused", 0), r"spec.paused is null", id="a list is not created"),
    ],
)
def test_impossible_place_is_refused(path: Path, message: str) -> None:
    with pytest.raises(InterpretationError, match=message) as caught:
        edit.set_value(DOCUMENT, path, "new")
    assert caught.value.code == 422


@rows(
    ("document", "path", "expected"),
    [
        pytest.param({"a": {"b": 1, "c": 2}}, ("a", "b"), {"a": {"c": 2}}, id="a key"),
        pytest.param({"a": {"b": 1}}, ("a", "b"), {"a": {}}, id="the emptied parent stays"),
        pytest.param({"a": [1, 2, 3]}, ("a", 1), {"a": [1, 3]}, id="an element"),
        pytest.param({"a": None}, ("a",), {}, id="a null"),
        pytest.param({"a": 1}, (), None, id="the document"),
    ],
)
def test_remove(document: JSON, path: Path, expected: JSON) -> None:
    before = copy.deepcopy(document)
    assert edit.remove(document, path) == expected
    assert document == before


def test_removing_what_is_not_there_gives_the_same_document() -> None:
    assert edit.remove(DOCUMENT, ("spec", "absent", "deeper")) is DOCUMENT


def test_edit_shares_untouched_parts() -> None:
    edited = edit.set_value(DOCUMENT, ("spec", "list", 0, "name"), "new")
    assert edited["status"] is DOCUMENT["status"]
    assert edited["spec"]["list"][1] is DOCUMENT["spec"]["list"][1]
    assert edit.remove(DOCUMENT, ("spec", "replicas"))["spec"]["list"] is DOCUMENT["spec"]["list"]
