"""Count the instructions of a call with the CPython that runs this, and write its row into the table of CPythons.

`python -m tests.proofs.benchmarks.pythons "as Debian 12 builds it"` replaces the row of that CPython and that build, or
adds one. Rows are compared with the first. A change of the server changes all of them, so count them all at one commit.
"""

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Final

from tests.proofs.benchmarks.gate import read_baseline, write_baseline
from tests.proofs.benchmarks.instructions import instructions
from tests.proofs.benchmarks.report import fill, number, table

_FIGURES: Final = Path(__file__).with_name("pythons.json")
_PAGE: Final = Path(__file__).parent / "figures.md"


def main(build: str) -> int:
    """Count, and write the figures and the page. Return the exit code."""
    _, *calls = instructions().values()
    if not calls:
        return 1
    write_baseline(_FIGURES, read_baseline(_FIGURES) | {f"{platform.python_version()}, {build}": fmean(calls)})
    _PAGE.write_text(fill(_PAGE.read_text(), {"pythons": rows_of(read_baseline(_FIGURES))}))
    return 0


def rows_of(figures: Mapping[str, float]) -> str:
    """Return the table of the instructions of a call, by CPython.

    >>> print(rows_of({"3.11.7, own": 500_000.0, "3.14.0, own": 450_000.0}), end="")
    | CPython | instructions of a call | next to the first |
    |---|--:|--:|
    | 3.11.7, own | 500,000 | 1.00 |
    | 3.14.0, own | 450,000 | 0.90 |
    """
    first = next(iter(figures.values()))
    heads = "CPython", "instructions of a call", "next to the first"
    return table(heads, [(name, number(calls), f"{calls / first:.2f}") for name, calls in figures.items()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
