"""An explanation has the answer itself, and its facts make up the answer, for every case of every suite."""

from collections.abc import Sequence

from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.reference_resolver import Known, resolved
from karta_interpreter.suites.suite import Case
from tests.explain.laws import check_laws


def test_the_explained_answer_is_the_answer(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        reader = Known.of(case.references)
        try:
            check_laws(resolved(definition, case.call.object, reader), case.call, reader)
        except AssertionError as error:
            raise AssertionError(f"{case.source}:{case.line}: {case.name}: {error}") from error
