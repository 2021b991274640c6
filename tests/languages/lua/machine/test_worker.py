"""Scripts in processes that can be killed."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.errors import LuaLimitError, LuaRunError, SandboxError, StopCause
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.base.sandbox import Pool
from karta_interpreter.languages.lua.machine.worker import Job, run_in, script_limits, start
from tests.support.rows import rows
from tests.support.settling import processes_of
from tests.support.waiting import HANG


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One process at most, which the tests share unless one of them ends it."""
    pool = Pool(start, 1)
    yield pool
    pool.close()


def job(script: str, argument: JSON = None) -> Job:
    text = f"function ReflectStatus(o) {script} end"
    return Job(["answer", text, "InterpretStatus", [argument], [], False], "mine")


def test_process_has_little_memory() -> None:
    process = start()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    process.stop()
    assert 2**28 <= int(re.findall(r"Max address space +(\d+)", limits)[0]) < 2**29


@pytest.mark.slow
def test_process_that_has_grown_ends_after_its_answer(pool: Pool) -> None:
    run_in(pool, job("return {}"), HANG)
    before = processes_of(pool)
    assert before
    large = job("local t = {} for i = 1, 75000 do t[i] = {a = {a = i}} end return t")
    assert len(run_in(pool, large, HANG)["status"]) == 75_000
    assert processes_of(pool).isdisjoint(before)
    assert run_in(pool, job("return {}"), HANG) == {"status": {}}


def test_process_imports_little() -> None:
    """Each import is time that the first calls of a script wait."""
    program = "import sys, karta_interpreter.languages.lua.machine.service; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    unneeded = {"karta_interpreter.languages.jq", "karta_interpreter.base.sandbox", "pydantic", "subprocess", "yaml"}
    assert unneeded.isdisjoint(done.stdout.split())


def test_script_with_too_much_memory_is_a_limit(pool: Pool) -> None:
    with pytest.raises(LuaLimitError, match="more than 256 MiB of memory"):
        run_in(pool, job("local s = 'x' while true do s = s .. s end"), HANG)
    assert not processes_of(pool)


def test_process_that_does_not_stop_is_killed(pool: Pool) -> None:
    run_in(pool, job("return {}"), HANG)
    (pid,) = processes_of(pool)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(LuaLimitError, match=r"longer than 0.05 s"):
        run_in(pool, job("return {}"), 0.05)
    assert not processes_of(pool)


def test_error_names_the_whole_time_that_was_given() -> None:
    with pytest.raises(LuaLimitError, match=r"longer than 0.5 s"), script_limits(0.5):
        raise SandboxError("it takes longer than 0.48 s", StopCause.TIME)


def test_process_killed_at_work_is_a_limit(pool: Pool) -> None:
    run_in(pool, job("return {}"), HANG)
    (pid,) = processes_of(pool)
    threading.Timer(0.1, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(LuaLimitError, match="was killed"):
        run_in(pool, job("while true do end"), HANG)
    assert not processes_of(pool)


def test_own_answer_that_is_not_json_is_an_error_of_the_script(pool: Pool) -> None:
    text = "function ReflectStatus(o) return require('karta').bad() end"
    asking = Job(["answer", text, "InterpretStatus", [{}], ["bad"], False], "mine", own={"bad": lambda: (object(),)})
    with pytest.raises(LuaRunError, match="is not JSON"):
        run_in(pool, asking, HANG)
    before = processes_of(pool)
    run_in(pool, job("return {}"), HANG)
    assert before == processes_of(pool)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": 2**70}, id="an integer of more than 64 bits"),
        pytest.param({"a": "\ud800"}, id="half of a character"),
        pytest.param({"a": object()}, id="an object of Python"),
    ],
)
def test_value_that_go_cannot_read_is_not_sent(pool: Pool, value: JSON) -> None:
    with pytest.raises(LuaRunError, match="is not JSON"):
        run_in(pool, job("return o", value), HANG)
    assert run_in(pool, job("return o.a", {"a": {"b": 1}}), HANG) == {"status": {"b": 1}}


@rows("number", [2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e20, -1e20, 1e21, 5e-324])
def test_number_beyond_64_bits_is_a_result(pool: Pool, number: float) -> None:
    (result,) = run_in(pool, job("return {o.a}", {"a": number}), HANG)["status"]
    assert float(result) == number
