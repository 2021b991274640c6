"""libjq in processes that can be stopped."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.base.sandbox import Pool, Process
from karta_interpreter.base.sandbox.deadline import deadline
from karta_interpreter.languages.jq.bounded import libjq
from karta_interpreter.languages.jq.bounded.evaluation import (
    EXPRESSION_SECONDS,
    PROCESSES,
    evaluate,
    redacted,
    seconds_left,
    start,
)
from tests.support.rows import rows
from tests.support.settling import processes_of
from tests.support.waiting import HANG

SMALL = 192 * 2**20
"""Bytes of memory: less than in production, so that it is full sooner, and more than any result may have."""


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(start, PROCESSES)
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
def test_results(pool: Pool, program: str, value: str, expected: list[JSON]) -> None:
    assert evaluate(program, value, HANG, pool=pool) == expected


@pytest.mark.parametrize(
    ("program", "seconds", "message"),
    [
        pytest.param("[range(1e12)] | length", 0.1, "longer than 0.1 s", id="a long loop"),
        pytest.param("def f: f; f", 0.1, "longer than 0.1 s", id="endless recursion", marks=pytest.mark.slow),
        pytest.param('"x" * 1e9', HANG, f"more than {SMALL >> 20} MiB of memory", id="a huge string"),
        pytest.param("def f: [f, f]; f", HANG, f"more than {SMALL >> 20} MiB of memory", id="memory that fills",
            marks=pytest.mark.slow),
        pytest.param("range(1e12)", HANG, "more than 999 results", id="endless results"),
        pytest.param("range(1000)", HANG, "more than 999 results", id="one result too many"),
        pytest.param('"x" * 2e7', HANG, "too large", id="a large result", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_runaway_expressions_are_stopped(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, program: str, seconds: float, message: str
) -> None:
    monkeypatch.setattr(libjq, "MEMORY", SMALL)
    with pytest.raises(QueryLimitError, match=message):
        evaluate(program, "null", seconds, pool=pool)
    assert evaluate("1", "null", HANG, pool=pool) == [1]
    assert len(processes_of(pool)) == 1


def test_expression_error_leaves_process_running(pool: Pool) -> None:
    evaluate("1", "null", HANG, pool=pool)
    before = processes_of(pool)
    with pytest.raises(QueryEvaluationError, match=r"^object and number cannot be added$"):
        evaluate(". + 1", '{"password":"s) ecret"}', HANG, pool=pool)
    assert evaluate("1", "null", HANG, pool=pool) == [1]
    assert processes_of(pool) == before


def test_stopped_process_is_reaped(pool: Pool) -> None:
    evaluate("1", "null", HANG, pool=pool)
    (before,) = processes_of(pool)
    with pytest.raises(QueryLimitError):
        evaluate("last(range(1e12))", "null", 0.1, pool=pool)
    assert not exists(before)


def test_process_that_died_while_idle_is_replaced(pool: Pool) -> None:
    evaluate("1", "null", HANG, pool=pool)
    (before,) = processes_of(pool)
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert evaluate("2", "null", HANG, pool=pool) == [2]
    assert not exists(before)


def test_process_killed_at_work_is_a_limit(pool: Pool) -> None:
    with pool.process("a", HANG) as (process, _):
        pass
    threading.Timer(0.1, os.kill, (process.pid, signal.SIGKILL)).start()
    with pytest.raises(QueryLimitError, match="was killed"):
        evaluate("last(range(1e12))", "null", HANG, pool=pool)
    assert not process.is_alive


def test_many_threads_share_few_processes(pool: Pool) -> None:
    results: list[tuple[int, list[JSON]]] = []

    def work(number: int) -> None:
        results.extend((number, evaluate(f"{number} + .", "1", HANG, str(number), pool)) for _ in range(10))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert all(result == [number + 1] for number, result in results)
    assert len(processes_of(pool)) <= PROCESSES


def test_programs_without_end_of_two_owners_keep_no_third_one_waiting(pool: Pool) -> None:
    """Each of two definitions has one process, and the last one is for all others."""
    ended: list[str] = []

    def loop(owner: str) -> None:
        with pytest.raises(QueryLimitError):
            evaluate("last(range(1e12))", "null", HANG, owner, pool)
        ended.append(owner)

    threads = [threading.Thread(target=loop, args=(f"hostile-{number % 2}",)) for number in range(4)]
    for owner, thread in zip(("hostile-0", "hostile-1"), threads, strict=False):
        thread.start()
        while owner not in pool.places._used:  # noqa: SLF001 - both have one before either asks for more
            time.sleep(0.001)
    for thread in threads[2:]:
        thread.start()
    for number in range(5):
        assert evaluate(str(number), "null", HANG, "other", pool) == [number]
    with pytest.raises(QueryLimitError, match="every process is busy"):
        evaluate("1", "null", 0.1, "hostile-0", pool)
    assert ended == []
    while any(thread.is_alive() for thread in threads):
        pool.close()
        time.sleep(0.01)


def test_importing_starts_nothing_and_leaving_stops_everything() -> None:
    program = """
from tests.support.settling import processes_of
from karta_interpreter.languages.jq.bounded.evaluation import POOL, evaluate
assert not processes_of(POOL)
assert evaluate("1", "null", 5) == [1]
print(*processes_of(POOL))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert not exists(int(done.stdout))
    assert done.stderr == ""


def test_process_has_little_memory_and_no_packages() -> None:
    process = start()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    maps = Path(f"/proc/{process.pid}/maps").read_text()
    process.stop()
    assert 2**29 <= int(re.findall(r"Max address space +(\d+)", limits)[0]) < 2**30
    assert "orjson" not in maps


def test_broken_program_is_an_evaluation_error(pool: Pool) -> None:
    with pytest.raises(QueryEvaluationError, match="ended in an error"):
        evaluate("(", "null", HANG, pool=pool)


@rows(
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
    assert redacted(message) == expected


def test_deadline_is_shared_and_only_comes_closer() -> None:
    assert seconds_left() == EXPRESSION_SECONDS
    with deadline(0.3):
        assert 0 < seconds_left() <= 0.3
        with deadline(10):
            assert seconds_left() <= 0.3
    with deadline(60):
        assert seconds_left() == EXPRESSION_SECONDS
    assert seconds_left() == EXPRESSION_SECONDS


def test_expression_after_deadline_is_not_run() -> None:
    with deadline(0), pytest.raises(QueryLimitError, match="no time left"):
        seconds_left()


def test_interrupted_request_leaves_no_answer_for_next_request(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    evaluate("1", "null", HANG, pool=pool)
    with monkeypatch.context() as patched:
        patched.setattr(Process, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluate('"late"', "null", HANG, pool=pool)
    assert evaluate("2", "null", HANG, pool=pool) == [2]
