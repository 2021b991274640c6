"""Golden suites in Karmada's own test format for interpreters: read, run against a definition, and compared.

A suite is a YAML file with one case per document (``thirdparty_test.go`` of Karmada). This package runs, judges and
counts cases kind by kind. The answers come from `karta_interpreter.engine.operations`.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.k8s import GVK, JSON
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Options, interpret
from karta_interpreter.engine.suites.comparison import (
    ERROR,
    SILENT,
    Answer,
    Difference,
    compare_answers,
    compared,
    differences,
)
from karta_interpreter.engine.suites.suite import (
    OBJECT_KEYS,
    OBJECTS,
    Case,
    answer_of,
    case_of,
    find_suites,
    home_of,
    load_suite,
    read_case,
    read_suite,
    scan_suite,
    with_outputs,
    without_server_fields,
)

__all__ = [
    "ERROR",
    "OBJECTS",
    "OBJECT_KEYS",
    "SILENT",
    "Answer",
    "Case",
    "Difference",
    "Outcome",
    "SuiteReport",
    "Totals",
    "answer_of",
    "by_kind",
    "case_of",
    "compare_answers",
    "compared",
    "find_suites",
    "home_of",
    "judge",
    "load_suite",
    "read_case",
    "read_suite",
    "run",
    "scan_suite",
    "with_outputs",
    "without_server_fields",
]


class Outcome(Struct, frozen=True):
    """The outcome of a case."""

    case: Case
    failures: tuple[str, ...] = ()
    results: Mapping[str, JSON] | None = None
    """The answer, None if there was an error instead."""
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the case gave the expected result."""
        return not self.failures


def run(definition: Definition, case: Case, options: Options = DEFAULT_OPTIONS) -> Outcome:
    """Answer a case from a definition and compare."""
    try:
        return judge(case, interpret(definition, case.call, options, reader=Known.of(case.references)))
    except InterpretationError as error:
        return judge(case, None, str(error))


def judge(case: Case, results: Mapping[str, JSON] | None, error: str = "") -> Outcome:
    """Compare an answer, or the message of an error, with what a case expects.

    As in Karmada's harness, every expected result must be there, and others do not count. In Karmada a case without
    expectations passes. Here it fails, because it would pass with any answer.
    """
    expects_error = f'expected an error with the text "{case.error}", got '
    if results is None:
        failure = f"error: {error}" if case.error is None else f"{expects_error}the error: {error}"
        if case.error and all(part in error for part in re.split(r"\.[*+]|[\\^$]", case.error)):
            failure += "; error is a part of the message, not a pattern"
        return Outcome(case, () if case.error is not None and case.error in error else (failure,))
    names, failures = ", ".join(results) or "nothing", list[str]()
    if case.error is not None:
        failures.append(f"{expects_error}{names}")
    elif not case.expected:
        failures.append(f"expects nothing, so that any answer would pass: add output with some of {names}")
    for name, value in case.expected.items():
        if name in results:
            failures += differences(name, value, results[name])
        else:
            failures.append(f"{name}: expected {value!r}, but there is no such result ({names})")
    return Outcome(case, tuple(failures), results)


class Totals(Struct, frozen=True):
    """The number of cases, and the number of failed cases."""

    cases: int = 0
    failed: int = 0

    @property
    def passed(self) -> int:
        """The number of cases that gave the expected result."""
        return self.cases - self.failed

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> "Totals":
        """Count outcomes."""
        verdicts = [outcome.passed for outcome in outcomes]
        return cls(len(verdicts), verdicts.count(False))


class SuiteReport(Struct, frozen=True):
    """The result of a run. ``fail_only`` hides passed cases, but still counts them."""

    outcomes: tuple[Outcome, ...]
    unreadable: tuple[SuiteError, ...] = ()
    fail_only: bool = False

    @property
    def passed(self) -> bool:
        """Whether every suite could be read, every case has its reason and gave the expected result."""
        return not (self.unreadable or self.drafts) and all(outcome.passed for outcome in self.outcomes)

    @property
    def drafts(self) -> int:
        """The number of passed cases that `create suite` has drafted and that still have the reason TODO."""
        return sum(outcome.passed and outcome.case.description.startswith("TODO") for outcome in self.outcomes)

    @property
    def totals(self) -> Totals:
        """The counts of all cases."""
        return Totals.of(self.outcomes)

    @property
    def kinds(self) -> dict[GVK, Totals]:
        """The counts of the cases of each kind, in the order of kinds."""
        return {gvk: Totals.of(outcomes) for gvk, outcomes in by_kind(self.outcomes).items()}

    @property
    def shown(self) -> tuple[Outcome, ...]:
        """The outcomes to show."""
        return tuple(outcome for outcome in self.outcomes if not (self.fail_only and outcome.passed))


def by_kind(outcomes: Iterable[Outcome]) -> dict[GVK, list[Outcome]]:
    """Return the outcomes of each kind, in the order of kinds. Within a kind the order stays."""
    by_gvk: dict[GVK, list[Outcome]] = {}
    for outcome in outcomes:
        try:
            gvk = GVK.of(outcome.case.call.object)
        except InterpretationError:  # counts under an empty kind
            gvk = GVK("", "", "")
        by_gvk.setdefault(gvk, []).append(outcome)
    return dict(sorted(by_gvk.items()))
