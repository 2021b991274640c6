import pytest

from karta_interpreter.base.k8s.values import JSON
from tests.proofs.conformance.comparison import EXCLUDE, disagreement

EQUAL: dict[str, tuple[str, JSON, JSON]] = {
    "quantities compare by value": (
        "requires",
        {"resourceRequest": {"cpu": "0.5", "memory": "1Gi", "example.com/n": 2}},
        {"resourceRequest": {"cpu": "500m", "memory": "1024Mi", "example.com/n": "2"}},
    ),
    "an empty field of a Go type is none": (
        "requires",
        {"nodeClaim": {"nodeSelector": {}, "tolerations": []}, "namespace": ""},
        {"nodeClaim": {}, "resourceRequest": {}},
    ),
    "components come in any order": (
        "components",
        [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 2}],
        [{"name": "b", "replicas": 2}, {"name": "a", "replicas": 1}],
    ),
    "no components are as good as an empty list of them": ("components", [], None),
    "zero replicas are a zero value": ("components", [{"name": "a", "replicas": 0}], [{"name": "a"}]),
    "dependencies come in any order": (
        "dependencies",
        [{"kind": "Secret", "name": "s"}, {"kind": "ConfigMap", "name": "c"}],
        [{"kind": "ConfigMap", "name": "c", "namespace": ""}, {"kind": "Secret", "name": "s"}],
    ),
    "an excluded field may be anything": (
        "aggregatedStatus",
        {"status": {"n": 1, "at": EXCLUDE}},
        {"status": {"n": 1, "at": "noon"}},
    ),
    "an excluded field may be nothing": ("retained", {"items": [{"at": EXCLUDE}]}, {"items": [{}]}),
    "an integral float is an integer in JSON": ("status", {"n": 3}, {"n": 3.0}),
}

DIFFERENT: dict[str, tuple[str, JSON, JSON]] = {
    "another amount": ("requires", {"resourceRequest": {"cpu": "1"}}, {"resourceRequest": {"cpu": "1m"}}),
    "an empty node claim is a pointer to something": ("requires", {"nodeClaim": {}}, {}),
    "an empty selector is a pointer to something": ("dependencies", [{"labelSelector": {}}], [{}]),
    "no requirements are not empty ones": ("requires", {}, None),
    "an empty value in a map is a value": ("requires", {"nodeClaim": {"nodeSelector": {"a": ""}}}, {"nodeClaim": {}}),
    "one component twice": (
        "components",
        [{"name": "a", "replicas": 1}],
        [{"name": "a", "replicas": 1}, {"name": "a", "replicas": 1}],
    ),
    "an empty field of an object is a field": ("revised", {"spec": {}}, {}),
    "an excluded field elsewhere": ("revised", {"a": EXCLUDE, "b": 1}, {"a": 1, "b": 2}),
    "a status marks nothing to exclude": ("status", {"at": EXCLUDE}, {"at": "noon"}),
    "a null is not nothing": ("status", {"a": None}, {}),
    "an order of status": ("status", {"a": [1, 2]}, {"a": [2, 1]}),
    "true is not one": ("healthy", True, 1),
    "text is not a number": ("replica", "3", 3),
}


@pytest.mark.parametrize(("name", "expected", "found"), EQUAL.values(), ids=EQUAL)
def test_equal(name: str, expected: JSON, found: JSON) -> None:
    assert not disagreement({name: expected}, {name: found})


@pytest.mark.parametrize(("name", "expected", "found"), DIFFERENT.values(), ids=DIFFERENT)
def test_answers_that_differ(name: str, expected: JSON, found: JSON) -> None:
    assert disagreement({name: expected}, {name: found}).startswith(f"--- {name} expected")


def test_expected_result_must_exist() -> None:
    assert disagreement({"replica": 1}, {}) == "replica is missing from the results"


def test_unexpected_result_is_not_compared() -> None:
    assert not disagreement({"replica": 1}, {"replica": 1, "requires": None})


def test_diff_shows_differences() -> None:
    shown = disagreement({"status": {"ready": 1, "total": 2}}, {"status": {"ready": 1, "total": 3}})
    assert '-  "total": 2' in shown
    assert '+  "total": 3' in shown
