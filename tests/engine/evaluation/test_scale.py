from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import ComponentRules
from karta_interpreter.engine.evaluation.scale import Scale, scales
from karta_interpreter.languages.jq import Query
from tests.support.rows import rows

SINGLE = ("",)


def component(**paths: str) -> ComponentRules:
    queries: dict[str, Any] = {
        name: Query.compile(text, place=f"definition toy, component part, {to_camel(name).removesuffix('Path')}Path")
        for name, text in paths.items()
    }
    return ComponentRules("toy", "part", **queries)


@rows(
    ("value", "count"),
    [
        pytest.param(3, 3, id="a number"),
        pytest.param(0, 0, id="nothing runs"),
        pytest.param(3.0, 3, id="a number with an empty fraction"),
        pytest.param("4", 4, id="a numeric string, as annotations have it"),
        pytest.param("+5", 5, id="Go's ParseInt reads a sign"),
        pytest.param("007", 7, id="and leading zeros"),
        pytest.param("0", 0, id="nothing runs, as text"),
        pytest.param(None, None, id="null says nothing"),
        pytest.param(2147483647, 2147483647, id="the largest int32"),
    ],
)
def test_count_is_read_from_value(value: object, count: int | None) -> None:
    assert scales(component(replicas=".n"), {"n": value}, SINGLE) == [Scale(count, None, None)]


@rows(
    ("value", "reason"),
    [
        pytest.param(2.5, "gives 2.5, which is not a whole number", id="half a pod"),
        pytest.param("2.5", "gives '2.5', which is not a whole number", id="half a pod as text"),
        pytest.param("5.0", "gives '5.0', which is not a whole number", id="ParseInt knows no point"),
        pytest.param(" 5", "gives ' 5', which is not a whole number", id="nor blanks"),
        pytest.param("", "gives '', which is not a whole number", id="nor nothing"),
        pytest.param("\u0665", "which is not a whole number", id="nor digits of other scripts"),
        pytest.param(True, "gives a boolean, which is not a whole number", id="true is not 1"),
        pytest.param([3], "gives a list, which is not a whole number", id="a list"),
        pytest.param({}, "gives an object, which is not a whole number", id="an object"),
        pytest.param(-1, "gives -1; a number of replicas is not negative", id="negative"),
        pytest.param("-3", "gives '-3'; a number of replicas is not negative", id="negative as text"),
        pytest.param(2147483648, "more than the largest count", id="more than int32 holds"),
        pytest.param(1e300, "more than the largest count", id="much more"),
        pytest.param("9" * 5000, "gives a string, which is not a whole number", id="more than Python would read"),
        pytest.param("s3cret", "gives a string, which is not a whole number", id="messages end up in logs"),
    ],
)
@rows("field", ["replicas", "min_replicas", "max_replicas"])
def test_values_that_are_not_counts(field: str, value: object, reason: str) -> None:
    with pytest.raises(InterpretationError) as caught:
        scales(component(**{field: ".n"}), {"n": value}, SINGLE)
    schema_name = {"replicas": "replicasPath", "min_replicas": "minReplicasPath"}.get(field, "maxReplicasPath")
    assert str(caught.value).startswith(f"definition toy, component part, {schema_name} `.n`: gives ")
    assert reason in str(caught.value)


@rows(
    ("scale", "count"),
    [
        pytest.param(Scale(3, 1, 5), 3, id="the replicas"),
        pytest.param(Scale(0, 1, 5), 0, id="zero replicas are said, not left open"),
        pytest.param(Scale(None, 2, 5), 2, id="else the minimum"),
        pytest.param(Scale(None, 0, 5), 0, id="which may be zero"),
        pytest.param(Scale(None, None, 5), 1, id="else one; a maximum is only a bound"),
    ],
)
def test_scale_has_effective_count(scale: Scale, count: int) -> None:
    assert scale.effective == count


def test_instances_have_their_own_scales() -> None:
    obj = {"x": [{"n": 2, "min": 1}, {"max": "9"}]}
    part = component(replicas=".x[].n", min_replicas=".x[].min", max_replicas=".x[].max", instance_ids=".x[].id")
    assert scales(part, obj, ("a", "b")) == [Scale(2, 1, None), Scale(None, None, 9)]


def test_without_a_path_nothing_is_said() -> None:
    assert scales(component(), {}, SINGLE) == [Scale(None, None, None)]


@pytest.mark.parametrize("field", ["min_replicas", "max_replicas"])
def test_bound_without_output_is_unset(field: str) -> None:
    optional = component(replicas=".n", **{field: ".bound | tonumber?"})
    assert scales(optional, {"n": 2}, SINGLE) == [Scale(2, None, None)]


GROUPS = [{"n": 2}, {}, {"n": 0}]


@rows(
    ("paths", "ids", "reason"),
    [
        pytest.param({"replicas": ".x[].n // 1"}, ("a", "b", "c"),
            "replicasPath `.x[].n // 1`: gives 2 results for 3 instance ids of instanceIdPath `.x[].id`",
            id="the default of a whole list drops the unset ones"),
        pytest.param({"replicas": ".x[].n"}, ("a", "b"), "replicasPath `.x[].n`: gives 3 results for 2 instance ids",
            id="more results than ids"),
        pytest.param({"replicas": "empty"}, ("a", "b"), "gives 0 results for 2 instance ids",
            id="replicas must not be missing altogether"),
        pytest.param({"replicas": ".x[].n", "min_replicas": ".x[0].n"}, ("a", "b", "c"),
            "minReplicasPath `.x[0].n`: gives 1 result for 3", id="bounds are paired by position as well"),
    ],
)  # fmt: skip
def test_results_and_ids_must_match(paths: dict[str, str], ids: tuple[str, ...], reason: str) -> None:
    with pytest.raises(InterpretationError) as caught:
        scales(component(**paths, instance_ids=".x[].id"), {"x": GROUPS}, ids)
    assert reason in str(caught.value)


@pytest.mark.parametrize(("path", "count"), [(".x[].n", 3), ("empty", 0)])
def test_single_instance_with_several_counts_is_error(path: str, count: int) -> None:
    with pytest.raises(InterpretationError, match=f"gives {count} results, but a component without instanceIdPath"):
        scales(component(replicas=path), {"x": GROUPS}, SINGLE)


@pytest.mark.parametrize(
    "obj", [pytest.param({}, id="number times null"), pytest.param({"a": "x", "b": {}}, id="wrong types")]
)
def test_failing_expression_names_its_place(obj: dict[str, Any]) -> None:
    with pytest.raises(InterpretationError, match=r"component part, replicasPath `\.a \* \.b`: "):
        scales(component(replicas=".a * .b"), obj, SINGLE)
