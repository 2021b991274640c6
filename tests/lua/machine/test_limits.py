"""Scripts that run away: how long they keep this process, and what becomes of them."""

import math
import time
import weakref

import pytest

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine import inside
from karta_interpreter.lua.machine.inside import run_inside
from karta_interpreter.lua.machine.runtime import Call, Limits, Runtime, StoppedError

LONGEST_SECONDS = 0.25  # a slice is 0.025; a busy or slow computer takes a few times as long to leave it
OBJECT: JSON = {"a": list(range(20_000)), "b": {"c": "x"}}

DOUBLED = "local s = '{}' for i = 1, {} do s = s .. s end "


def colliding(number: int) -> str:
    """One of many strings for which Lua 5.1 computes the same hash."""
    letters = ["x"] * 40
    for place in range(16):
        letters[2 * place] = "ab"[number >> place & 1]
    return "".join(letters)


COLLIDING_NUMBERS = "local function key(i) return 2^52 + 2^31 + i * (2^32 - 1) end "
"""Numbers both halves of which have the same sum, of which Lua 5.1 computes their hash."""


def run(script: str, *arguments: JSON) -> list[JSON]:
    return run_inside(Call(f"function F(o) {script} end", "F", arguments, {}, None, 9))


def stopped(script: str, argument: JSON = OBJECT) -> tuple[str, float]:
    """Why a script was stopped, and how long this process worked on it, the clearing away included."""
    before = time.process_time()
    with pytest.raises(StoppedError) as caught:
        run(script, argument)
    return str(caught.value), time.process_time() - before


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param("while true do end", "time", id="a loop"),
        pytest.param("while true do pcall(function() while true do end end) end", "time", id="pcall swallows nothing"),
        pytest.param(
            "local function f() return pcall(f) and f() end while true do f() end", "time", id="pcalls in pcalls"
        ),
        pytest.param("xpcall(error, function() while true do end end)", "time", id="a loop in an error handler"),
        pytest.param(
            "xpcall(function() while true do end end, function() while true do end end)", "time",
            id="the handler of a stopped function is not called, for no hook would look after it",
        ),
        pytest.param(
            "local function h() return xpcall(function() while true do end end, h) end h()", "time",
            id="handlers in handlers",
        ),
        pytest.param("while true do xpcall(error, function() error('y') end) end", "time", id="errors in handlers"),
        pytest.param("local function f() return 1 + f() end while true do pcall(f) end", "time", id="recursion"),
        pytest.param("local t = {} while true do t = {t} end", None, id="tables in tables"),
        pytest.param("local t = {} for i = 1, 1e9 do t[i] = i end", None, id="a growing array"),
        pytest.param("local t = {} for i = 1, 1e9 do t[i * 7] = i end", None, id="a growing hash"),
        pytest.param("local t = {} for i = 1, 1e9 do t[i] = function() return i end end", None, id="closures"),
        pytest.param("local t = {} for i = 1, 1e9 do t[i] = 'k' .. i end", None, id="strings"),
        pytest.param("local s = 'x' while true do s = s .. s end", "size", id="a doubling string"),
        pytest.param("local s = 'x' while true do pcall(function() s = s .. s end) end", "size", id="in pcall"),
        pytest.param(
            DOUBLED.format("x", 15) + "local t = {} for i = 1, 100 do t[i] = s end return table.concat(t)", "size",
            id="concat",
        ),
        pytest.param(DOUBLED.format("\\0", 15) + "local a, b = s .. 'a', s .. 'b' while true do local x = a < b end",
                     "time", id="comparisons of zeros"),
        pytest.param(DOUBLED.format("1", 15) + "while true do local x = s + 1 end", "time", id="text as a number"),
        pytest.param(DOUBLED.format("x", 15) + "while true do pcall(error, s) end", "time", id="long messages"),
        pytest.param(DOUBLED.format("a", 15) + "while true do s:find('.-.-.-.-b') end", "time", id="a slow pattern"),
        pytest.param(DOUBLED.format("a", 15) + "s:find(s)", "time", id="a long pattern"),
        pytest.param(
            f"return ('{'a' * 40}'):find('{'a?' * 40}{'a' * 40}b')", "time", id="a pattern of many repetitions"
        ),
        pytest.param(DOUBLED.format("a", 15) + "while true do for w in s:gmatch('.') do end end", "time", id="gmatch"),
        pytest.param(
            DOUBLED.format("a", 14) + "local p = s .. 'b' while true do (s .. s):find(p, 1, true) end", "time",
            id="a long word in a long text",
        ),
        pytest.param(DOUBLED.format("é", 15) + "while true do s:upper() end", "size", id="upper case"),
        pytest.param(DOUBLED.format("%Y", 12) + "while true do os.date(s) end", None, id="long dates"),
        pytest.param(DOUBLED.format("%d", 12) + "while true do string.format(s, 1, 2, 3) end", "size", id="formats"),
        pytest.param("while true do string.format('%60000d', 1) end", "time", id="wide numbers"),
        pytest.param("string.format('%999999d', 1)", "size", id="a very wide number"),
        pytest.param("local t = {} for i = 1, 1e9 do table.insert(t, 1, i) end", "time", id="insert in front"),
        pytest.param(
            "local t = {} for i = 1, 1e5 do t[i] = i end while true do table.remove(t, 1) t[#t + 1] = 1 end", "time",
            id="remove in front",
        ),
        pytest.param(
            "local t = {} for i = 1, 1e5 do t[i] = i end table.sort(t, function() return true end)", "time",
            id="an order that is none",
        ),
        pytest.param(
            "local t = {} for i = 1, 4e5 do t[i] = true end for i = 1, 4e5 do t[i] = nil end while true do next(t) end",
            "time", id="a table that was emptied",
        ),
        pytest.param(
            f"{COLLIDING_NUMBERS} local t, a, b = {{}}, key(5000), key(5001) for i = 1, 4095 do t[key(i)] = i end "
            f"while true do {'t[a] = 1 t[a] = nil t[b] = 1 t[b] = nil ' * 100} end", "time",
            id="new keys in a full table where all collide, each of which has all of them put into a new one",
        ),
        pytest.param("local t = {} for i = 1, 7000 do t[i] = i end while true do t = {unpack(t)} end", "time",
                     id="many values"),
        pytest.param("local k = require('kube') while true do k.resourceAdd('1Gi', '1Mi') end", "time", id="kube"),
        pytest.param(
            "local k, t = require('kube'), {} for i = 1, 2e4 do t[i] = {a = i} end "
            "while true do pcall(k.accuratePodRequirements, {spec = {containers = t}}) end", "time",
            id="large tables for kube",
        ),
        pytest.param("while true do print('x') end", "time", id="print"),
        pytest.param("while true do pcall(require, 'x') end", "time", id="require"),
        pytest.param("local t = {} for i = 1, 3e5 do t[i] = {i} end return t", None, id="a large result"),
        pytest.param("while true do for k, v in pairs(o) do end end", "time", id="walking through an object"),
    ],
)  # fmt: skip
def test_a_script_that_runs_away_is_stopped_soon(script: str, reason: str | None) -> None:
    found, seconds = stopped(script)
    assert found in (reason or found, "time")  # which a slow computer may need for anything
    assert seconds < LONGEST_SECONDS


@pytest.mark.parametrize("level", range(12))
@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("pcall(loop)", id="pcall"),
        pytest.param("xpcall(loop, loop)", id="xpcall with a handler that loops as well"),
        pytest.param("xpcall(pcall, loop)", id="xpcall of pcall"),
        pytest.param("pcall(function() for _ in loop do end end)", id="an iterator"),
    ],
)
def test_a_script_is_stopped_where_no_further_call_would_fit(attempt: str, level: int) -> None:
    """A hook is a call, too: there it fails like any other, and a script that catches that would go on for ever."""
    script = f"""
      local function loop() while true do end end
      local function descend()
        local fits, height = pcall(descend)
        height = fits and height + 1 or 0
        if height == {level} then
          while true do {attempt} end
        end
        return height
      end
      descend()
    """
    found, seconds = stopped(script)
    assert found == "time"
    assert seconds < LONGEST_SECONDS


@pytest.mark.parametrize(
    "step", ["t = {t}", "t[i] = i", "t['k' .. i] = i", "t[i] = function() return i end", "t[i] = s .. i", "t[i] = {}"]
)
def test_a_script_without_end_is_stopped_by_its_memory_when_it_has_time(step: str) -> None:
    script = f"{DOUBLED.format('x', 10)} local t, i = {{}}, 0 while true do pcall(function() i = i + 1 {step} end) end"
    with pytest.raises(StoppedError, match="memory"):
        Runtime(inside.LIMITS, {}).run(Call(f"function F() {script} end", "F", (), {}, None, 9), 20)


def test_a_string_that_has_no_room_is_not_made() -> None:
    limits = Limits(memory=64 * 1024, longest=math.inf, tokens=math.inf)
    runtime = Runtime(limits, {})
    with pytest.raises(StoppedError, match="memory"):
        runtime.run(Call(f"function F() {DOUBLED.format('x', 40)} end", "F", (), {}, None, 9), 60)
    # 16 MiB: twice that and the buffer for it would be more than there is beside them.
    assert runtime.memory < 24 * 1024
    room = "local t = {} for i = 1, 40 do t = {} for j = 1, 3e4 do t[j] = {} end end " + DOUBLED.format("x", 23)
    assert Runtime(limits, {}).run(Call(f"function F() {room} return #s end", "F", (), {}, None, 9), 60) == [2**23]


@pytest.mark.parametrize(
    ("script", "value"),
    [
        pytest.param("return #o.a", {"a": list(range(100_000))}, id="a very long list"),
        pytest.param("return o.a", {f"k{number}": number for number in range(100_000)}, id="very many keys"),
        pytest.param("return #o.a", {"a": "x" * 100_000}, id="a long string"),
        pytest.param("return o.a", {"x" * 100_000: 1}, id="a long key"),
        pytest.param("return #o.a", {"a": [colliding(number) for number in range(24_000)]}, id="colliding strings"),
        pytest.param("return o.a", {colliding(number): 1 for number in range(24_000)}, id="colliding keys"),
    ],
)
def test_an_object_that_is_too_much_is_left_soon(script: str, value: JSON) -> None:
    _, seconds = stopped(script, value)
    assert seconds < LONGEST_SECONDS


def test_an_object_that_is_not_touched_costs_nothing() -> None:
    value = {"a": list(range(200_000)), "b": "x" * 1_000_000}
    (result,) = run("return o", value)
    assert result is value


def test_a_machine_that_was_stopped_is_gone_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[weakref.ref[Runtime]] = []

    def take() -> Runtime:
        runtime = Runtime(inside.LIMITS, {})
        used.append(weakref.ref(runtime))
        return runtime

    monkeypatch.setattr(inside, "_take", take)
    with pytest.raises(StoppedError) as caught:
        run("while true do end")
    assert used[0]() is None
    assert str(caught.value) == "time"


def test_a_machine_that_has_grown_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    idle: list[Runtime] = []
    monkeypatch.setattr(inside, "_idle", idle)
    run(DOUBLED.format("x", 15) + "local t = {} for i = 1, 200 do t[i] = s .. i end")
    assert not idle
    run("return 1")
    assert len(idle) == 1


def test_the_next_script_starts_with_all_of_its_time() -> None:
    loop = "local n = 0 for i = 1, 2e5 do n = n + i end return n"
    assert [run(loop) for _ in range(10)] == [[20000100000]] * 10
