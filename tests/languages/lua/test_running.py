"""Scripts as the rest of the program runs them: in processes of their own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.errors import InterpretationError, LuaLimitError, LuaRunError, LuaSyntaxError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.base.sandbox.deadline import deadline
from karta_interpreter.languages.lua.machine import worker
from karta_interpreter.languages.lua.machine.worker import WORKERS
from karta_interpreter.languages.lua.script import Own, Script
from tests.support.rows import rows
from tests.support.scripts import answer
from tests.support.settling import processes_of
from tests.support.waiting import HANG


@pytest.fixture(scope="module", autouse=True)
def workers() -> Iterator[None]:
    yield
    WORKERS.close()


def ask(text: str, own: Own | None = None, on_print: Callable[[str], None] | None = None, name: str = "demo") -> JSON:
    """Whether an object is healthy, by a script."""
    script = Script("InterpretHealth", text, name)
    return answer([script], object={"n": 3}, own=own, on_print=on_print)["healthy"]


def health(body: str) -> str:
    return f"function InterpretHealth(object, ...)\n{body}\nend"


def status(body: str, own: Own) -> JSON:
    script = Script(
        "InterpretStatus", f"function ReflectStatus(object) local karta = require('karta') {body} end", "demo"
    )
    return answer([script], object={"n": 3}, own=own)["status"]


@rows(
    ("text", "message", "line"),
    [
        pytest.param("x = 1", "not found function InterpretHealth", 0, id="no function"),
        pytest.param("InterpretHealth = 5", "InterpretHealth is not a function: number", 0, id="a number"),
        pytest.param("function InterpretHealth(o)\n\n  return o.spec.replicas > 1\nend",
            "attempt to index field 'spec' (a nil value)", 3, id="an index"),
        pytest.param("local function f(o)\n  error('too bad')\nend\nfunction InterpretHealth(o)\n  f(o)\nend",
            "too bad", 2, id="the line of the call of error"),
        pytest.param(
            "local function f(o)\n  error('too bad', 2)\nend\nfunction InterpretHealth(o)\n  f(o) return 1\nend",
            "too bad", 5, id="the line of the caller",
        ),
        pytest.param("function InterpretHealth(o)\n  error('too bad', 0)\nend", "too bad", 2,
            id="a message without a line"),
        pytest.param(
            "function InterpretHealth(o)\n  local ok, e = pcall(function()\n    o.a.b = 1\n  end)\n  error(e, 0)\nend",
            "attempt to index field 'a' (a nil value)", 3, id="an error that was caught and raised again",
        ),
        pytest.param("function InterpretHealth(o)\n  error({})\nend", "(error object is a table value)", 2,
            id="a table"),
        pytest.param("function InterpretHealth(o)\n  for k in pairs(o.x) do end\nend",
            "bad argument #1 to pairs (table expected, got nil)", 2, id="an argument"),
        pytest.param("function InterpretHealth(o)\n  return 'a' .. o.x\nend",
            "cannot perform concat operation between string and nil", 2, id=".."),
        pytest.param("function InterpretHealth(o)\n  local k = require('kube')\n  k.resourceAdd(1)\nend",
            "bad argument #1 to resourceAdd (string expected, got number)", 3, id="kube"),
        pytest.param("error('at the top')", "at the top", 1, id="at the top"),
        pytest.param("\nerror('gr\\195\\188n \\255')", "grün \ufffd", 2, id="a message that is not UTF-8"),
        pytest.param("function InterpretHealth(o)\n  return o['\\255'].x\nend",
            "attempt to index field '\ufffd' (a nil value)", 2, id="nor one of the machine's"),
        pytest.param("\nlocal s = 'long' for i = 1, 12 do s = s .. s end error(s, 0)", "long" * 2048 + " ...", 2,
            id="a message without an end"),
        pytest.param("function InterpretHealth(o)\n  return {f = print}\nend", "cannot encode function to JSON", 0,
            id="a result that is not JSON"),
        pytest.param(
            "function InterpretHealth(o)\n  string.rep('x', 3)\nend",
            "The Lua function string.rep is not supported by Karmada. If you believe this function is essential for "
            "your use case, please submit an issue to let us know why you need it.", 2, id="what Karmada refuses",
        ),
    ],
)  # fmt: skip
def test_errors_know_the_line(text: str, message: str, line: int) -> None:
    with pytest.raises(LuaRunError) as caught:
        ask(text)
    assert (str(caught.value), caught.value.line) == (message, line)


def test_error_repeats_nothing_of_the_object() -> None:
    script = Script("InterpretHealth", health("return object.password.x.y"), "demo")
    with pytest.raises(LuaRunError) as caught:
        answer([script], object={"password": "s3cret"})
    assert "s3cret" not in str(caught.value)


@rows(
    ("text", "line"),
    [
        pytest.param("function f(\n", 2, id="unfinished"),
        pytest.param("\n\nx = = 1", 3, id="a slip"),
        pytest.param("local x <const> = 1", 1, id="a later Lua"),
        pytest.param("end x = 1 function f()", 1, id="an end too many, and one too few"),
    ],
)
def test_text_that_is_no_script(text: str, line: int) -> None:
    with pytest.raises(LuaSyntaxError) as caught:
        ask(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param("while true do end", "longer than 0", id="a loop"),
        pytest.param("while true do pcall(function() while true do end end) end", "longer than 0", id="in pcall",
            marks=pytest.mark.slow),
        pytest.param("return (('x'):upper() .. 'a'):find(('.-'):upper() .. 'z')", None, id="a plain pattern"),
        pytest.param("local s = '' for i = 1, 4000 do s = s .. 'a' end return s:find('.-.-.-.-.-b')", "longer than 0",
            id="a pattern that takes forever", marks=pytest.mark.slow),
        pytest.param("local t = {} while true do t = {t} end", "more than 64 MiB of memory", id="tables",
            marks=pytest.mark.slow),
        pytest.param("local s = 'x' while true do s = s .. s end", "more than 64 MiB of memory", id="a string",
            marks=pytest.mark.slow),
        pytest.param("return {" + "o and " * 15_000 + "o}", "type 7 is not bool",
            id="a chain that takes long to compile", marks=pytest.mark.slow),
        pytest.param("local t = {} for i = 1, 60 do t = {t, t} end require('karta').take(t)", "longer than 0",
            id="shared tables that grow beyond all bounds", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_limits(body: str, message: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is too large has time to become so, however busy the computer is; what takes too long need not take it.
    monkeypatch.setattr(worker, "SECONDS", 0.1 if message and "longer" in message else HANG)
    if message and "memory" in message:
        monkeypatch.setattr(worker, "MEMORY", 64 * 2**20)  # a quarter of the real one, full as much sooner
        WORKERS.close()
    with pytest.raises((LuaLimitError, LuaRunError), match=message or "type 0 is not bool"):
        ask(health(body), {"take": lambda _: ()})
    monkeypatch.undo()
    monkeypatch.setattr(worker, "SECONDS", HANG)
    assert ask(health("return true")) is True


def test_too_long_string_is_refused_by_string_library() -> None:
    with pytest.raises(
        LuaRunError, match="string length 1048576 exceeds the maximum allowed input string length 1000000"
    ):
        ask(health("local s = 'x' for i = 1, 20 do s = s .. s end return s:upper()"))


def test_deadline_of_expressions_holds_for_scripts() -> None:
    with deadline(0.1), pytest.raises(LuaLimitError, match="longer than 0"):
        ask(health("while true do end"))
    with deadline(0), pytest.raises(LuaLimitError, match="no time left"):
        ask(health("while true do end"))


def test_script_is_stopped_after_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SECONDS", 1.0)

    def stop() -> tuple[JSON, ...]:
        # A process that stands still takes as long as one that loops, and no processor.
        for pid in processes_of(WORKERS):
            os.kill(pid, signal.SIGSTOP)
        return ()

    before = time.monotonic()
    with pytest.raises(LuaLimitError, match=r"longer than 1 s"):
        ask(health("require('karta').stop()"), {"stop": stop})
    assert time.monotonic() - before > 0.9
    WORKERS.close()


def test_printed_lines_are_passed_on() -> None:
    printed: list[str] = []
    ask(health("print('a', 1, nil) print() print({} == nil) return true"), on_print=printed.append)
    assert printed == ["a\t1\tnil", "", "false"]
    assert ask(health("print('not passed on') return true"))
    ask(health("print('gr\\195\\188n', '\\255\\254') return true"), on_print=printed.append)
    assert printed.pop() == "grün\t\ufffd\ufffd"
    with pytest.raises(LuaRunError):
        ask(health("print('before') error('x')"), on_print=printed.append)
    assert printed[3:] == ["before"]


def test_printed_lines_are_passed_on_up_to_a_length() -> None:
    printed: list[str] = []
    ask(
        health("for i = 1, 60 do print('number ' .. i .. (' %9999d'):format(i)) end return true"),
        on_print=printed.append,
    )
    assert (printed[0][:8], printed[-1]) == ("number 1", "... and more")
    assert sum(map(len, printed)) <= 256 * 1024


class TestOwn:
    """What ``require("karta")`` offers."""

    def test_results(self) -> None:
        own: Own = {"getReplicas": lambda obj: (obj["n"], {"a": [1]}), "nothing": lambda *_: ()}
        body = "local n, r = karta.getReplicas(object) return {n, r.a, karta.nothing()}"
        assert status(body, own) == [3, [1]]

    def test_arguments(self) -> None:
        seen: list[JSON] = []

        def take(*arguments: JSON) -> tuple[JSON, ...]:
            seen.append(arguments)
            return ()

        script = Script(
            "InterpretHealth",
            health("object.b = 2 require('karta').take(object, object.c, nil, {}, 1.5, false, 'é') return true"),
            "demo",
        )
        answer([script], object={"a": None, "c": {"d": None, "e": 2**53 + 1}}, own={"take": take})
        assert [list(arguments) for arguments in seen] == [
            [{"b": 2, "c": {"e": 2**53 + 1}}, {"e": 2**53 + 1}, None, {}, 1.5, False, "é"]
        ]

    def test_table_may_repeat_in_argument_but_not_contain_itself(self) -> None:
        own: Own = {"take": lambda argument: (argument,)}
        body = "local t = {a = 1} return karta.take({x = t, y = {t, t}, z = object, o = object})"
        assert status(body, own) == {"x": {"a": 1}, "y": [{"a": 1}] * 2, "z": {"n": 3}, "o": {"n": 3}}
        with pytest.raises(LuaRunError, match="recursively nested"):
            status("local t = {} t.a = {t} karta.take(t)", own)
        with pytest.raises(LuaRunError, match="recursively nested"):  # a result is read as Karmada reads it
            status("local t = {} karta.take({t, t}) return {a = t, b = t}", own)

    def test_error_of_the_karta_can_be_caught_and_has_a_line(self) -> None:
        def bad() -> tuple[JSON, ...]:
            raise InterpretationError("no such path")

        body = "\nlocal ok, e = pcall(karta.bad)\nlocal bad = karta.bad\nbad()"
        with pytest.raises(LuaRunError) as caught:
            status(body, {"bad": bad})
        assert (str(caught.value), caught.value.line) == ("no such path", 4)
        assert status("return {(pcall(karta.bad))}", {"bad": bad}) == [False]

    def test_another_error_is_not_for_scripts(self) -> None:
        def broken() -> tuple[JSON, ...]:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            status("pcall(karta.broken)", {"broken": broken})
        assert ask(health("return true")) is True

    def test_without_a_karta_there_is_no_module(self) -> None:
        with pytest.raises(LuaRunError, match="module karta not found"):
            ask(health("require('karta')"))


def test_many_threads() -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        for index in range(20):
            body = f"local s = 0 for k, v in pairs(object) do s = s + v end return s * {number} == {3 * number}"
            if ask(health(body + f" and {index} >= 0"), name=f"demo{number}") is not True:
                failures.append((number, index))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(processes_of(WORKERS)) <= worker.PROCESSES


@pytest.mark.slow
def test_customization_does_not_occupy_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SECONDS", HANG)
    WORKERS.close()  # so that each process there is works for the scripts that take long
    working, done = threading.Semaphore(0), threading.Event()
    ended: list[JSON] = []

    def work() -> tuple[JSON, ...]:
        working.release()
        done.wait(HANG)
        return ()

    def run() -> None:
        ended.append(ask(health("require('karta').work() return true"), {"work": work}, name="hostile"))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(worker.PROCESSES - 1):
        assert working.acquire(timeout=HANG)
    assert ask(health("return true")) is True
    with deadline(0.2), pytest.raises(LuaLimitError, match="every process is busy"):
        ask(health("return true"), name="hostile")
    assert ended == []
    done.set()
    for thread in threads:
        thread.join()
    assert ended == [True] * 4


def test_importing_starts_nothing_and_leaving_stops_everything() -> None:
    program = """
from tests.support.settling import processes_of
import sys
from tests.support.scripts import answer
from karta_interpreter.languages.lua.machine.worker import WORKERS
from karta_interpreter.languages.lua.script import Script
assert not processes_of(WORKERS)
script = Script("InterpretHealth", "function InterpretHealth() return true end", "x")
assert answer([script], object={}) == {"healthy": True}
assert "lupa" not in sys.modules
print(*processes_of(WORKERS))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert not Path(f"/proc/{int(done.stdout)}").exists()
    assert done.stderr == ""
