"""Scripts in processes that can be killed."""

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.errors import LuaLimitError, LuaRunError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine.runtime import Call
from karta_interpreter.lua.machine.worker import Worker
from karta_interpreter.lua.values import FUNCTION


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def call(script: str, *arguments: JSON) -> Call:
    return Call(f"function F(o) {script} end", "F", arguments, {}, None, 9)


def test_a_process_has_no_environment_no_files_and_little_memory() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        os.set_inheritable(listener.fileno(), True)
        worker = Worker()
        proc = Path(f"/proc/{worker.pid}")
        files = {str(link.readlink()) for link in proc.joinpath("fd").iterdir()}
        limits = proc.joinpath("limits").read_text()
        environment = proc.joinpath("environ").read_bytes()
        worker.stop()
    assert len([file for file in files if file.startswith("socket:")]) == 1
    assert files - {"/dev/null"} == {file for file in files if file.startswith("socket:")}
    assert f"Max address space         {768 * 2**20}" in limits
    assert "Max file size             0" in limits
    assert "Max core file size        0" in limits
    assert environment == b""


def test_a_script_that_is_stopped_leaves_the_process_alone(worker: Worker) -> None:
    with pytest.raises(LuaLimitError, match="more than 256 MiB of memory"):
        worker.run(call("local s = 'x' while true do s = s .. s end"), 5)
    assert worker.is_alive
    assert worker.run(call("return o"), 1) == [None]


def test_a_process_that_does_not_even_stop_is_killed(worker: Worker) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(LuaLimitError, match=r"longer than 0.05 s"):
        worker.run(call("return 1"), 0.05)
    assert not worker.is_alive


def test_a_process_that_is_killed_at_work_is_a_limit(worker: Worker) -> None:
    threading.Timer(0.1, os.kill, (worker.pid, signal.SIGKILL)).start()
    with pytest.raises(LuaLimitError, match="was killed"):
        worker.run(call("while true do end"), 10)
    assert not worker.is_alive


def test_a_process_ends_when_its_parent_is_killed() -> None:
    program = """
import os, signal
from karta_interpreter.lua.machine.worker import Worker
print(Worker().pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    end = time.monotonic() + 5
    while _is_running(int(done.stdout)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _is_running(int(done.stdout))


def _is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": 2**70}, id="an integer of more than 64 bits"),
        pytest.param({"a": "\ud800"}, id="half of a character"),
        pytest.param({"a": object()}, id="an object of Python"),
    ],
)
def test_what_no_go_program_would_read_is_not_sent(worker: Worker, value: JSON) -> None:
    with pytest.raises(LuaRunError, match="is not JSON"):
        worker.run(call("return o", value), 1)
    assert worker.run(call("return o.a", {"a": 1}), 1) == [1]


@pytest.mark.parametrize("number", [2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e20, -1e20, 1e21, 5e-324])
def test_a_number_that_is_no_integer_of_64_bits_is_a_result(worker: Worker, number: float) -> None:
    result, within = worker.run(call("return o.a, {o.a}", {"a": number}), 1)
    assert (float(result), float(within[0])) == (number, number)
    assert worker.is_alive


def test_a_result_that_json_has_no_word_for_is_what_it_is(worker: Worker) -> None:
    """As null it would be nil, which stands for no requirements."""
    results = worker.run(call("return print, 1/0, -1/0, 0/0, nil, 'function', 0"), 1)
    assert results[0] is FUNCTION
    assert results[1:3] == [math.inf, -math.inf]
    assert math.isnan(results[3])
    assert results[4:] == [None, "function", 0]
