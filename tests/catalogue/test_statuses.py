"""Which of Karta's statuses each state of a workload has; the states are those of the suites.

The facts of a kind have the expected statuses, by the name of the case that shows the state. They are reasoned from
what each kind's controller means by its phases and conditions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from docs.tools.facts import facts_of
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import Matcher
from karta_interpreter.engine.evaluation.status import Status, match_status
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import of_all_kinds
from tests.catalogue.tables import moments_of, questions


@of_all_kinds
def test_matchers_of_statuses_have_cases(definition: Definition, cases: Sequence[Case]) -> None:
    worded = [obj for _, obj, _ in questions(definition.gvk)]
    objects = [*worded, *moments_of(definition.gvk), *(obj for case in cases for obj in _live(case))]
    unmet = [
        (status.value, number)
        for status, matchers in (definition.status.mappings if definition.status else ())
        for number, matcher in enumerate(matchers)
        if not any(_is_met(definition, matcher, obj) for obj in objects)
    ]
    assert unmet == [], "the number is that of the entry in the list of a status"


def _live(case: Case) -> Iterator[Object]:
    yield case.call.object
    if case.call.observed is not None:
        yield case.call.observed
    for item in case.call.items:
        yield {**case.call.object, "status": item.status}


def _is_met(definition: Definition, matcher: Matcher, obj: Object) -> bool:
    """Whether an object matches when this is the only way to have any status."""
    assert definition.status
    rules = replace(definition.status, mappings=((Status.RUNNING, (matcher,)),))
    try:
        return match_status(replace(definition, status=rules), obj).matched == (Status.RUNNING,)
    except InterpretationError:
        return False


@of_all_kinds
def test_statuses_of_states_are_matched(definition: Definition, cases: Sequence[Case]) -> None:
    health = [case for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    matched = {case.name: set(match_status(definition, case.call.object).matched) for case in health}
    table = facts_of(definition.gvk).statuses or {}
    expected = {name: _statuses(words) for name, words in table.items()}
    assert {name: matched.get(name) for name in expected} == expected


def _statuses(words: str | Sequence[str]) -> set[Status]:
    return {Status(words)} if isinstance(words, str) else {*map(Status, words)}
