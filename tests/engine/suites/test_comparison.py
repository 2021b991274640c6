"""When two results count as the same, and how a difference reads."""

import pytest

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.engine.suites.comparison import EXCLUDE, compared, differences, result_in_words_of
from tests.support.rows import rows

_GPU = {"nodeClaim": {"nodeSelector": {"gpu": "a100"}}, "resourceRequest": {"cpu": "1"}}


@rows(
    ("name", "expected", "actual"),
    [
        pytest.param("replica", 3, 3, id="equal numbers"),
        pytest.param("replica", 3, 3.0, id="equal numbers, whatever their type in Python"),
        pytest.param("requires", None, {}, id="no requirements and empty ones"),
        pytest.param("requires", {"resourceRequest": {"cpu": 0.5}}, {"resourceRequest": {"cpu": "500m"}},
                     id="quantities by value, as number or text"),
        pytest.param("requires", {"resourceRequest": {"memory": "1Gi"}}, {"resourceRequest": {"memory": "1024Mi"}},
                     id="quantities by value, in any unit"),
        pytest.param("requires", {**_GPU, "namespace": ""}, {**_GPU, "priorityClassName": None},
                     id="empty like absent"),
        pytest.param("components",
                     [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 2, "replicaRequirements": _GPU}],
                     [{"name": "b", "replicas": 2, "replicaRequirements": _GPU}, {"name": "a", "replicas": 1}],
                     id="components by name"),
        pytest.param("components", None, [], id="no components"),
        pytest.param("dependencies",
                     [{"apiVersion": "v1", "kind": "Secret", "name": "b"},
                      {"apiVersion": "v1", "kind": "Secret", "name": "a"}],
                     [{"apiVersion": "v1", "kind": "Secret", "name": "a", "namespace": ""},
                      {"apiVersion": "v1", "kind": "Secret", "name": "b"}],
                     id="dependencies in any order"),
        pytest.param("aggregatedStatus", {"kind": "Job", "status": {"a": 1}}, {"spec": {}, "status": {"a": 1}},
                     id="of an aggregated object Karmada reads the status only"),
        pytest.param("aggregatedStatus", {"status": {"time": "{{EXCLUDE}}"}}, {"status": {"time": "now"}},
                     id="a value that is left out"),
        pytest.param("aggregatedStatus", {"status": {"time": "{{EXCLUDE}}"}}, {"status": {}},
                     id="a value that is left out and not there"),
        pytest.param("revised", {"a": [{"b": "{{EXCLUDE}}", "c": 1}]}, {"a": [{"b": 2, "c": 1}]},
                     id="a value that is left out inside a list"),
    ],
)  # fmt: skip
def test_equal_answers(name: str, expected: JSON, actual: JSON) -> None:
    assert differences(name, expected, actual) == ()


@rows(
    ("name", "expected", "actual", "difference"),
    [
        pytest.param("replica", 1, 2, "replica: expected 1, got 2", id="another number"),
        pytest.param("replica", 1, True, "replica: expected 1, got true", id="true is not a number"),
        pytest.param("healthy", True, 1, "healthy: expected true, got 1", id="a number is not true"),
        pytest.param("healthy", True, "true", 'healthy: expected true, got "true"', id="text is not true"),
        pytest.param("requires", {"resourceRequest": {"cpu": "1"}}, None,
                     'requires: expected {"resourceRequest": {"cpu": "1"}}, got null', id="requirements missing"),
        pytest.param("requires", {"resourceRequest": {"cpu": "1"}}, {"resourceRequest": {"cpu": "2"}},
                     'requires.resourceRequest.cpu: expected "1", got "2"', id="another quantity"),
        pytest.param("components", [{"name": "a", "replicas": 1}], [{"name": "a", "replicas": 0}],
                     "components[0].replicas: expected 1, got 0", id="a count of 0 is not an empty field"),
        pytest.param("components", [{"name": "a"}, {"name": "b"}], [{"name": "b"}],
                     'components[0]: expected {"name": "a"}, got nothing', id="a component too few"),
        pytest.param("dependencies", [], [{"kind": "Secret", "name": "a"}],
                     'dependencies: expected [], got [{"kind": "Secret", "name": "a"}]', id="one too many"),
        pytest.param("status", {}, {"conditions": []}, "status.conditions: expected nothing, got []",
                     id="outside of the typed results empty is not absent"),
        pytest.param("status", {"a": None}, {}, "status.a: expected null, got nothing", id="null is not absent"),
        pytest.param("revised", {"spec": {"a": 1}}, {"spec": {"a": 1, "b.c": 2}},
                     'revised.spec["b.c"]: expected nothing, got 2', id="a field too many"),
        pytest.param("retained", {"a": [1, 2]}, {"a": [2, 1]}, "retained.a[0]: expected 1, got 2",
                     id="lists of an object have an order"),
    ],
)  # fmt: skip
def test_answers_that_differ(name: str, expected: JSON, actual: JSON, difference: str) -> None:
    assert differences(name, expected, actual)[0] == difference


_HEAD_OF_THREE = {"name": "head", "replicas": 1}
_THREE = [_HEAD_OF_THREE, {"name": "large", "replicas": 2}, {"name": "small", "replicas": 3}]


@rows(
    ("actual", "expected"),
    [
        pytest.param([{**_HEAD_OF_THREE, "name": "top"}, *_THREE[1:]],
                     ['components[0].name: expected "head", got "top"'], id="one of three has another name"),
        pytest.param([{"name": "large", "replicas": 4}, {**_HEAD_OF_THREE, "name": "top"}, _THREE[2]],
                     ['components[0].name: expected "head", got "top"', "components[1].replicas: expected 2, got 4"],
                     id="names go before equal values"),
        pytest.param([{"name": "top", "replicas": 5}, *_THREE[1:]],
                     ['components[0]: expected {"name": "head", "replicas": 1}, got nothing',
                      'components[3]: expected nothing, got {"name": "top", "replicas": 5}'], id="another component"),
        pytest.param([*_THREE, {"name": "head", "replicas": 7}],
                     ['components[3]: expected nothing, got {"name": "head", "replicas": 7}'],
                     id="a second one of the same name"),
    ],
)  # fmt: skip
def test_components_are_paired(actual: JSON, expected: list[str]) -> None:
    assert [*differences("components", _THREE, actual)] == expected


def test_differences_are_all_listed() -> None:
    assert differences("status", {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 0, "d": 4}) == (
        "status.b: expected 2, got 0",
        "status.c: expected 3, got nothing",
        "status.d: expected nothing, got 4",
    )


@rows(
    ("name", "expected", "actual", "shown"),
    [
        pytest.param("replica", 3, 4, (3, 4), id="numbers as they are"),
        pytest.param("status", {"a": EXCLUDE, "b": 1}, {"a": {"x": 1}, "b": 2},
                     ({"a": EXCLUDE, "b": 1}, {"a": EXCLUDE, "b": 2}), id="what is not looked at is no difference"),
        pytest.param("status", {"a": EXCLUDE}, {}, ({"a": EXCLUDE}, {"a": EXCLUDE}),
                     id="nor is it when there is nothing"),
        pytest.param("status", {"a": True}, {"a": 1}, ({"a": True}, {"a": 1}), id="true is not 1"),
        pytest.param("requires", {"resourceRequest": {"memory": "1Gi", "cpu": "1"}},
                     {"resourceRequest": {"memory": "1073741824", "cpu": "2"}},
                     ({"resourceRequest": {"memory": "1Gi", "cpu": "1"}},
                      {"resourceRequest": {"memory": "1Gi", "cpu": "2"}}), id="an equal quantity in the same words"),
        pytest.param("components", [{"name": "b", "replicas": 1}, {"name": "a", "replicas": 1}],
                     [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 2}],
                     ([{"name": "a", "replicas": 1}, {"name": "b", "replicas": 1}],
                      [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 2}]), id="components in one order"),
    ],
)  # fmt: skip
def test_shown_texts_differ_only_where_the_comparison_does(
    name: str, expected: JSON, actual: JSON, shown: tuple[JSON, JSON]
) -> None:
    assert compared(name, expected, actual) == shown


_WORKER = {"name": "worker", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "0.5"}}}
_HEAD = {"name": "head", "replicas": 1}


@rows(
    ("name", "expected", "actual", "words"),
    [
        pytest.param("requires", {"resourceRequest": {"cpu": "0.5", "memory": "1Gi"}},
            {"resourceRequest": {"cpu": "500m", "memory": "2Gi"}},
            {"resourceRequest": {"cpu": "0.5", "memory": "2Gi"}}, id="a quantity that is met keeps its spelling"),
        pytest.param("requires", {"namespace": "1.0", "resourceRequest": {"cpu": EXCLUDE}},
            {"namespace": "1", "resourceRequest": {"cpu": "1"}},
            {"namespace": "1", "resourceRequest": {"cpu": EXCLUDE}}, id="other texts are no quantities"),
        pytest.param("components", [_WORKER, _HEAD],
            [_HEAD, {**_WORKER, "replicas": 3, "replicaRequirements": {"resourceRequest": {"cpu": "500m"}}}],
            [{**_WORKER, "replicas": 3}, _HEAD], id="components keep their order"),
        pytest.param("components", [{**_WORKER, "replicaRequirements": EXCLUDE}, _HEAD],
            [_HEAD, {"name": "new", "replicas": 1}, {**_WORKER, "replicas": 3}],
            [{**_WORKER, "replicas": 3, "replicaRequirements": EXCLUDE}, _HEAD, {"name": "new", "replicas": 1}],
            id="what is excluded stays with its component"),
        pytest.param("dependencies", [{"kind": "Secret", "name": "b"}, {"kind": "Secret", "name": "gone"}],
            [{"kind": "Secret", "name": "a"}, {"kind": "Secret", "name": "b"}],
            [{"kind": "Secret", "name": "b"}, {"kind": "Secret", "name": "a"}], id="a dependency that is gone"),
        pytest.param("components", None, [_HEAD], [_HEAD], id="nothing was expected"),
        pytest.param("requires", {"resourceRequest": {"cpu": "1"}}, None, None, id="there is nothing any more"),
        pytest.param("revisedObject", {"cpu": "0.5"}, {"cpu": "500m"}, {"cpu": "500m"}, id="no quantities in objects"),
    ],
)  # fmt: skip
def test_result_takes_words_of_expectation(name: str, expected: JSON, actual: JSON, words: JSON) -> None:
    assert result_in_words_of(name, expected, actual) == words
    assert differences(name, words, actual) == ()
