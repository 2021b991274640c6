from urllib.parse import quote

import pytest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.webhook.process.application import timeout_of
from tests.support.rows import rows


@rows(
    ("text", "seconds"),
    [
        ("3s", 3.0),
        ("30s", 30.0),
        ("1m0s", 60.0),
        ("1h2m3.5s", 3723.5),
        ("300ms", 0.3),
        ("1.s", 1.0),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("9ns", 9e-9),
    ],
)
def test_durations_as_go_writes_them(text: str, seconds: float) -> None:
    assert timeout_of(f"timeout={quote(text)}") == pytest.approx(seconds)


@rows("text", ["", "0s", "-3s"])
def test_no_time_is_no_deadline(text: str) -> None:
    assert timeout_of(f"timeout={quote(text)}") <= 0


@rows("text", ["3", "s", "3 s", "3d", "soon", "1m-3s", "٣s", "1e3s", "0x3s", "9" * 64 + "s", "3s\n"])
def test_anything_else_is_named(text: str) -> None:
    with pytest.raises(RequestError, match="timeout must be a duration, as 30s or 1m30s, but is"):
        timeout_of(f"timeout={quote(text)}")
