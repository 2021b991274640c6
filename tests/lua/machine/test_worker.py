"""Scripts in processes that can be killed."""

import math
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.errors import LuaLimitError, LuaRunError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine.runtime import Call
from karta_interpreter.lua.machine.worker import run_in, start
from karta_interpreter.lua.values import FUNCTION
from karta_interpreter.sandbox import Pool


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(start, 1)
    yield pool
    pool.close()


def call(script: str, *arguments: JSON) -> Call:
    return Call(f"function F(o) {script} end", "F", arguments, {}, None, 9)


def test_a_process_has_little_memory() -> None:
    process = start()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    process.stop()
    assert f"Max address space         {768 * 2**20}" in limits


def test_a_script_that_is_stopped_leaves_the_process_alone(pool: Pool) -> None:
    with pytest.raises(LuaLimitError, match="more than 256 MiB of memory"):
        run_in(pool, call("local s = 'x' while true do s = s .. s end"), 5)
    before = pool.processes
    assert run_in(pool, call("return o"), 1) == [None]
    assert before == pool.processes != frozenset()


def test_a_process_that_does_not_even_stop_is_killed(pool: Pool) -> None:
    assert run_in(pool, call("return 1"), 5) == [1]
    (pid,) = pool.processes
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(LuaLimitError, match=r"longer than 0.05 s"):
        run_in(pool, call("return 1"), 0.05)
    assert not pool.processes


def test_a_process_that_is_killed_at_work_is_a_limit(pool: Pool) -> None:
    assert run_in(pool, call("return 1"), 5) == [1]
    (pid,) = pool.processes
    threading.Timer(0.1, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(LuaLimitError, match="was killed"):
        run_in(pool, call("while true do end"), 10)
    assert not pool.processes


def test_an_answer_of_the_karta_that_is_not_json_is_an_error_of_the_script(pool: Pool) -> None:
    asking = Call("function F() return require('karta').bad() end", "F", (), {"bad": lambda: (object(),)}, None, 1)
    with pytest.raises(LuaRunError, match="is not JSON"):
        run_in(pool, asking, 5)
    before = pool.processes
    assert run_in(pool, call("return 1"), 1) == [1]
    assert before == pool.processes


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": 2**70}, id="an integer of more than 64 bits"),
        pytest.param({"a": "\ud800"}, id="half of a character"),
        pytest.param({"a": object()}, id="an object of Python"),
    ],
)
def test_what_no_go_program_would_read_is_not_sent(pool: Pool, value: JSON) -> None:
    with pytest.raises(LuaRunError, match="is not JSON"):
        run_in(pool, call("return o", value), 1)
    assert run_in(pool, call("return o.a", {"a": 1}), 1) == [1]


@pytest.mark.parametrize("number", [2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e20, -1e20, 1e21, 5e-324])
def test_a_number_that_is_no_integer_of_64_bits_is_a_result(pool: Pool, number: float) -> None:
    result, within = run_in(pool, call("return o.a, {o.a}", {"a": number}), 1)
    assert (float(result), float(within[0])) == (number, number)
    assert pool.processes


def test_a_result_that_json_has_no_word_for_is_what_it_is(pool: Pool) -> None:
    """As null it would be nil, which stands for no requirements."""
    results = run_in(pool, call("return print, 1/0, -1/0, 0/0, nil, 'function', 0"), 1)
    assert results[0] is FUNCTION
    assert results[1:3] == [math.inf, -math.inf]
    assert math.isnan(results[3])
    assert results[4:] == [None, "function", 0]
