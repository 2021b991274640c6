"""Running a case: the call is answered, and the answer compared with what the case expects."""

from dataclasses import dataclass

from karta_interpreter.errors import InterpretationError
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.operations import DEFAULT_OPTIONS, Options, Results, interpret
from karta_interpreter.suites.comparison import differences
from karta_interpreter.suites.suite import Case


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case: ``failures`` has each difference from what was expected.

    ``results`` is the answer, None where there was an error instead.
    """

    case: Case
    failures: tuple[str, ...] = ()
    results: Results | None = None

    @property
    def passed(self) -> bool:
        """Whether the case gave what it expects."""
        return not self.failures


def run(definition: Definition, case: Case, options: Options = DEFAULT_OPTIONS) -> Outcome:
    """Answer a case from a definition and compare."""
    try:
        return judge(case, interpret(definition, case.call, options, reader=Known.of(case.references)))
    except InterpretationError as error:
        return judge_refusal(case, str(error))


def judge(case: Case, results: Results) -> Outcome:
    """Compare an answer with what a case expects.

    As in Karmada's harness, every expected result must be there, and a result that the case does not mention is
    not looked at.
    """
    if case.error is None:
        return Outcome(case, _failures(case.expected, results), results)
    return Outcome(case, (f'expected an error that says "{case.error}", got {_names(results)}',), results)


def judge_refusal(case: Case, message: str) -> Outcome:
    """Judge an error in place of an answer: a failure, unless the case expects an error with this text."""
    if case.error is None:
        return Outcome(case, (f"error: {message}",))
    if case.error not in message:
        return Outcome(case, (f'expected an error that says "{case.error}", got the error: {message}',))
    return Outcome(case)


def _failures(expected: Results, results: Results) -> tuple[str, ...]:
    failures: list[str] = []
    for name, value in expected.items():
        if name in results:
            failures += differences(name, value, results[name])
        else:
            failures.append(f"{name}: expected {value!r}, but there is no such result ({_names(results)})")
    return tuple(failures)


def _names(results: Results) -> str:
    return ", ".join(results) or "nothing"
