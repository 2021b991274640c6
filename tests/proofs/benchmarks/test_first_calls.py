"""Which waits beside first calls are too long."""

from collections.abc import Sequence

import pytest

from tests.proofs.benchmarks import __main__ as module
from tests.proofs.benchmarks.first_calls import too_long
from tests.support.rows import rows


@rows(
    ("waits", "lines"),
    [
        pytest.param([0.021, 0.02, 0.3], [], id="one order is short: the others wait for the machine"),
        pytest.param([0.03, 0.025, 0.3], ["first calls: others wait 25.0 ms for Job, more than 20.0"], id="all long"),
    ],
)
def test_wait_is_too_long_in_every_order(waits: Sequence[float], lines: list[str]) -> None:
    assert too_long({"Job": waits, "Pod": [0.001]}) == lines


def test_quick_run_fails_for_long_waits(capsys: pytest.CaptureFixture[str]) -> None:
    assert module.compare_waits(lambda _: {"Job": [0.03, 0.04], "Pod": [0.001]}) == 1
    assert module.compare_waits(lambda _: {"Job": [0.03, 0.004]}) == 0
    assert "others wait up to 30.0 ms" in capsys.readouterr().err
