"""Calls of all lanes are recorded, in files of bounded number and size, and no call notices it."""

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.engine.redaction import Redaction
from karta_interpreter.webhook.answering import recorder
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.recorder import Recorder
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire.recording import RecordedCall, files_in, read
from tests.support.waiting import HANG, until
from tests.webhook.answering.answered import answered
from tests.webhook.answering.test_scripts import OVERRIDES
from tests.webhook.process.client import question
from tests.webhook.process.process import KARTAS

REQUEST, ANSWER = question(), b'{"response":{"uid":"1"}}'
MIB = 2**20
PADDING = [0] * 2**15
LARGE = question(padding=PADDING)
"""A request that no packer keeps until the next one."""


@pytest.fixture
def counts() -> Counter[str]:
    return Counter()


def _recorder(folder: Path, counts: Counter[str], limit: int = MIB, **options: Any) -> Recorder:
    def count(outcome: str) -> None:
        counts[outcome] += 1

    return Recorder(folder, limit, DEFAULT_OPTIONS, count, **options)


def _calls(folder: Path) -> list[RecordedCall]:
    return [each for path in files_in(folder) for each in read(path) if isinstance(each, RecordedCall)]


@pytest.fixture
def calls() -> Iterator[Calls]:
    store = Store([KARTAS], overrides=[OVERRIDES], catalogue=False)
    store.load()
    made = Calls(store, DEFAULT_OPTIONS)
    yield made
    made.close()


async def test_observers_see_call_once_in_every_lane(calls: Calls) -> None:
    seen: list[tuple[bytes, bytes]] = []
    calls.observers = (lambda call, answer: seen.append((call.body, answer.body)),)
    large = question("Wheel", "InterpretStatus", padding=[0] * 200_000)
    bodies = [
        question("Wheel", "InterpretReplica"),  # an error, at once
        question("GrainMill", "InterpretComponent"),
        question("GrainMill", "InterpretReplica"),  # a script
        question("Treadmill", "InterpretReplica"),  # a definition for child processes
        large,
    ]

    answers = [await calls.answer(body, HANG) for body in bodies]

    assert seen == list(zip(bodies, answers, strict=True))


def test_files_have_what_was_asked_and_answered_for_their_owner_only(tmp_path: Path, counts: Counter[str]) -> None:
    made = _recorder(tmp_path, counts)
    made.start()
    for _ in range(3):
        made.see(*answered(REQUEST, ANSWER))
    made.close()

    (path,) = files_in(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [call.request["request"]["name"] for call in _calls(tmp_path)] == ["rye"] * 3
    assert counts == {"written": 3}


def test_oldest_files_are_deleted(tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_LEVEL", 0)  # so that a file is as large as its calls
    limit = 20 * len(LARGE)
    made, most = _recorder(tmp_path, counts, limit, secret=True), 0
    for number in range(100):
        made.record(1.0, question(uid=f"{number}", padding=PADDING), ANSWER)
        most = max(most, sum(path.stat().st_size for path in files_in(tmp_path)))
    made.start()
    made.close()

    kept = [int(call.request["request"]["uid"]) for call in _calls(tmp_path)]
    assert counts == {"written": 100}
    assert kept == list(range(100 - len(kept), 100))
    assert limit / 2 < most < limit + 4 * len(LARGE), "a file ends after the call that fills it"


def test_file_that_another_server_has_deleted_is_passed_over(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "files_in", lambda folder: [folder / "deleted-meanwhile", *files_in(folder)])
    made = _recorder(tmp_path, counts)
    made.record(1.0, REQUEST, ANSWER)
    made.start()
    made.close()

    assert counts == {"written": 1}


def test_calls_beyond_what_may_wait_are_dropped(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MOST_WAITING", 2 * (len(REQUEST) + len(ANSWER)))
    made = _recorder(tmp_path, counts)  # its thread does not run yet
    for _ in range(5):
        made.see(*answered(REQUEST, ANSWER))
    made.start()
    made.close()

    assert counts == {"written": 2, "dropped": 3}


def test_recorder_that_ends_keeps_what_is_written_and_says_what_is_not(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    working, closed, ended = Event(), Event(), Event()
    lines: list[tuple[str, dict[str, Any]]] = []

    def redacted(_: Redaction, request: bytes, answer: bytes, __: object) -> tuple[bytes, bytes]:
        if counts["written"] == 2:
            working.set()
            closed.wait(HANG)
        return request, answer

    def warning(message: str, **fields: Any) -> None:
        lines.append((message, fields))
        ended.set()

    monkeypatch.setattr(recorder, "_END_SECONDS", -1.0)  # its time is over when it is closed, and nobody waits
    monkeypatch.setattr(Redaction, "redacted", redacted)
    monkeypatch.setattr(log, "warning", warning)
    made = _recorder(tmp_path, counts)
    for _ in range(50):
        made.see(*answered(REQUEST, ANSWER))
    made.start()
    assert working.wait(HANG)
    made.close()
    closed.set()
    assert ended.wait(HANG)

    assert len(_calls(tmp_path)) == 3, "the one in work, too"
    assert counts == {"written": 3}
    left = 47 * (len(REQUEST) + len(ANSWER))
    assert lines == [("the last calls are not recorded: the server has ended", {"bytes": left})]


async def test_recorder_that_always_has_a_next_call_writes_each_second(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_seen = Event()

    def redacted(_: Redaction, request: bytes, answer: bytes, __: object) -> tuple[bytes, bytes]:
        if not is_seen.is_set():
            made.see(*answered(REQUEST, ANSWER))
        return request, answer

    monkeypatch.setattr(recorder, "_FLUSH_SECONDS", 0.05)
    monkeypatch.setattr(Redaction, "redacted", redacted)
    made = _recorder(tmp_path, counts)
    made.see(*answered(REQUEST, ANSWER))
    made.start()
    await until(lambda: _calls(tmp_path))
    is_seen.set()
    made.close()

    assert counts["dropped"] == 0


def test_large_request_is_omitted_unless_values_are_recorded(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "LARGEST_REDACTED", len(REQUEST) - 1)
    for secret in (False, True):
        made = _recorder(tmp_path, counts, secret=secret)
        made.start()
        made.see(*answered(REQUEST, ANSWER))
        made.close()

    assert counts == {"dropped": 1, "written": 1}


def test_unwritable_folder_is_named_once_and_retried(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[tuple[str, dict[str, Any]]] = []
    for level in ("warning", "info"):
        monkeypatch.setattr(log, level, lambda message, **fields: lines.append((message, fields)))
    monkeypatch.setattr(recorder, "_RETRY_SECONDS", 0.0)
    folder = tmp_path / "gone"
    made = _recorder(folder, counts)
    for _ in range(3):
        made.record(1.0, REQUEST, ANSWER)
    folder.mkdir()
    made.record(1.0, REQUEST, ANSWER)
    made.start()
    made.close()

    assert counts == {"failed": 3, "written": 1}
    assert lines == [
        ("calls are not recorded", {"folder": str(folder), "reason": "No such file or directory"}),
        ("calls are recorded again", {"folder": str(folder)}),
    ]
    assert len(_calls(folder)) == 1


def test_full_disk_harms_no_call(tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_RETRY_SECONDS", 0.0)
    made = _recorder(tmp_path, counts)
    with monkeypatch.context() as full:
        handle = os.open("/dev/full", os.O_WRONLY)
        full.setattr(os, "open", lambda *_: handle)
        made.record(1.0, REQUEST, ANSWER)
    made.record(2.0, REQUEST, ANSWER)
    made.start()
    made.close()

    assert counts == {"failed": 1, "written": 1}
    assert len(_calls(tmp_path)) == 1
    assert len([*tmp_path.iterdir()]) == 1, "no file without a call is left"


def test_recorder_after_the_clock_went_back_keeps_the_newest_files(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_LEVEL", 0)
    limit = 8 * len(REQUEST)
    for year, uid in (("2031", "before"), ("2026", "after")):
        monkeypatch.setattr(time, "strftime", lambda *_, year=year: f"{year}0101T000000Z")
        made = _recorder(tmp_path, counts, limit)
        made.start()
        for number in range(20):
            made.see(*answered(question(uid=f"{uid} {number}"), ANSWER))
        made.close()

    kept = [call.request["request"]["uid"] for call in _calls(tmp_path)]
    assert kept
    assert kept == [f"after {number}" for number in range(20 - len(kept), 20)]


def test_recorder_does_not_delete_the_open_file_of_another_server(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_LEVEL", 0)
    limit = 8 * len(LARGE)
    slow = _recorder(tmp_path, counts, limit)
    slow.record(1.0, question(uid="slow"), ANSWER)
    busy = _recorder(tmp_path, counts, limit, secret=True)
    for number in range(40):
        busy.record(1.0, question(uid=f"{number}", padding=PADDING), ANSWER)
    for made in (slow, busy):
        made.start()
        made.close()

    uids = [call.request["request"]["uid"] for call in _calls(tmp_path)]
    assert uids[0] == "slow"
    assert "0" not in uids, "the files of the busy one are deleted instead"
    assert uids[-1] == "39"


def test_recorder_drops_a_call_that_no_reader_takes(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "LONGEST", len(REQUEST))
    made = _recorder(tmp_path, counts, secret=True)
    made.record(1.0, REQUEST, ANSWER)

    assert counts == {"dropped": 1}
