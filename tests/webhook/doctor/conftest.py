import pytest

from karta_interpreter.webhook.doctor import connection
from tests.support.waiting import HANG


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is not a finding: calls take no time, and connections may take long."""
    monkeypatch.setattr(connection, "SECONDS", HANG)
    monkeypatch.setattr(connection, "perf_counter", lambda: 0.0)
