"""What scripts compute, against what Karmada's own virtual machine computed.

``testdata/karmada_vm.json`` was written by Karmada v1.18.2 with gopher-lua v1.1.1 and gopher-json: each script was run
in a state of ``luavm.NewWithContext`` in UTC, and each of its results written by ``luajson.Encode``.
"""

import json
import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.k8s.values import JSON
from tests.languages.lua.machine.machine import run
from tests.support.rows import rows

RECORDED: dict[str, dict[str, JSON]] = json.loads((Path(__file__).parent / "testdata/karmada_vm.json").read_text())


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = os.environ.get("TZ")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    if before is None:
        monkeypatch.delenv("TZ")
    else:
        monkeypatch.setenv("TZ", before)
    time.tzset()


def inside(script: str) -> dict[str, JSON]:
    try:
        return {"results": run(script)}
    except LuaRunError as error:
        return {"error": str(error)}


def comparable(value: JSON) -> JSON:
    """A value without what messages of the two machines say differently: their place, and how a function is called."""
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, str):
        text = value.replace("<string>:1: ", "").replace("got no value", "got nil")
        return re.sub(r"(bad argument #\d to) \S+", r"\1 it", text)
    return value


@rows("script", RECORDED)
def test_results_are_those_of_karmada(script: str) -> None:
    assert comparable(inside(script)) == comparable(RECORDED[script])


@rows(
    ("script", "ours", "karmadas"),
    [
        pytest.param("return string.find('hello', 'l', 10, true)", [None], "runtime error: slice bounds out of range",
            id="nothing is found behind the end, where gopher-lua panics"),
        pytest.param("local t = {1, 2, 3} t[5] = 9 return #t", [3], 5, id="an array with a hole ends before it"),
        pytest.param("return pcall(function() local x x.y = 1 end)",
            [False, "<string>:1: attempt to index local 'x' (a nil value)"],
            "attempt to index a non-table object(nil) with key 'y'", id="an error names the variable"),
        pytest.param("return '010' + 1", [11], 9, id="text with a leading zero is decimal"),
        pytest.param("local function f(n) return n == 0 and 0 or 1 + f(n - 1) end return f(1000)", [1000],
            "stack overflow", id="functions nest deeper than 256 levels"),
    ],
)  # fmt: skip
def test_known_differences(script: str, ours: list[JSON], karmadas: JSON) -> None:
    assert inside(script) == {"results": ours}
    assert ours != [karmadas]


@rows(
    ("call", "message"),
    [
        pytest.param("math.max()", "wrong number of arguments", id="mathlib.go"),
        pytest.param("math.mod('x', 1)", "bad argument #1 to mod (number expected, got string)",
            id="a number, not arithmetic"),
        pytest.param("math.pow({}, {})", "bad argument #1 to pow (number expected, got table)", id="the first of two"),
        pytest.param("math.ldexp(1, '2')", "bad argument #2 to ldexp (number expected, got string)", id="auxlib.go"),
        pytest.param("select({})", "bad argument #1 to select (number or string expected, got table)", id="baselib.go"),
        pytest.param("xpcall(nil, 'x')", "bad argument #1 to xpcall (function expected, got nil)", id="xpcall"),
        pytest.param("os.date(nil)", "bad argument #1 to date (string expected, got nil)", id="oslib_safe.go"),
        pytest.param("require('kube').accuratePodRequirements({}, print)",
            "getPodRequirements only accepts one argument", id="arguments are counted before they are read"),
        pytest.param("require('kube').resourceAdd({1, nil, 3})",
            "bad argument #1 to resourceAdd (string expected, got table)", id="and have the right type"),
        pytest.param("require('kube').accuratePodRequirements({1, nil, 3})",
            "fail to convert lua value to PodTemplateSpec: cannot encode sparse array", id="before they are JSON"),
        pytest.param("require('kube').getPodDependencies({spec = {priority = 0/0}}, 'ns')",
            "fail to convert lua value to corev1.PodTemplateSpec: json: unsupported value: NaN", id="or not"),
    ],
)  # fmt: skip
def test_complaints_about_arguments(call: str, message: str) -> None:
    assert inside(f"return pcall(function() {call} end)") == {"results": [False, f"<string>:1: {message}"]}


def test_function_called_by_pcall_has_no_name() -> None:
    message = "<string>:1: bad argument #1 to (anonymous) (table expected, got nil)"
    assert inside("local ok, problem = pcall(ipairs) return ok, problem") == {"results": [False, message]}


@rows(
    ("expression", "result"),
    [
        pytest.param("math.mod(5.5, 0.1)", math.fmod(5.5, 0.1), id="the remainder of the C library"),
        pytest.param("math.mod(-7, 3)", 2, id="with the sign of the divisor"),
        pytest.param("math.mod('7', -3)", -2, id="of text"),
        pytest.param("('\\255É'):lower()", "\ufffdé", id="letters among bytes"),
        pytest.param("string.format('%s\\200%2s', 'é', '\\255')", "é\ufffd \ufffd", id="a form with bytes"),
        pytest.param("string.format('%c%c', 0xD7FF, 0xD800)", "\ud7ff\ufffd", id="half a surrogate pair"),
        pytest.param("string.format('%c%c', 0xDFFF, 0xE000)", "\ufffd\ue000", id="the other half"),
        pytest.param("#string.format('%2000000d', 1)", 2_000_000, id="a width of seven digits"),
        pytest.param("#string.format('%.2000000d', 1)", 2_000_000, id="a precision of seven digits"),
        pytest.param("string.format('%99999999d', 1)", "%!(NOVERB)%!(EXTRA lua.LNumber=1)", id="a width of eight"),
        pytest.param("string.format('%s', -2^63)", "-9223372036854775808", id="the least integer"),
    ],
)
def test_results_that_are_easily_missed(expression: str, result: JSON) -> None:
    assert inside(f"return {expression}") == {"results": [result]}


@rows(
    ("assignment", "value"),
    [
        pytest.param("x = f(false) and 'new'", "old", id="the left side is false"),
        pytest.param("x = f(nil) and 'new'", "old", id="the left side is nil"),
        pytest.param("x = f(1) and 'new'", "new", id="the left side is true"),
        pytest.param("x = f(1) and f(false)", False, id="the right side is false"),
        pytest.param("x = f(1) and f(false) and 'new'", "old", id="a side in the middle is false"),
        pytest.param("x = o.spec.paused and 'new'", "old", id="a field"),
        pytest.param("x = f(false) or f(false) and 'new'", "old", id="behind an or"),
        pytest.param("x = (f(false) and 'new')", "old", id="in parentheses"),
        pytest.param("local function g() for _ = 1, 1 do local y y = 1 x = 'new' end end g()", "new", id="elsewhere"),
        pytest.param("local function g(x) x = f(nil) and 1 return x end x = g(2)", 2, id="a parameter"),
        pytest.param("x = f(false) and 'new' or 'other'", "other", id="an or at the end"),
        pytest.param("x = f(false) or 'new'", "new", id="an or alone"),
        pytest.param("x = y and 'new'", False, id="the left side is a local"),
        pytest.param("x = o.kind == 'Y' and 'new'", False, id="the left side is a comparison"),
        pytest.param("do local x = f(false) and 'new' z = x end x = z", False, id="a new local"),
        pytest.param("z = f(false) and 'new' x = z", False, id="a global"),
        pytest.param("local t = {} t.x = f(false) and 'new' x = t.x", False, id="a field of a table"),
        pytest.param("local function g() x = f(false) and 'new' end g()", False, id="a local of the function around"),
    ],
)
def test_local_keeps_value_that_gopher_lua_keeps(assignment: str, value: JSON) -> None:
    """As gopher-lua v1.1.1 answers in Karmada v1.18.2."""
    script = f"local function f(v) return v end local x, y = 'old', false {assignment} return x"
    assert run(script, {"kind": "X", "spec": {"paused": False}}) == [value]


@rows(
    ("script", "value"),
    [
        pytest.param("local f = function(n) return n > 2 and n or f(n + 1) end return f(1)", 3, id="it calls itself"),
        pytest.param("local f = 5 local f = function() return type(f) end return f()", "function", id="a second one"),
        pytest.param("local f, g = function() return type(f) end, 1 return f()", "nil", id="two locals"),
        pytest.param("local f = true and function() return type(f) end return f()", "nil", id="a part of the value"),
        pytest.param("local t = {f = function() return type(t) end} return t.f()", "nil", id="a field"),
        pytest.param("local x = 1 local x = x and x + 1 return x", 2, id="a value that is not a function"),
    ],
)
def test_function_knows_the_local_that_holds_it(script: str, value: JSON) -> None:
    """As gopher-lua v1.1.1 answers in Karmada v1.18.2; in Lua the local is not there yet."""
    assert run(script) == [value]
