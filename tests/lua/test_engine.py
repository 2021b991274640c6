"""Scripts as the rest of the server runs them."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from karta_interpreter.errors import InterpretationError, LuaLimitError, LuaRunError, LuaSyntaxError, LuaWaitError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.engine import Own, compile_script, run, without_waiting
from karta_interpreter.lua.machine import worker
from karta_interpreter.lua.machine.worker import WORKERS, close_workers
from karta_interpreter.lua.script import Script
from karta_interpreter.lua.values import FUNCTION
from karta_interpreter.sandbox.deadline import deadline

MUCH = "do local s = 'x' for i = 1, 17 do s = s .. s end end "
"""What a script cannot do in this process: a string of more than 64 KiB."""


@pytest.fixture(scope="module", autouse=True)
def workers() -> Iterator[None]:
    yield
    close_workers()


def script(text: str) -> Script:
    return Script("InterpretHealth", text, "demo")


def health(body: str) -> Script:
    return script(f"function InterpretHealth(object, ...)\n{body}\nend")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("return true", (True,), id="one result"),
        pytest.param("return {1, {a = 2.5}, {}}, print", ([1, {"a": 2.5}, []],), id="the only one that counts"),
        pytest.param("return print", (FUNCTION,), id="a function"),
        pytest.param("", (), id="none"),
        pytest.param("return {object.spec.replicas + 1, ...}", ([4, 7],), id="arguments"),
        pytest.param("return require('kube').resourceAdd('1Gi', '1Mi')", ("1025Mi",), id="kube"),
        pytest.param("return require('kube').accuratePodRequirements({})", (None,), id="nil from kube"),
        pytest.param("return 'cpu: ' .. 1e15 .. 'm'", ("cpu: 1000000000000000m",), id="numbers in text"),
    ],
)
@pytest.mark.parametrize("where", ["", MUCH], ids=["here", "in another process"])
def test_results(body: str, expected: tuple[JSON, ...], where: str) -> None:
    assert run(health(where + body), [{"spec": {"replicas": 3}}, 7]) == expected


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        pytest.param("x = 1", "not found function InterpretHealth", 0, id="no function"),
        pytest.param("InterpretHealth = 5", "InterpretHealth is not a function: number", 0, id="a number"),
        pytest.param(
            "function InterpretHealth(o)\n\n  return o.spec.replicas > 1\nend",
            "attempt to index field 'spec' (a nil value)", 3, id="an index",
        ),
        pytest.param(
            "local function f(o)\n  error('too bad')\nend\nfunction InterpretHealth(o)\n  f(o)\nend", "too bad", 2,
            id="the line of the call of error",
        ),
        pytest.param(
            "local function f(o)\n  error('too bad', 2)\nend\nfunction InterpretHealth(o)\n  f(o) return 1\nend",
            "too bad", 5, id="the line of the caller",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  error('too bad', 0)\nend", "too bad", 2, id="a message without a line",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  local ok, e = pcall(function()\n    o.a.b = 1\n  end)\n  error(e, 0)\nend",
            "attempt to index field 'a' (a nil value)", 3, id="an error that was caught and raised again",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  error({})\nend", "(error object is a table value)", 2, id="a table",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  for k in pairs(o.x) do end\nend",
            "bad argument #1 to pairs (table expected, got nil)", 2, id="an argument",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  return 'a' .. o.x\nend",
            "cannot perform concat operation between string and nil", 2, id="..",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  local k = require('kube')\n  k.resourceAdd(1)\nend",
            "bad argument #1 to resourceAdd (string expected, got number)", 3, id="kube",
        ),
        pytest.param("error('at the top')", "at the top", 1, id="at the top"),
        pytest.param("\nerror('gr\\195\\188n \\255')", "grün \ufffd", 2, id="a message that is not UTF-8"),
        pytest.param(
            "function InterpretHealth(o)\n  return o['\\255'].x\nend",
            "attempt to index field '\ufffd' (a nil value)", 2, id="nor one of the machine's",
        ),
        pytest.param(
            "\nlocal s = 'long' for i = 1, 12 do s = s .. s end error(s, 0)", "long" * 2048 + " ...", 2,
            id="a message without an end",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  return {f = print}\nend", "cannot encode function to JSON", 0,
            id="a result that is not JSON",
        ),
        pytest.param(
            "function InterpretHealth(o)\n  string.rep('x', 3)\nend",
            "The Lua function string.rep is not supported by Karmada. If you believe this function is essential for "
            "your use case, please submit an issue to let us know why you need it.", 2, id="what Karmada refuses",
        ),
    ],
)  # fmt: skip
def test_errors_know_the_line(text: str, message: str, line: int) -> None:
    for much in ("", MUCH):
        with pytest.raises(LuaRunError) as caught:
            run(script(much + text), [{}])
        assert (str(caught.value), caught.value.line) == (message, line)


def test_an_error_says_nothing_about_the_object() -> None:
    with pytest.raises(LuaRunError) as caught:
        run(health("return object.password.x.y"), [{"password": "s3cret"}])
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("function f(\n", 2, id="unfinished"),
        pytest.param("\n\nx = = 1", 3, id="a slip"),
        pytest.param("\x1bLua", 1, id="bytecode"),
        pytest.param("local x <const> = 1", 1, id="a later Lua"),
    ],
)
def test_text_that_is_no_script(text: str, line: int) -> None:
    with pytest.raises(LuaSyntaxError) as compiled:
        compile_script(text)
    with pytest.raises(LuaSyntaxError) as ran:
        run(script(text), [{}])
    assert compiled.value.line == ran.value.line == line


def test_text_that_is_a_script() -> None:
    compile_script("function GetReplicas(obj) return obj.spec.replicas .. 1 end")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param("while true do end", "longer than 0", id="a loop"),
        pytest.param("while true do pcall(function() while true do end end) end", "longer than 0", id="in pcall"),
        pytest.param("local t = {} while true do t = {t} end", "more than 256 MiB of memory", id="tables"),
        pytest.param("local s = 'x' while true do s = s .. s end", "more than 256 MiB of memory", id="a string"),
        pytest.param("local s = 'x' while true do pcall(function() s = s .. s end) end", "more than 256", id="caught"),
        pytest.param("local s = 'x' for i = 1, 25 do s = s .. s end return s", "results are too large", id="a result"),
    ],
)
def test_limits(body: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is too large has time to become so, however busy the computer is; what takes too long need not take it.
    monkeypatch.setattr(worker, "SECONDS", 0.3 if "longer" in message else 60)
    with pytest.raises(LuaLimitError, match=message):
        run(health(body), [{}])
    assert run(health(MUCH + "return 1"), [{}]) == (1,)


def test_a_string_that_is_too_long_for_the_string_library() -> None:
    with pytest.raises(
        LuaRunError, match="string length 1048576 exceeds the maximum allowed input string length 1000000"
    ):
        run(health("local s = 'x' for i = 1, 20 do s = s .. s end return s:upper()"), [{}])


def test_the_deadline_of_expressions_is_that_of_scripts() -> None:
    before = time.monotonic()
    with deadline(0.7), pytest.raises(LuaLimitError, match="longer than 0"):
        run(health("while true do end"), [{}])
    assert time.monotonic() - before < 3
    with deadline(0), pytest.raises(LuaLimitError, match="no time left"):
        run(health("while true do end"), [{}])


def test_one_script_may_take_a_second() -> None:
    before = time.monotonic()
    with pytest.raises(LuaLimitError, match=r"longer than 1 s"):
        run(health("while true do end"), [{}])
    assert 0.9 < time.monotonic() - before < 3


def test_without_waiting() -> None:
    with without_waiting():
        assert run(health("return 1"), [{}]) == (1,)
        with pytest.raises(LuaWaitError, match="a process of its own"):
            run(health("while true do end"), [{}])
    assert run(health(MUCH + "return 1"), [{}]) == (1,)


@pytest.mark.parametrize("where", ["", MUCH], ids=["here", "in another process"])
def test_what_a_script_prints_is_said_once(where: str) -> None:
    said: list[str] = []
    run(health(f"print('a', 1, nil) {where} print() print({{}} == nil)"), [{}], said=said.append)
    assert said == ["a\t1\tnil", "", "false"]
    run(health("print('nobody hears it')"), [{}])
    run(health(f"{where} print('gr\\195\\188n', '\\255\\254')"), [{}], said=said.append)
    assert said.pop() == "grün\t\ufffd\ufffd"
    with pytest.raises(LuaRunError):
        run(health(f"{where} print('before') error('x')"), [{}], said=said.append)
    assert said[3:] == ["before"]


@pytest.mark.parametrize("where", ["", MUCH], ids=["here", "in another process"])
class TestOwn:
    """What ``require("karta")`` offers."""

    def test_results(self, where: str) -> None:
        own: Own = {"getReplicas": lambda obj: (obj["n"], {"a": [1]}), "nothing": lambda *_: ()}
        body = (
            where
            + "local karta = require('karta') local n, r = karta.getReplicas(object) return {n, r.a, karta.nothing()}"
        )
        assert run(health(body), [{"n": 3}], own=own) == ([3, [1]],)

    def test_arguments(self, where: str) -> None:
        seen: list[JSON] = []

        def take(*arguments: JSON) -> tuple[JSON, ...]:
            seen.append(arguments)
            return ()

        body = where + "object.b = 2 require('karta').take(object, object.c, nil, {}, 1.5, false, 'x')"
        run(health(body), [{"a": None, "c": {"d": None, "e": 2**53 + 1}}], own={"take": take})
        assert [list(arguments) for arguments in seen] == [
            [{"b": 2, "c": {"e": 2**53 + 1}}, {"e": 2**53 + 1}, None, {}, 1.5, False, "x"]
        ]

    def test_a_table_may_be_in_an_argument_twice_but_not_in_itself(self, where: str) -> None:
        own: Own = {"take": lambda argument: (argument,)}
        body = (
            where + "local t, u = {a = 1}, {} return require('karta').take({x = t, y = {t, t}, z = object, o = object})"
        )
        assert run(health(body), [{"n": 1}], own=own) == (
            {"x": {"a": 1}, "y": [{"a": 1}] * 2, "z": {"n": 1}, "o": {"n": 1}},
        )
        body = where + "local t = {} t.a = {t} require('karta').take(t)"
        with pytest.raises(LuaRunError, match="recursively nested"):
            run(health(body), [{}], own=own)
        body = where + "local t = {} require('karta').take({t, t}) return {a = t, b = t}"
        with pytest.raises(LuaRunError, match="recursively nested"):  # a result is read as Karmada reads it
            run(health(body), [{}], own=own)

    def test_shared_tables_that_grow_beyond_all_bounds_are_stopped(self, where: str) -> None:
        body = where + "local t = {} for i = 1, 60 do t = {t, t} end require('karta').take(t)"
        with deadline(0.3), pytest.raises(LuaLimitError):
            run(health(body), [{}], own={"take": lambda argument: (argument,)})

    def test_an_error_of_the_karta_can_be_caught_and_has_a_line(self, where: str) -> None:
        def bad() -> tuple[JSON, ...]:
            raise InterpretationError("no such path")

        body = where + "\nlocal ok, e = pcall(require('karta').bad)\nlocal bad = require('karta').bad\nbad()"
        with pytest.raises(LuaRunError) as caught:
            run(health(body), [{}], own={"bad": bad})
        assert (str(caught.value), caught.value.line) == ("no such path", 5)
        assert run(health(where + "return (pcall(require('karta').bad))"), [{}], own={"bad": bad}) == (False,)

    def test_another_error_is_not_for_scripts(self, where: str) -> None:
        def broken() -> tuple[JSON, ...]:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            run(health(where + "pcall(require('karta').broken)"), [{}], own={"broken": broken})
        assert run(health(where + "return 1"), [{}]) == (1,)

    def test_without_a_karta_there_is_no_module(self, where: str) -> None:
        with pytest.raises(LuaRunError, match="module karta not found"):
            run(health(where + "require('karta')"), [{}])


def test_a_slow_answer_of_the_karta_counts() -> None:
    def slow() -> tuple[JSON, ...]:
        time.sleep(0.03)
        return (1,)

    with without_waiting(), pytest.raises(LuaWaitError):
        run(health("return require('karta').slow()"), [{}], own={"slow": slow})


def test_many_threads() -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        for index in range(60):
            much = MUCH if index % 20 == 0 else ""
            body = f"{much} local s = 0 for k, v in pairs(object) do s = s + v end return ('x'):upper() .. s"
            found = run(health(body), [{"a": number, "b": index}])
            if found != (f"X{number + index}",):
                failures.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(WORKERS.processes) < worker.PROCESSES


def test_one_customization_does_not_keep_every_process_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SECONDS", 60)
    close_workers()  # so that each process there is works for the loops
    ended: list[str] = []

    def loop() -> None:
        with pytest.raises(LuaLimitError):
            run(replace(health("while true do end"), name="hostile"), [{}])
        ended.append("hostile")

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(WORKERS.processes) < worker.PROCESSES - 1:
        time.sleep(0.01)
    assert run(health(MUCH + "return 1"), [{}]) == (1,)
    with deadline(0.2), pytest.raises(LuaLimitError, match="every process is busy"):
        run(replace(health(MUCH + "return 1"), name="hostile"), [{}])
    assert ended == []
    while any(thread.is_alive() for thread in threads):
        close_workers()
        time.sleep(0.01)


def test_importing_starts_nothing_and_leaving_stops_everything() -> None:
    program = f"""
from karta_interpreter.lua.engine import run
from karta_interpreter.lua.machine.worker import WORKERS
from karta_interpreter.lua.script import Script
assert not WORKERS.processes
assert run(Script("InterpretHealth", {f"function InterpretHealth() {MUCH} return 1 end"!r}, "x"), []) == (1,)
print(*WORKERS.processes)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert not Path(f"/proc/{int(done.stdout)}").exists()
    assert done.stderr == ""
