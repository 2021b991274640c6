import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import ComponentRules
from karta_interpreter.engine.evaluation.evaluation import instance_ids
from karta_interpreter.languages.jq import Query
from tests.support.rows import rows


def component(path: str | None) -> ComponentRules:
    place = "definition toy, component part, instanceIdPath"
    return ComponentRules("toy", "part", instance_ids=None if path is None else Query.compile(path, place=place))


@rows(
    ("path", "obj", "ids"),
    [
        pytest.param(None, {"x": 1}, ("",), id="no path: one instance without a name"),
        pytest.param(".x[].n", {"x": [{"n": "b"}, {"n": "a"}]}, ("b", "a"), id="a list keeps its order"),
        pytest.param(".x | keys[]", {"x": {"b": 1, "a": 2}}, ("a", "b"), id="a map is in order of its keys"),
        pytest.param(".x | to_entries[] | .key", {"x": {"b": 1, "a": 2}}, ("a", "b"), id="entries too"),
        pytest.param(".x[].n", {}, (), id="a list that is not there has no instances"),
        pytest.param(".x[].n", {"x": []}, (), id="an empty list has no instances"),
    ],
)
def test_ids(path: str | None, obj: object, ids: tuple[str, ...]) -> None:
    assert instance_ids(component(path), obj) == ids  # type: ignore[arg-type]  # tables hold any JSON


@rows(
    ("names", "reason"),
    [
        pytest.param(["a", ""], "result 1 is an empty string", id="an empty id names nothing"),
        pytest.param(["a", None], "result 1 is null", id="null is an empty string upstream, an error as well"),
        pytest.param([1], "result 0 is a number", id="numbers are not names"),
        pytest.param([["a"]], "result 0 is a list", id="lists are not names"),
        pytest.param(
            ["a", "b", "a"],
            'two instances have the id "a" (the entries 1 and 3)',
            id="equal ids would lose an instance",
        ),
    ],
)
def test_unusable_ids(names: list[object], reason: str) -> None:
    obj = {"x": [{"n": name} for name in names]}
    with pytest.raises(InterpretationError) as caught:
        instance_ids(component(".x[].n"), obj)
    assert str(caught.value).startswith("definition toy, component part, instanceIdPath `.x[].n`: ")
    assert reason in str(caught.value)
    assert caught.value.code == 422
