"""Scripts that would crash, freeze or fill this process: each runs in a process of its own, as the server runs it."""

import json
import subprocess
import sys
import time

import pytest

from karta_interpreter.lua.kube import KUBE
from karta_interpreter.lua.machine.inside import LIMITS
from karta_interpreter.lua.machine.runtime import Call, Runtime, StoppedError
from karta_interpreter.lua.machine.source import prepare
from karta_interpreter.lua.reading import Reading, read_scripts
from karta_interpreter.lua.script import Script

LONGEST_SECONDS = 0.4  # a slice is 0.025; a busy or slow computer takes a few times as long to leave it
MOST_MEBIBYTES = 48

ALONE = """
import json, resource, sys, time
from karta_interpreter.errors import LuaError
from karta_interpreter.lua.machine.inside import run_inside
from karta_interpreter.lua.machine.runtime import Call, StoppedError
from karta_interpreter.lua.machine.source import prepare

def run(prepared):
    return run_inside(Call("", "F", ({"a": {"b": ["x"] * 1000}},), {}, None, 1, prepared=prepared))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
script = prepare(sys.stdin.read())  # which is done when a script is loaded
run(prepare("function F() return 1 end"))
memory, begun = peak(), time.process_time()
try:
    outcome = json.dumps(run(script))[:100]
except StoppedError as stopped:
    outcome = f"stopped: {stopped}"
except LuaError as error:
    outcome = f"error: {error}"
print(json.dumps([outcome, time.process_time() - begun, peak() - memory]))
"""

LONG = "local s = '{}' for i = 1, 15 do s = s .. s end "
MANY = "local t = {{}} for i = 1, {} do t[i] = {} end "
PARAMETERS = ", ".join(f"p{number}" for number in range(1, 200))


def function(body: str) -> str:
    return f"function F(o) {body} end"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            function("return unpack({}, 0, 2147483647)"), "error: registry overflow",
            id="a count that Lua 5.1 computes as an int, and gets negative",
        ),
        pytest.param(function("return pcall(unpack, {}, -2147483647, 2147483647)"), "[false]", id="and in pcall"),
        pytest.param(
            function("return (pcall(unpack, {}, 2147483646, 2147483647))"), "[false]",
            id="an index behind which there is none",
        ),
        pytest.param(function("return (pcall(unpack, {}, 0/0, 1))"), "[false]", id="an index that is no number"),
        pytest.param(function("return {unpack({1, 2, 3}, 3, -1/0)}"), "[[]]", id="a range that is empty"),
        pytest.param(
            f"local function f({PARAMETERS}, ...) return select('#', ...) end "
            "function F() local t = {} for n = 1, 300 do "
            "local function g(...) f() return 1 end for i = 1, n do t[i] = i end g(unpack(t)) end return 1 end",
            "[1]", id="parameters before varargs, for which Lua 5.1 makes no room on its stack",
        ),
        pytest.param(
            function(LONG.format("1") + "return tonumber('.' .. s .. 'x') == nil"), "[true]",
            id="digits and then no number",
        ),
        pytest.param(
            function(LONG.format(" ") + "return tonumber('x' .. s .. 'x') == nil"), "[true]", id="blanks in a number"
        ),
        pytest.param(
            function(LONG.format(" ") + "s = s:sub(1, 30000) return tonumber(s .. '7' .. s)"), "[7]",
            id="blanks around a number",
        ),
        pytest.param(
            function(
                "local f = '' for i = 1, 450 do f = f .. '%999999d' end " + MANY.format(450, 1)
                + "return string.format(f, unpack(t))"
            ),
            "stopped: size", id="wide numbers",
        ),
        pytest.param(
            function("return string.format('%.999999f', 1)"), "stopped: size", id="a precise number"
        ),
        *(
            pytest.param(
                function(
                    LONG.format("x") + f"local f = '' for i = 1, 1000 do f = f .. '{verb}' end "
                    + MANY.format(1000, "s") + "return string.format(f, unpack(t))"
                ),
                "stopped: size", id=f"one long string in many {verb}",
            )
            for verb in ("%q", "%y", "%s")
        ),
        pytest.param(
            function(LONG.format("\\255") + MANY.format(100, "s") + "return #t == 100 and t"), None,
            id="many results that are no UTF-8",
        ),
        pytest.param(
            function(MANY.format(20, "('\\255' .. i)") + LONG.format("\\255") + MANY.format(90, "s .. i") + "return t"),
            "stopped: result", id="too many of them that differ",
        ),
        pytest.param(
            function(LONG.format("x") + MANY.format(7000, "s") + "print(unpack(t))"), "stopped: size",
            id="one long string, printed many times",
        ),
        pytest.param(
            function(LONG.format("x") + MANY.format(60000, "s") + "return t"), "stopped: result", id="one long result"
        ),
        pytest.param(
            function(LONG.format("x") + MANY.format(2000, "{{[s] = 1}}") + "return t"), "stopped: result",
            id="one long key",
        ),
        pytest.param(
            function(LONG.format("x") + MANY.format(2000, "s") + "require('kube').resourceAdd(t)"), "stopped: result",
            id="one long argument",
        ),
        pytest.param(
            function("return " + "o and " * 40_000 + "o"), "stopped: time", id="a chain of and, compiled"
        ),
        pytest.param(
            function("if o then " + "elseif o then " * 15_000 + "end"), "stopped: time", id="a chain of elseif"
        ),
        pytest.param(
            "".join(f"function G() local {', '.join(['a'] * 199)} " for _ in range(60)) + "x=x;" * 40_000 + "end " * 60,
            "stopped: time", id="names that are looked for in many scopes",
        ),
    ],
)  # fmt: skip
def test_a_script_does_no_harm(script: str, expected: str | None) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcome, seconds, mebibytes = json.loads(done.stdout)
    assert outcome in (expected or outcome, "stopped: time")  # which a slow computer may need for anything
    assert seconds < LONGEST_SECONDS
    assert mebibytes < MOST_MEBIBYTES


def test_one_large_object_many_times_is_too_much() -> None:
    """What ``kube`` found out about one object it gives again and again; as JSON that would be 400 MB."""
    terms = [{"matchExpressions": [{"key": "x" * 200_000, "operator": "Exists"}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    script = function(
        "local k = require('kube') local t = {} for i = 1, 2000 do t[i] = k.accuratePodRequirements(o.t) end return t"
    )
    call = Call(script, "F", ({"t": {"spec": {"affinity": affinity}}},), {}, None, 1, typed=True)
    with pytest.raises(StoppedError, match="result"):
        Runtime(LIMITS, KUBE).run(call, 10)
    (found,) = Runtime(LIMITS, KUBE).run(call._replace(text=script.replace("2000", "20")), 10)
    assert len(found) == 20


def test_what_a_script_says_is_remembered_up_to_a_length() -> None:
    lines: list[str] = []
    script = function("for i = 1, 1e9 do print(('x'):upper() .. i) if i == 60000 then return 1 end end")
    call = Call(script, "F", (), {}, lines.append, 1)
    assert Runtime(LIMITS, KUBE).run(call, 10) == [1]
    assert lines[:2] == ["X1", "X2"]
    assert lines[-1] == "... and more"
    assert sum(map(len, lines)) <= 256 * 1024


def seconds_to_read(text: str) -> tuple[Reading, float]:
    begun = time.process_time()
    reading = read_scripts({"healthInterpretation": {"luaScript": text}}, "hostile")
    return reading, time.process_time() - begun


@pytest.mark.parametrize(
    ("script", "findings"),
    [
        pytest.param("function InterpretHealth(o) return true end -- concat" + "_" * 200_000, 0, id="a long name"),
        pytest.param(
            "function InterpretHealth(o) return true end " + "".join(f"q{number}() " for number in range(20_000)), 51,
            id="very many unknown names, which 50 findings name",
        ),
        pytest.param(
            "".join(f"do local {', '.join(f'v{depth}_{n}' for n in range(190))} " for depth in range(60))
            + "".join(f"q{number}() " for number in range(10_000)) + "end " * 60
            + "function InterpretHealth(o) return true end", 52,
            id="very many unknown names among more local variables than there may be",
        ),
        pytest.param("x = 1 " * 43_000, 2, id="a very long script"),
    ],
)  # fmt: skip
def test_a_script_is_read_in_bounded_time(script: str, findings: int) -> None:
    reading, seconds = seconds_to_read(script)
    assert len(reading.findings) == findings
    assert seconds < 5


def test_a_script_that_is_too_long_is_refused() -> None:
    reading, _ = seconds_to_read("function InterpretHealth(o) return true end " + " " * 256 * 1024)
    assert [finding.rule for finding in reading.findings] == ["lua-syntax"]
    assert "262188 bytes long; at most 262144 are allowed" in reading.findings[0].message
    assert not reading.scripts


def test_a_script_that_cannot_be_prepared_is_refused() -> None:
    """Tables whose order matters become calls, which nest deeper than the tables did."""
    tables = "{" * 70 + "}" * 70
    reading, _ = seconds_to_read(f"function InterpretHealth(o) for k in pairs(o) do end return {tables} end")
    assert [(finding.rule, "levels deep" in finding.message) for finding in reading.findings] == [("lua-syntax", True)]
    assert reading.broken == {"InterpretHealth"}


def test_what_the_compiler_says_may_name_text_that_is_no_unicode() -> None:
    reading, _ = seconds_to_read("function InterpretHealth(o) return o(" + "'\\255', " * 300 + "0) end")
    (finding,) = reading.findings
    assert finding.rule == "lua-syntax"
    assert finding.message.endswith("near ''\ufffd''")


def test_a_fatal_finding_counts_behind_very_many_others() -> None:
    names = "".join(f"q{number}()\n" for number in range(100))
    reading, _ = seconds_to_read(f"{names}goto x function InterpretHealth(o) return true end")
    assert reading.broken == {"InterpretHealth"}


def test_a_script_that_was_read_is_prepared() -> None:
    text = "function InterpretHealth(o) return (o .. 'x') == 'x' end"
    (script,) = read_scripts({"healthInterpretation": {"luaScript": text}}, "mine").scripts
    assert script.prepared == prepare(text)
    assert script == Script("InterpretHealth", text, "mine")
