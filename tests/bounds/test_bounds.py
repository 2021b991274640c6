"""Each row of the table "What others can make grow" in docs/developers/bounds.md holds ten times over."""

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from karta_interpreter.webhook.process.metrics import GAUGES, Metrics
from tests.bounds import feeders
from tests.bounds.feeding import TEXT, Fed, growth
from tests.proofs.audit.__main__ import ATTACKS
from tests.support.rows import rows

PAGE = Path(__file__).parents[2] / "docs" / "developers" / "bounds.md"
FEEDERS = feeders.FEEDERS
UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
FED = "fed"


class Row(NamedTuple):
    """A row of the page."""

    what: str
    actor: str
    bound: str
    beyond: str
    shown: str
    tried: str


def page_rows() -> list[Row]:
    section = PAGE.read_text(encoding="utf-8").partition("\n## What others can make grow\n")[2].partition("\n## ")[0]
    lines = [re.split(r"\s*\|\s*", line)[1:-1] for line in section.splitlines() if line.startswith("| ")]
    return [Row(*cells) for cells in lines[1:]]


ROWS = {row.what: row for row in page_rows()}


def number(cell: str) -> int:
    """Return the first number of a cell, in its unit.

    >>> number("16 MiB each"), number("1,000 lines")
    (16777216, 1000)
    """
    match = re.search(r"([\d,]+)(?: (KiB|MiB|GiB)\b)?", cell)
    assert match, cell
    return int(match[1].replace(",", "")) * UNITS[match[2] or ""]


def test_row_of_page_is_tried_by_feeder_or_attack() -> None:
    assert ROWS.keys() >= FEEDERS.keys(), "docs/developers/bounds.md lacks a row"
    for row in ROWS.values():
        assert row.actor
        assert row.beyond
        if row.what in FEEDERS:
            assert row.tried.split(",")[0] == FED, row.what
        else:
            assert set(re.findall(r"`([^`]+)`", row.tried)) & ATTACKS.keys(), f"{row.what}: no feeder, no attack"


def test_metric_of_row_exists() -> None:
    metrics = Metrics()
    for gauge in GAUGES.keys() - {"definitions_bytes"}:
        metrics.show(gauge, float)
    page = metrics.render().decode()
    for name in re.findall(r"`(karta_interpreter_\w+)`", " ".join(row.shown for row in ROWS.values())):
        assert f"# HELP {name} " in page, name


@rows("what", FEEDERS)
def test_bound_of_page_is_the_constant(what: str) -> None:
    assert number(ROWS[what].bound) == FEEDERS[what].bound


@pytest.mark.slow
@pytest.mark.parametrize("what", FEEDERS)
async def test_growth_ends_at_bound_when_fed_ten_times(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    feeder = FEEDERS[what]
    module, _, name = feeder.constant.partition(":")
    if "." not in name:
        monkeypatch.setattr(f"karta_interpreter.{module}.{name}", feeder.small)
    for _ in range(2):  # something else in this process may take memory meanwhile: what has no bound grows each time
        with feeder.start(feeder.small) as fed:
            seen = growth(fed, feeder.small // feeder.unit)
        if seen.memory < TEXT:
            break
    assert 0 < seen.full <= feeder.small
    assert 0 < seen.held <= feeder.small
    assert seen.memory < TEXT, f"memory grows beyond the bound:\n{seen.where}"
    assert seen.work < 2, "a text beyond the bound takes more work than one below it"
    assert not seen.lost_before
    if seen.lost is not None:
        assert seen.lost, "nobody can see that something went beyond the bound"


def _looks_at_all(seen: list[int]) -> None:
    seen.append(0)
    for each in seen:
        abs(each)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("push", "grows", "slows"),
    [
        pytest.param(deque[str](maxlen=10).append, False, False, id="the last ten"),
        pytest.param(list[str]().append, True, False, id="a list without a bound"),
        pytest.param(lambda _, seen=[]: _looks_at_all(seen), False, True, id="work that grows"),
    ],
)
def test_growth_shows_what_has_no_bound(push: Callable[[str], object], *, grows: bool, slows: bool) -> None:
    seen = growth(Fed(push, lambda: 1), 10)
    assert (seen.memory >= TEXT, seen.work >= 2) == (grows, slows)
    assert ("feeding.py" in seen.where) == grows  # it makes the texts that are kept
