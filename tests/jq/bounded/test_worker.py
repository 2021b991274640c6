"""libjq in processes that can be stopped."""

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

from karta_interpreter.errors import QueryError, QueryEvaluationError, QueryLimitError
from karta_interpreter.jq.bounded.complaint import reason
from karta_interpreter.jq.bounded.deadline import EXPRESSION_SECONDS, deadline, remaining
from karta_interpreter.jq.bounded.pool import PROCESSES, WorkerPool
from karta_interpreter.jq.bounded.worker import Worker
from karta_interpreter.k8s.values import JSON


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool()
    yield pool
    pool.close()


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("program", "value", "expected"),
    [
        pytest.param("1, 2", "null", [1, 2], id="several results"),
        pytest.param("empty", "null", [], id="no result"),
        pytest.param(".[] | tostring", '[1,"é"]', ["1", "é"], id="text"),
        pytest.param(".a + 1.5", '{"a":1.5}', [3], id="an integral result is an int"),
        pytest.param("range(999)", "null", list(range(999)), id="as many results as there may be"),
        pytest.param("$ENV.PATH, env.HOME", "null", [None, None], id="an empty environment"),
    ],
)
def test_results(pool: WorkerPool, program: str, value: str, expected: list[JSON]) -> None:
    assert pool.evaluate(program, value, 5) == expected


@pytest.mark.parametrize(
    ("program", "seconds", "message"),
    [
        pytest.param("[range(1e12)] | length", 0.1, "longer than 0.1 s", id="a long loop"),
        pytest.param("def f: f; f", 0.1, "longer than 0.1 s", id="endless recursion"),
        pytest.param('"x" * 1e9', 5, "more than 512 MiB of memory", id="a huge string"),
        pytest.param("def f: [f, f]; f", 5, "more than 512 MiB of memory", id="recursion that fills the memory"),
        pytest.param("range(1e12)", 5, "more than 999 results", id="endless results"),
        pytest.param("range(1000)", 5, "more than 999 results", id="one result too many"),
        pytest.param('"x" * 2e7', 5, "too large", id="a large result"),
    ],
)
def test_runaway_expressions_are_stopped(pool: WorkerPool, program: str, seconds: float, message: str) -> None:
    with pytest.raises(QueryLimitError, match=message):
        pool.evaluate(program, "null", seconds)
    assert pool.evaluate("1", "null", 5) == [1]
    assert len(pool.processes) == 1


def test_an_error_of_the_expression_leaves_the_process_alone(pool: WorkerPool) -> None:
    pool.evaluate("1", "null", 5)
    before = pool.processes
    with pytest.raises(QueryEvaluationError, match=r"^object and number cannot be added$"):
        pool.evaluate(". + 1", '{"password":"s) ecret"}', 5)
    assert pool.evaluate("1", "null", 5) == [1]
    assert pool.processes == before


def test_a_stopped_process_is_gone_and_reaped(pool: WorkerPool) -> None:
    pool.evaluate("1", "null", 5)
    (before,) = pool.processes
    with pytest.raises(QueryLimitError):
        pool.evaluate("last(range(1e12))", "null", 0.1)
    assert not exists(before)


def test_a_process_that_died_while_idle_is_replaced(pool: WorkerPool) -> None:
    pool.evaluate("1", "null", 5)
    (before,) = pool.processes
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert pool.evaluate("2", "null", 5) == [2]
    assert not exists(before)


def test_a_process_that_is_killed_at_work_is_a_limit() -> None:
    worker = Worker()
    threading.Timer(0.1, os.kill, (worker.pid, signal.SIGKILL)).start()
    with pytest.raises(QueryLimitError, match="was killed"):
        worker.evaluate("last(range(1e12))", "null", 10)
    assert not worker.is_alive


def test_many_threads_share_few_processes(pool: WorkerPool) -> None:
    results: list[tuple[int, list[JSON]]] = []

    def work(number: int) -> None:
        results.extend((number, pool.evaluate(f"{number} + .", "1", 10, str(number))) for _ in range(10))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert all(result == [number + 1] for number, result in results)
    assert len(pool.processes) <= PROCESSES


def test_the_programs_of_one_owner_leave_a_process_to_all_others(pool: WorkerPool) -> None:
    ended: list[str] = []

    def loop() -> None:
        with pytest.raises(QueryLimitError):
            pool.evaluate("last(range(1e12))", "null", 60, "hostile")
        ended.append("hostile")

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(pool.processes) < PROCESSES - 1:
        time.sleep(0.01)
    assert pool.evaluate("1", "null", 5, "other") == [1]
    with pytest.raises(QueryLimitError, match="every process for jq is busy"):
        pool.evaluate("1", "null", 0.1, "hostile")
    assert ended == []
    while any(thread.is_alive() for thread in threads):
        pool.close()
        time.sleep(0.01)


def test_waiting_for_a_process_is_part_of_the_time() -> None:
    pool = WorkerPool(size=1)
    pool.evaluate("1", "null", 5)
    busy = threading.Thread(target=_swallow, args=(pool, "last(range(1e12))", 0.6))
    busy.start()
    time.sleep(0.1)
    with pytest.raises(QueryLimitError, match="busy"):
        pool.evaluate("1", "null", 0.1)
    busy.join()
    pool.close()


def _swallow(pool: WorkerPool, program: str, seconds: float) -> None:
    try:
        pool.evaluate(program, "null", seconds)
    except QueryError:
        return


def test_closing_stops_every_process_also_at_work() -> None:
    pool = WorkerPool()
    pool.evaluate("1", "null", 5)
    busy = threading.Thread(target=_swallow, args=(pool, "last(range(1e12))", 10))
    busy.start()
    time.sleep(0.1)
    pids = pool.processes
    pool.close()
    busy.join(timeout=5)
    assert pids
    assert not any(map(exists, pids))
    assert pool.evaluate("1", "null", 5) == [1]
    pool.close()


def test_importing_starts_nothing_and_leaving_stops_everything() -> None:
    program = """
from karta_interpreter.jq.bounded.pool import WORKERS
assert not WORKERS.processes
assert WORKERS.evaluate("1", "null", 5) == [1]
print(*WORKERS.processes)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert not exists(int(done.stdout))
    assert done.stderr == ""


def test_a_process_ends_when_its_parent_is_killed() -> None:
    program = """
import os, signal
from karta_interpreter.jq.bounded.worker import Worker
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


def test_a_process_has_no_environment_no_files_and_little_memory() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        os.set_inheritable(listener.fileno(), True)
        worker = Worker()
        proc = Path(f"/proc/{worker.pid}")
        files = {str(link.readlink()) for link in proc.joinpath("fd").iterdir()}
        limits = proc.joinpath("limits").read_text()
        environment = proc.joinpath("environ").read_bytes()
        modules = worker.evaluate("1", "null", 5)
        worker.stop()
    assert len([file for file in files if file.startswith("socket:")]) == 1
    assert files - {"/dev/null"} == {file for file in files if file.startswith("socket:")}
    assert f"Max address space         {512 * 2**20}" in limits
    assert "Max core file size        0" in limits
    assert environment == b""
    assert modules == [1]


def test_a_broken_program_is_an_error_not_a_death(pool: WorkerPool) -> None:
    with pytest.raises(QueryEvaluationError, match="ended in an error"):
        pool.evaluate("(", "null", 5)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Cannot iterate over null (null)", "cannot iterate over null"),
        ('Cannot iterate over string ("secret")', "cannot iterate over string"),
        ('Cannot index number with string ("secret")', "cannot index number with string"),
        ('Cannot index number with "secret"', "cannot index number"),
        ('string ("a) secret") and number (1) cannot be added', "string and number cannot be added"),
        ('string ("sec\nret...) cannot be parsed as a number', "string cannot be parsed as a number"),
        ("null (null) has no keys", "null has no keys"),
        ('Cannot use object ({"a":"secret"}) as object key', "cannot use object as object key"),
        ("secret", "it ended in an error"),
        ("string (x) then a Secret: 42", "it ended in an error"),
    ],
)
def test_messages_keep_types_and_lose_values(message: str, expected: str) -> None:
    assert reason(message) == expected


def test_a_deadline_is_shared_and_can_only_come_closer() -> None:
    assert remaining() == EXPRESSION_SECONDS
    with deadline(0.3):
        assert 0 < remaining() <= 0.3
        with deadline(10):
            assert remaining() <= 0.3
        with deadline(0.1):
            assert remaining() <= 0.1
    assert remaining() == EXPRESSION_SECONDS


def test_no_time_left() -> None:
    with deadline(0), pytest.raises(QueryLimitError, match="no time left"):
        remaining()


def test_a_long_deadline_gives_one_expression_its_limit_only() -> None:
    with deadline(60):
        assert remaining() == EXPRESSION_SECONDS


def test_an_interrupted_request_leaves_no_answer_for_the_next_one(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    pool.evaluate("1", "null", 5)
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.evaluate('"late"', "null", 5)
    assert pool.evaluate("2", "null", 5) == [2]
