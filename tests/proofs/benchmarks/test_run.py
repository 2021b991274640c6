"""A run over sections, without measuring."""

from typing import cast

import pytest

from tests.proofs.benchmarks import run as module
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part
from tests.proofs.benchmarks.rounds import QUICK, Effort
from tests.proofs.benchmarks.run import Section, run


def works(_: Field, __: Effort) -> Part:
    return Part({"cpu": "| 1 |\n"}, conclusions=("It is fast.",), failures=("memory: 2.00 times, more than 1.1",))


def fails(_: Field, __: Effort) -> Part:
    raise MeasurementError("the server said no")


@pytest.mark.parametrize(
    ("texts", "headline"),
    [
        pytest.param({"headline": "- one\n", "asked": "  two\n"}, "- one\n  two\n", id="both"),
        pytest.param({"headline": "- one\n"}, "", id="without Karmada's own cost the item stays as it was"),
        pytest.param({"asked": "  two\n"}, "", id="and without the server's"),
    ],
)
def test_headline_has_the_costs_of_both_sides(
    texts: dict[str, str], headline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECTIONS", {"one": Section(lambda *_: Part(texts), ())})
    results = run(cast("Field", None), QUICK, ["one"])
    assert (results.headline, [*results.blocks]) == (headline, ["conclusions"])


def test_run_tells_failures_in_their_places_and_measures_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"fails": Section(fails, ("start", "memory")), "works": Section(works, ("cpu",))}
    monkeypatch.setattr(module, "SECTIONS", known)
    results = run(cast("Field", None), QUICK, known)
    said = "This could not be measured: the server said no.\n"
    assert results.blocks == {"cpu": "| 1 |\n", "start": said, "memory": said, "conclusions": "- It is fast.\n"}
    assert results.failures == ["fails could not be measured: the server said no", "memory: 2.00 times, more than 1.1"]
