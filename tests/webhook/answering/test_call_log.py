"""The log has one line a minute for calls that fail alike, with the number of the others."""

from typing import Any

import pytest

from karta_interpreter.webhook.answering import call_log
from karta_interpreter.webhook.answering.call_log import CallLog
from karta_interpreter.webhook.answering.pending_call import Answer, PendingCall
from karta_interpreter.webhook.wire import Request
from tests.support.rows import rows
from tests.webhook.logs import capture_logs


class Calls:
    """Calls that a log sees, and what it writes at warning."""

    def __init__(self) -> None:
        self.now = 0.0
        self._log = CallLog(lambda: self.now)

    def lines(self, code: int = 404, seconds: float = 0.0, operation: str = "Retain", times: int = 1) -> list[Any]:
        call = PendingCall(0.0, b"", Request("1", operation_name=operation), None)
        with capture_logs() as said:
            for _ in range(times):
                self._log.see(call, Answer(b"", code, "none" if code != 200 else "", seconds, is_inline=True))
        return [line for line in said if line["log_level"] == "warning"]


def test_log_has_one_line_a_minute_and_count_of_others() -> None:
    calls = Calls()
    assert [line.get("left_out") for line in calls.lines(times=1000)] == [None]
    calls.now = 59.9
    assert not calls.lines()
    calls.now = 60.0
    assert [line.get("left_out") for line in calls.lines(times=2)] == [1000]


@rows(
    "other",
    [
        pytest.param({"code": 422}, id="code"),
        pytest.param({"operation": "ReviseReplica"}, id="operation"),
        pytest.param({"code": 200, "seconds": 0.5}, id="slow"),
    ],
)
def test_log_has_line_for_call_that_differs_in(other: dict[str, Any]) -> None:
    calls = Calls()
    assert len(calls.lines()) == len(calls.lines(**other)) == 1


def test_log_has_one_line_for_operations_that_do_not_exist() -> None:
    calls = Calls()
    assert sum(len(calls.lines(operation=f"Invented{number}")) for number in range(9)) == 1


def test_log_forgets_lines_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "_MOST_LINES", 3)
    calls = Calls()
    assert sum(len(calls.lines(code=code)) for code in (400, 404, 422)) == 3
    assert not calls.lines(code=400), "within a minute"
    assert len(calls.lines(code=504)) == len(calls.lines(code=400)) == 1


def test_log_has_no_line_for_call_that_succeeds_in_time() -> None:
    assert not Calls().lines(code=200, seconds=0.49)
