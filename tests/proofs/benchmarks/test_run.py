"""A run over sections, without measuring."""

from typing import cast

import pytest

from tests.proofs.benchmarks import run as module
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part
from tests.proofs.benchmarks.rounds import QUICK, Effort
from tests.proofs.benchmarks.run import run


def works(_: Field, __: Effort) -> Part:
    texts = {"cpu": "| 1 |\n", "headline": "- one\n", "asked": "  two\n"}
    return Part(texts, conclusions=("It is fast.",), failures=("memory: 2.00 times, more than 1.1",))


def fails(_: Field, __: Effort) -> Part:
    raise MeasurementError("the server said no")


def test_run_tells_failures_and_measures_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECTIONS", {"fails": fails, "works": works})
    results = run(cast("Field", None), QUICK, ["fails", "works"])
    assert results.blocks == {"cpu": "| 1 |\n", "conclusions": "- It is fast.\n"}
    assert results.headline == "- one\n  two\n"
    assert results.failures == ["fails could not be measured: the server said no", "memory: 2.00 times, more than 1.1"]
