"""One run over the sections, and what it has found."""

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.first_answers import first_answers
from tests.proofs.benchmarks.first_calls import first_calls
from tests.proofs.benchmarks.fleet import day, example, operations
from tests.proofs.benchmarks.karmada import karmada
from tests.proofs.benchmarks.lifecycle import memory, start
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.waits import waits

SECTIONS: Final[dict[str, Callable[[Field, Effort], Part]]] = {
    section.__name__.replace("_", "-"): section
    for section in (day, operations, first_answers, first_calls, example, karmada, waits, memory, start)
}


@dataclass(frozen=True, slots=True)
class Results:
    """Texts for the pages, the item of the README, and what went wrong."""

    blocks: dict[str, str]
    headline: str
    failures: list[str]


def run(field: Field, effort: Effort, names: Iterable[str]) -> Results:
    """Measure sections and print what they find; go on where one of them cannot be measured."""
    blocks, said, failures = dict[str, str](), list[str](), list[str]()
    for name in names:
        begun = time.monotonic()
        try:
            part = SECTIONS[name](field, effort)
        except MeasurementError as error:
            failures.append(f"{name} could not be measured: {error}")
            continue
        blocks |= part.texts
        said += part.conclusions
        failures += part.failures
        for place, text in part.texts.items():
            sys.stdout.write(f"\n## {place}\n\n{text}")
        sys.stdout.flush()
        sys.stderr.write(f"{name}: {time.monotonic() - begun:.0f} s\n")
    sys.stdout.writelines(f"- {line}\n" for line in said)
    headline = blocks.pop("headline", "") + blocks.pop("asked", "")
    return Results({**blocks, "conclusions": "".join(f"- {line}\n" for line in said)}, headline, failures)
