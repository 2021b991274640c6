"""Every case of every suite, and that the suites say enough."""

from collections import Counter
from collections.abc import Sequence

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.suites import run
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import of_all_kinds


def test_answers_are_the_expected_ones(definition: Definition, cases: Sequence[Case]) -> None:
    failures = [
        f"{case.source}:{case.line}: {case.call.operation}, {case.name}: {failure}\n{case.description}"
        for case in cases
        for failure in run(definition, case).failures
    ]
    assert not failures, "\n\n".join(failures)


@of_all_kinds
def test_cases_are_about_the_kind_with_reason(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        place = f"{case.source}:{case.line}"
        assert GVK.of(case.call.object) == definition.gvk, place
        assert case.description.endswith("."), f"{place}: the reason, in a sentence"
        assert case.expected or case.error, f"{place}: without an expectation any answer would do"


@of_all_kinds
def test_operations_have_cases_with_unique_names(definition: Definition, cases: Sequence[Case]) -> None:
    names = Counter((case.call.operation, case.name) for case in cases)
    assert [name for name, count in names.items() if count > 1] == []
    counts = Counter(case.call.operation for case in cases)
    # `test_component_contract.py` asks every kind for every split of its components.
    answered = filter(definition.answers, set(Operation) - {Operation.REVISE_COMPONENTS})
    assert {operation: counts[operation] for operation in answered if counts[operation] < 2} == {}
