import time
from dataclasses import replace
from typing import cast

import pytest

from tests.proofs.benchmarks import run as module
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part
from tests.proofs.benchmarks.rounds import QUICK, Effort
from tests.proofs.benchmarks.run import Run, Section

FIELD = cast("Field", None)


def works(_: Field, __: Effort) -> Part:
    return Part({"cpu": "| 1 |\n"}, {"CPU": 7.0})


def fails(_: Field, __: Effort) -> Part:
    raise MeasurementError("the server said no")


def lasts(_: Field, __: Effort) -> Part:
    time.sleep(30)
    return Part({})


@pytest.fixture
def sections(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "works": Section(works, ("cpu",)),
        "fails": Section(fails, ("start", "memory")),
        "lasts": Section(lasts, ("reload",)),
    }
    monkeypatch.setattr(module, "SECTIONS", known)


@pytest.mark.usefixtures("sections")
def test_what_fails_is_told_in_its_places_and_the_others_are_measured() -> None:
    run = Run(QUICK)
    run.measure(FIELD, ["fails", "works"])
    blocks = run.blocks(with_plots=True)
    assert blocks["cpu"] == "| 1 |\n"
    assert blocks["start"] == blocks["memory"] == "This could not be measured: the server said no.\n"
    assert run.exit_code == 1


@pytest.mark.usefixtures("sections")
def test_a_run_ends_in_time() -> None:
    run = Run(replace(QUICK, limit=1))
    begun = time.monotonic()
    run.measure(FIELD, ["works", "lasts", "fails"])
    assert time.monotonic() - begun < 5
    assert run.ratios == {"CPU": 7.0}
    assert set(run.blocks(with_plots=True)) == {"cpu", "reload", "start", "memory", "ratios"}
    assert run.exit_code == 1


@pytest.mark.usefixtures("sections")
def test_a_ratio_leads_to_its_section() -> None:
    run = Run(QUICK)
    run.measure(FIELD, ["works"])
    assert run.exit_code == 0
    assert run.sections_of(["CPU", "unheard of"]) == ["works"]
