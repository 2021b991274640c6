"""An attack that kills its server, or the control, is a finding and does not end the audit."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.proofs.audit.__main__ import Audit


class _Stage:
    """Measures nothing, because the server has been killed during or after the attack."""

    metered = False

    def __init__(self, *, during: bool) -> None:
        self._during = during

    def measure(self, title: str, name: str, *_: object) -> Any:
        if self._during:
            raise ZeroDivisionError("no memory")
        return SimpleNamespace(title=title, name=name, settle=self._settle)

    def _settle(self) -> bool:
        raise ProcessLookupError("no such process")


@pytest.mark.parametrize(
    ("during", "text"),
    [
        pytest.param(True, "ZeroDivisionError: no memory", id="during the attack"),
        pytest.param(False, "ProcessLookupError: no such process", id="while it settles"),
    ],
)
def test_killed_server_is_a_finding(capsys: pytest.CaptureFixture[str], *, during: bool, text: str) -> None:
    stage, control = _Stage(during=during), None
    audit = Audit(stage, control)  # type: ignore[arg-type] # as far as an audit needs them
    audit.run(["scripts", "objects"])
    assert audit.failed == ["scripts", "objects"]
    assert [row[-1] for row in audit.rows] == ["not measured"] * 4
    assert f"scripts: {text}" in capsys.readouterr().err
