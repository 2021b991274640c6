"""Scripts that would crash, freeze or fill a process: in the machine, and read to be linted."""

import pytest

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.reading import ScriptReading, read_scripts
from tests.languages.lua.machine import machine
from tests.support.rows import rows

LONG = "local s = '{}' for i = 1, 15 do s = s .. s end "
PARAMETERS = ", ".join(f"p{number}" for number in range(1, 200))


@rows(
    ("body", "expected"),
    [
        pytest.param("return unpack({}, 0, 2147483647)", "registry overflow", id="a count that C computes as an int"),
        pytest.param("return pcall(unpack, {}, -2147483647, 2147483647)", False, id="and in pcall"),
        pytest.param("return (pcall(unpack, {}, 2147483646, 2147483647))", False, id="an index behind which is none"),
        pytest.param("return (pcall(unpack, {}, 0/0, 1))", False, id="an index that is not a number"),
        pytest.param("return {unpack({1, 2, 3}, 3, -1/0)}", [], id="a range that is empty"),
        pytest.param(
            f"local function f({PARAMETERS}, ...) return select('#', ...) end "
            "local t = {} for n = 1, 300 do "
            "local function g(...) f() return 1 end for i = 1, n do t[i] = i end g(unpack(t)) end return 1",
            1, id="many parameters before varargs, for which Lua 5.1 makes no room on its stack",
        ),
        pytest.param(LONG.format("1") + "return tonumber('.' .. s .. 'x') == nil", True, id="digits, then no number"),
        pytest.param(LONG.format(" ") + "return tonumber('x' .. s .. 'x') == nil", True, id="blanks in a number"),
        pytest.param(
            LONG.format(" ") + "s = s:sub(1, 30000) return tonumber(s .. '7' .. s)", 7, id="blanks around a number"
        ),
    ],
)  # fmt: skip
def test_hostile_script_does_no_harm(body: str, expected: JSON) -> None:
    if isinstance(expected, str):
        with pytest.raises(LuaRunError, match=expected):
            machine.run(body)
    else:
        assert machine.run(body)[0] == expected


def read(text: str) -> ScriptReading:
    return read_scripts({"healthInterpretation": {"luaScript": text}}, "hostile")


@pytest.mark.slow
@rows(
    ("script", "findings"),
    [
        pytest.param("function InterpretHealth(o) return true end -- concat" + "_" * 200_000, 0, id="a long name"),
        pytest.param(
            "function InterpretHealth(o) return true end " + "".join(f"q{number}() " for number in range(20_000)), 50,
            id="very many unknown names, of which 50 findings are shown",
        ),
        pytest.param(
            "".join(f"do local {', '.join(f'v{depth}_{n}' for n in range(190))} " for depth in range(60))
            + "".join(f"q{number}() " for number in range(10_000)) + "end " * 60
            + "function InterpretHealth(o) return true end", 1,
            id="more local variables than there may be",
        ),
        pytest.param("x = 1 " * 43_000, 2, id="a very long script"),
        pytest.param(
            'function InterpretHealth(o) return o == "' + "return  .match(" * 17_000 + '" end', 0,
            id="a long line in which each pattern begins anew",
        ),
    ],
)  # fmt: skip
def test_long_script_is_read(script: str, findings: int) -> None:
    reading = read(script)
    assert len(reading.findings) == findings


def test_too_long_script_is_refused() -> None:
    reading = read("function InterpretHealth(o) return true end " + " " * 256 * 1024)
    assert [finding.rule for finding in reading.findings] == ["lua-syntax"]
    assert "262188 bytes long; at most 262144 are allowed" in reading.findings[0].message
    assert not reading.scripts


def test_compiler_message_may_name_text_that_is_not_unicode() -> None:
    reading = read("function InterpretHealth(o) return o '\\255' 'a' + = 1 end \\255")
    (finding,) = reading.findings
    assert finding.rule == "lua-syntax"


def test_fatal_finding_counts_behind_many_others() -> None:
    names = "".join(f"q{number}()\n" for number in range(100))
    reading = read(f"{names} local function InterpretHealth(o) return true end")
    assert reading.broken == {"InterpretHealth"}
