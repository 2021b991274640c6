import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.sandbox.deadline import deadline
from karta_interpreter.definitions.karta.definition import ComponentRules
from karta_interpreter.engine.evaluation.evaluation import aligned
from karta_interpreter.languages.jq import Query
from tests.support.rows import rows

PART = ComponentRules("toy", "part")
PLACE = "definition toy, component part, somePath"
PARTS = ComponentRules("toy", "part", instance_ids=Query.compile(".ids[]"))


def test_evaluate_returns_outputs() -> None:
    assert Query.compile(".x[]", place=PLACE).evaluate({"x": [1, 2]}) == [1, 2]


def test_failure_names_expression_and_place_once() -> None:
    with pytest.raises(InterpretationError) as caught:
        Query.compile(".x.y", place=PLACE).evaluate({"x": 1})
    message = str(caught.value)
    assert message.startswith("definition toy, component part, somePath `.x.y`: ")
    assert message.count(".x.y") == 1
    assert caught.value.code == 422


def test_error_of_the_author_stands_without_expression() -> None:
    query = Query.compile('if .x > 1 then error("one is enough") else .x end', place=PLACE)
    with pytest.raises(InterpretationError, match=r"^definition toy, component part, somePath: one is enough$"):
        query.evaluate({"x": 2})
    assert query.evaluate({"x": 1}) == [1]


def test_long_expression_is_cut_in_messages() -> None:
    text = f'.x.y + "{"a" * 500}"'
    with pytest.raises(InterpretationError) as caught:
        Query.compile(text, place=PLACE).evaluate({"x": 1})
    assert len(str(caught.value)) < 400
    assert text[:80] in str(caught.value)


def test_999_results_are_the_most() -> None:
    query = Query.compile(".x[]", place=PLACE)
    assert len(query.evaluate({"x": [0] * 999})) == 999
    with pytest.raises(InterpretationError, match=r"somePath `\.x\[\]`: .*999"):
        query.evaluate({"x": [0] * 1000})


def test_endless_expression_is_stopped() -> None:
    with deadline(0.2), pytest.raises(InterpretationError, match="component part, somePath `def f: f; f`: "):
        Query.compile("def f: f; f", place=PLACE).evaluate({})


@rows(
    ("component", "ids", "results"),
    [
        pytest.param(PART, ("",), [7], id="one for the only instance"),
        pytest.param(PARTS, ("a", "b"), [7, 8], id="one for each instance"),
        pytest.param(PARTS, (), [], id="none for no instance"),
    ],
)
def test_as_many_results_as_instances(component: ComponentRules, ids: tuple[str, ...], results: list[int]) -> None:
    query = Query.compile(".x[]")
    assert aligned(component, query, {"x": results}, ids) == results
    assert aligned(component, query, {"x": results}, ids, may_lack=True) == results


def test_missing_results_are_nothing_only_where_they_may_lack() -> None:
    query = Query.compile(".x[]")
    assert aligned(PARTS, query, {}, ("a", "b"), may_lack=True) == [None, None]
    with pytest.raises(InterpretationError, match=r"gives 0 results for 2 instance ids of instanceIdPath `\.ids\[\]`"):
        aligned(PARTS, query, {}, ("a", "b"))


@pytest.mark.parametrize("may_lack", [False, True])
def test_another_number_of_results(may_lack: bool) -> None:
    with pytest.raises(InterpretationError, match="gives 1 result for 2 instance ids"):
        aligned(PARTS, Query.compile(".x[]"), {"x": [1]}, ("a", "b"), may_lack=may_lack)
