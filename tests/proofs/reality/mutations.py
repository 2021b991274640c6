"""``python -m tests.proofs.reality.mutations``: judge ``verify`` on the recorded states, and write the table of it."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.catalogue.alarms import ALARMS, alarm_of
from tests.catalogue.verified import Tally, alarms, states, tally
from tests.proofs.reality.report import PAGE, write_between
from tests.support.recorded import FOLDER, recorded

_MARK = "mutations"


def lines(counted: Tally) -> Iterator[str]:
    """Yield the sentence about false alarms, and the table of mistakes."""
    kinds = recorded()
    number = sum(map(len, kinds.values()))
    size = sum(file.stat().st_size for file in FOLDER.rglob("*.gz")) / 2**20
    false = [(shown, each) for of, found in states(kinds) for shown in found for each in alarms(of, shown)]
    known = sum(alarm_of(*each) is not None for each in false)
    yield (
        f"{number} states of {len(kinds)} kinds of {len([*FOLDER.iterdir()])} controllers, {size:.1f} MB. "
        f"Of the unchanged catalogue `verify` names {len(false)} differences, {known} of them with a reason in "
        f"`tests/catalogue/alarms.py` ({len(ALARMS)} rows)."
    )
    yield from ("", "| mistake | definitions | found | at the right field |", "| --- | --- | --- | --- |")
    for mistake, of in counted.all.most_common():
        yield f"| {mistake} | {of} | {counted.found[mistake]} | {counted.named[mistake]} |"
    totals = (counted.all.total(), counted.found.total(), counted.named.total())
    yield f"| all | {' | '.join(f'{each}' for each in totals)} |"


def write(page: Path = PAGE) -> None:
    counted = tally(recorded())
    write_between(page, _MARK, lines(counted))
    sys.stdout.write("".join(f"{each}\n" for each in (*lines(counted), "", *counted.missed)))


if __name__ == "__main__":
    write()
