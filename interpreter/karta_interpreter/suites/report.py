"""What came of many cases: counted, and kind by kind."""

from collections.abc import Iterable
from dataclasses import dataclass

from karta_interpreter.errors import InterpretationError, SuiteError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.suites.runner import Outcome
from karta_interpreter.suites.suite import Case


@dataclass(frozen=True, slots=True)
class Totals:
    """How many cases there were and how many of them failed."""

    cases: int = 0
    failed: int = 0

    @property
    def passed(self) -> int:
        """How many cases gave what they expect."""
        return self.cases - self.failed

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> "Totals":
        """Count outcomes.

        >>> Totals.of([])
        Totals(cases=0, failed=0)
        """
        verdicts = [outcome.passed for outcome in outcomes]
        return cls(len(verdicts), verdicts.count(False))


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a run: of every case, and of suites that could not be read.

    ``fail_only`` leaves cases that passed out of what is shown; they count nevertheless.
    """

    outcomes: tuple[Outcome, ...]
    unreadable: tuple[SuiteError, ...] = ()
    fail_only: bool = False

    @property
    def passed(self) -> bool:
        """Whether every suite could be read and every case gave what it expects."""
        return not self.unreadable and all(outcome.passed for outcome in self.outcomes)

    @property
    def totals(self) -> Totals:
        """All cases, counted."""
        return Totals.of(self.outcomes)

    @property
    def kinds(self) -> dict[GVK, Totals]:
        """The cases of each kind, counted, in the order of kinds."""
        return {gvk: Totals.of(outcomes) for gvk, outcomes in by_kind(self.outcomes).items()}

    @property
    def shown(self) -> tuple[Outcome, ...]:
        """The outcomes to show."""
        return tuple(outcome for outcome in self.outcomes if not (self.fail_only and outcome.passed))


def by_kind(outcomes: Iterable[Outcome]) -> dict[GVK, list[Outcome]]:
    """The outcomes of each kind, in the order of kinds; within one as they came."""
    found: dict[GVK, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(kind_of(outcome.case), []).append(outcome)
    return dict(sorted(found.items()))


def kind_of(case: Case) -> GVK:
    """The kind that a case is about; an empty one when its object has none."""
    try:
        return GVK.of(case.call.object)
    except InterpretationError:
        return GVK("", "", "")
