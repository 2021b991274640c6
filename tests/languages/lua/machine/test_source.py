"""The text of scripts, as the machine takes it."""

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.machine.source import rewrite
from tests.languages.lua.machine.machine import run
from tests.support.rows import rows


def body(text: str) -> str:
    return rewrite(text).removeprefix("local concat, ordered = ...; return function(...) ").removesuffix("\nend")


@rows(
    ("text", "rewritten"),
    [
        pytest.param("return a..b", "return a..concat..b", id="texts are joined by a function"),
        pytest.param("f(...) -- a .. b", "f(...) -- a .. b", id="other dots are not, nor those of a comment"),
        pytest.param("x = '..' .. [[..]]", "x = '..' ..concat.. [[..]]", id="nor those in a text"),
        pytest.param(r"x = 'a\z\'\065\q'", r"x = 'az\'\065q'", id="an escape that gopher-lua has not is its letter"),
        pytest.param("return x and 3or 4", "return x and 3 or 4", id="a number ends before a letter"),
        pytest.param("_ENV = 1", "_ENV_ = 1", id="a name that only Lua 5.2 has"),
        pytest.param("t = {a = 1}", "t = {a = 1}", id="nothing goes through a table"),
        pytest.param("pairs{b = 1, ['a'] = 2, 3}", "pairs(ordered({b = 1, ['a'] = 2, 3}, {\"b\", 'a'}))",
            id="the order of fields"),
        pytest.param("t = {f = function() local x, y = 1, 2; z = 3 end, g = 1} next(t)",
            't = ordered({f = function() local x, y = 1, 2; z = 3 end, g = 1}, {"f", "g"}) next(t)',
            id="what a function in a table assigns is not a field"),
        pytest.param("local f = function(v)\n return f(v) end", "local function f  (v)\n return f(v) end",
            id="a function of itself"),
        pytest.param("local f = function() end or 1", "local f = function() end or 1",
            id="not one that is a part of the value"),
        pytest.param("local f, g = function() end", "local f, g = function() end", id="nor one for several locals"),
        pytest.param("f = function() end", "f = function() end", id="nor one for a variable that is there"),
        pytest.param("function f(...) arg = 1 end", "function f(...) local arg = {n = #{...}, ...}; arg = 1 end",
            id="arg"),
    ],
)  # fmt: skip
def test_rewrites(text: str, rewritten: str) -> None:
    assert body(text) == rewritten


@given(st.text(alphabet="ab.{}[]='\"-\n\\ 1,;", max_size=40))
def test_rewriting_keeps_line_numbers(text: str) -> None:
    assert rewrite(text).count("\n") == text.count("\n") + 1


@rows(
    ("script", "expected"),
    [
        pytest.param("return 1 .. 2 .. 'x' .. 0.1 + 0.2", "12x0.30000000000000004", id="a chain of texts and numbers"),
        pytest.param("return (('a' .. 'b'):upper() .. 'c')", "ABc", id="in parentheses"),
        pytest.param("local s = 'x' for i = 1, 3 do s = i .. s .. -i end return s", "321x-1-2-3", id="in a loop"),
        pytest.param("return 'a' .. (function() return 'b' .. 'c' end)() .. 'd'", "abcd", id="one in another"),
        pytest.param("return " + " .. ".join(["'a'"] * 95), "a" * 95, id="a long chain"),
        pytest.param(
            "local t = {z = 1, a = 2, 5, m = {1}} t.k = 3 local s = '' for k in pairs(t) do s = s .. k end return s",
            "1zamk", id="the order in which keys got a value",
        ),
        pytest.param("local s = '' for k in pairs(o) do s = s .. k end return s", "abc", id="the order of an object"),
        pytest.param("for i = 1, 3 do if i == 2 then goto on end o.n = i ::on:: end return o.n", 3, id="goto"),
    ],
)  # fmt: skip
def test_rewritten_script_agrees_with_gopher_lua(script: str, expected: JSON) -> None:
    assert run(script, {"c": 1, "b": {"x": 1}, "a": [1]}) == [expected]
