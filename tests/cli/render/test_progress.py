"""Progress is shown to people, and not to programs."""

import io
import sys

import pytest

from karta_interpreter.cli.render import watched


class _Stream(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "shown"),
    [pytest.param(True, "Cases", id="a terminal"), pytest.param(False, "", id="a file or a pipe")],
)
def test_progress_is_shown_only_on_terminal(monkeypatch: pytest.MonkeyPatch, is_terminal: bool, shown: str) -> None:
    stream = _Stream(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)

    assert list(watched([1, 2, 3], "Cases")) == [1, 2, 3]

    assert (shown in stream.getvalue(), bool(stream.getvalue())) == (True, is_terminal)
