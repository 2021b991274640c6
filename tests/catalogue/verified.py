"""``verify`` on real states: what it says about the catalogue's definitions, and about mutants of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.verification import Evidence, Judgement, Verdict, verify
from tests.engine.verification.mutants import Outcome, outcomes
from tests.support.recorded import recorded

FEW = 20
"""The mutants of a mistake below which what is found of them is no share of its own."""
FOUND, NAMED, OF_EACH = 0.95, 0.90, 0.80
"""The least shares of mutants that are found, that are named at the right field, and that are found of each mistake."""


def states(kinds: Iterable[GVK], most: int | None = None) -> Iterator[tuple[Definition, Sequence[Evidence]]]:
    """Yield the definition and the states of each kind, at most so many, which are spread over all."""
    for gvk in kinds:
        entry, found = find_in_catalogue(gvk), recorded()[gvk]
        assert entry is not None, f"{gvk} is recorded, and the catalogue has no definition of it"
        yield entry.definition, found[:: max(1, len(found) // most)] if most else found


def alarms(definition: Definition, shown: Evidence) -> list[Judgement]:
    """Return the differences that are named although nobody has changed the definition."""
    return [each for each in verify(definition, shown) if each.verdict is Verdict.DIFFERS]


@dataclass
class Tally:
    """The number of mutants of each mistake that change an answer, that are found, and that are named rightly."""

    all: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def add(self, definition: Definition, outcome: Outcome) -> None:
        """Count an outcome."""
        mistake = outcome.mutant.mistake
        self.all[mistake] += 1
        self.found[mistake] += bool(outcome.fields)
        self.named[mistake] += outcome.is_named
        if not outcome.is_named:
            self.missed.append(f"{definition.name}: {mistake} at {outcome.mutant.field}: {outcome.fields[:2]}")


def tally(kinds: Iterable[GVK], most: int | None = None) -> Tally:
    """Return what verify finds of the mutants of kinds. It asks pods, so that kinds without any show no mistakes."""
    counted = Tally()
    for definition, shown in states(kinds, most):
        if not any(each.pods for each in shown):
            continue
        for outcome in outcomes(definition, shown):
            counted.add(definition, outcome)
    return counted
