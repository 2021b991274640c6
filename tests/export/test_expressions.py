from typing import Any

import pytest

from karta_interpreter.base.errors import ExportError, LuaRunError
from karta_interpreter.export.function_forms import FORMS
from karta_interpreter.export.script import OperationScript
from karta_interpreter.export.traits import lua_pattern
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.compiled.functions import FUNCTIONS
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import entries
from tests.support.rows import rows
from tests.support.scripts import answer


def _compiler() -> OperationScript:
    definition = entries()[0].definition  # its expressions are not looked at
    assert definition
    return OperationScript(definition)


def _outputs(expression: str, obj: Any) -> Any:
    """Return all outputs of an expression, computed by its Lua."""
    compiler = _compiler()
    name = compiler.list_of(Query.compile(expression), "found")
    compiler.add(f"function ReflectStatus(obj)\n  return {{found = {name}(obj)}}\nend")
    script = Script("InterpretStatus", compiler.text(), "toy")
    return answer([script], object=obj)["status"].get("found", [])


@pytest.mark.parametrize("repeated", ["é" * 257, [1], {"a": 1}], ids=["a long text", "a list", "an object"])
def test_repeated_piece_of_text_is_short(repeated: Any) -> None:
    assert _outputs('"\\(.a)\\(.b[])"', {"a": "é" * 256, "b": [1]}) == ["é" * 256 + "1"]
    with pytest.raises(LuaRunError):
        _outputs('"\\(.a)\\(.b[])"', {"a": repeated, "b": [1]})


@rows(
    ("expression", "output"),
    [
        pytest.param("{a: .x, b: {c: .x, k: 1}, d: [{e: .x, k: 2}]}", {"b": {"k": 1}, "d": [{"k": 2}]},
            id="at any depth"),
        pytest.param("{limits: {a: .x}, b: {requests: {c: .x}}}",
            {"limits": {"a": "0"}, "b": {"requests": {"c": "0"}}}, id="a null amount is 0"),
        pytest.param("{a: .x} | keys", ["a"], id="an object that is read has its nulls"),
        pytest.param("{a: {b: .x, k: 1}, c: ({b: .x, k: 1} | length)}", {"a": {"k": 1}, "c": 2},
            id="so has one that is equal to one of the result"),
        pytest.param("{a: 1} + {a: .x, k: 1}", {"k": 1}, id="a null replaces a value"),
    ],
)  # fmt: skip
def test_result_is_without_nulls(expression: str, output: Any) -> None:
    assert _outputs(expression, {}) == [output]


@rows(
    "expression",
    [
        pytest.param("[.one // 0, .two // 0] | max", id="the largest number"),
        pytest.param("[([.one // 0, .two // 0] | max), (.nine // empty)] | min", id="of one list in another"),
        pytest.param("([.one // 0, .two // 0] | max) * 3", id="a factor"),
        pytest.param('[.digits // "1", "9"] | max', id="texts of digits are compared as texts"),
        pytest.param("[(.nine // empty), .two // 0] | min", id="a value that may be absent"),
        pytest.param("[.one // 0, .two // 0] | add", id="a sum"),
        pytest.param("([.nine // empty] | add) // 7", id="a default for the sum of nothing"),
        pytest.param("([.no // false] | add) // 7", id="a default for false"),
        pytest.param('[.digits // "1", "9"] | add', id="texts follow one another"),
        pytest.param("[.nine, .two // 0] | max", id="a value may be null"),
        pytest.param("([.no // false, .no // false] | max) // 7", id="false has a default"),
        pytest.param("[.nine, .two // 0] | add", id="null adds nothing"),
        pytest.param("[[.list // []] | max | length, 1] | max", id="what is counted may be no number"),
    ],
)
def test_extremes_and_sums_agree_with_jq(expression: str) -> None:
    obj = {"one": 1, "two": 2, "nine": None, "no": False, "digits": "10", "list": [1]}
    assert _outputs(expression, obj) == [*Query.compile(expression).evaluate(obj)]


@pytest.mark.parametrize("expression", ['[.one // 1, "9"] | add', "[.no // false, .one // 0] | min"])
def test_values_of_different_types_are_an_error(expression: str) -> None:
    with pytest.raises(LuaRunError):
        _outputs(expression, {})


@rows(
    ("expression", "reason"),
    [
        pytest.param("$deployment.spec", "another object, which a script cannot read", id="a reference"),
        pytest.param('.a | test("a|b")', "Lua has no regular expressions", id="an alternative of patterns"),
        pytest.param(".a == 9007199254740993", "more digits than numbers of Lua", id="an integer beyond 2^53"),
    ],
)
def test_expression_without_form_in_lua_is_rejected_with_reason(expression: str, reason: str) -> None:
    with pytest.raises(ExportError, match=reason) as rejected:
        _compiler().list_of(Query.compile(expression, frozenset({"deployment"})), "toy replicas")

    assert str(rejected.value).startswith("toy replicas: ")


@rows(
    ("regex", "pattern"),
    [
        pytest.param("^[0-9]+$", "^[0-9]+$", id="a class"),
        pytest.param(r"\.", "%.", id="an escape"),
        pytest.param("a-b", "a%-b", id="a hyphen repeats in Lua"),
        pytest.param("a|b", None, id="Lua has no alternatives"),
    ],
)
def test_regular_expression_becomes_pattern_or_none(regex: str, pattern: str | None) -> None:
    assert lua_pattern(regex) == pattern


_WITHOUT_FORM = {
    "abs": "libjq's takes any value, and gojq's, as this one, numbers only",
    "ascii_upcase": "the reverse of ascii_downcase",
    "map_values": "an object for an object is what Karta's authors write for labels",
    "with_entries": "as map_values, with the keys",
}
_REGULAR_EXPRESSIONS = {"capture", "gsub", "match", "scan", "split", "splits", "sub", "test"}


def test_function_of_this_process_has_a_form_in_lua_or_a_reason() -> None:
    without = {name for name, _ in FUNCTIONS.keys() - FORMS.keys()}
    assert without - _REGULAR_EXPRESSIONS == _WITHOUT_FORM.keys()
