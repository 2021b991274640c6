"""Counts in the spellings that only libjq runs: where they are written is where the plain spelling is."""

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.engine.operations.conftest import Define, component
from tests.support.rows import rows

_PLAIN = "[(.spec.replicas // 0), (.spec.minReplicas // 0)] | max"
_SPELLINGS = [
    pytest.param(".spec as $s | [($s.replicas // 0), ($s.minReplicas // 0)] | max", id="a variable"),
    pytest.param(". as {spec: {replicas: $n, minReplicas: $m}} | [($n // 0), ($m // 0)] | max", id="fields"),
    pytest.param(". as {$spec} | [($spec.replicas // 0), ($spec.minReplicas // 0)] | max", id="a field's own name"),
    pytest.param("[.spec] as [$s] | [($s.replicas // 0), ($s.minReplicas // 0)] | max", id="an element"),
    pytest.param("reduce (.spec.replicas, .spec.minReplicas) as $n (0; [., $n // 0] | max)", id="a reduction"),
]
_OBJECT = {
    "apiVersion": "example.io/v1",
    "kind": "Train",
    "metadata": {"name": "t", "namespace": "d"},
    "spec": {
        "replicas": 3,
        "minReplicas": 2,
        "maxReplicas": 5,
        "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}},
    },
}
_BOUNDS = {"min": ".spec.minReplicas", "max": ".spec.maxReplicas"}


def _revised(define: Define, count: str, replicas: int) -> object:
    definition = define(root=component("train", ".spec.template", count, **_BOUNDS))
    try:
        return interpret(definition, Call(Operation.REVISE_REPLICA, _OBJECT, replicas=replicas))
    except InterpretationError as error:
        return str(error)


@rows("text", _SPELLINGS)
def test_bounded_spelling_is_revised_as_plain_one(define: Define, text: str) -> None:
    for replicas in (0, 2, 4, 7):
        assert _revised(define, text, replicas) == _revised(define, _PLAIN, replicas)


@rows("text", _SPELLINGS)
def test_bounded_spelling_retains_as_plain_one(define: Define, text: str) -> None:
    template = {**_OBJECT, "spec": {**_OBJECT["spec"], "replicas": None}}  # type: ignore[dict-item]
    retained = []
    for count in (text, _PLAIN):
        definition = define(root=component("train", ".spec.template", count, **_BOUNDS))
        retained.append(interpret(definition, Call(Operation.RETAIN, template, observed=_OBJECT)))
    assert retained[0] == retained[1]


@rows(
    "count",
    [
        pytest.param("[.spec.replicas, 1] | add", id="a plain sum"),
        pytest.param("first(foreach .spec.replicas as $n (0; . + $n))", id="a running reduction"),
    ],
)
def test_computed_count_never_moves_bounds(define: Define, count: str) -> None:
    for replicas in (1, 7):
        assert "train stays at" in str(_revised(define, count, replicas))


@rows(
    "count",
    [
        pytest.param(".spec as $s | $s.replicas // 1", id="a variable"),
        pytest.param(". as {$spec} | $spec.replicas // 1", id="a field's own name"),
    ],
)
def test_bounded_default_is_written_out(define: Define, count: str) -> None:
    template = {**_OBJECT, "spec": {"template": _OBJECT["spec"]["template"]}}  # type: ignore[index]
    definition = define(root=component("train", ".spec.template", count))
    revised = interpret(definition, Call(Operation.REVISE_REPLICA, template, replicas=1))["revised"]
    assert revised["spec"]["replicas"] == 1


def test_bounded_count_refuses_in_the_words_of_its_author(define: Define) -> None:
    count = '.spec as $s | if $s.replicas > 2 then error("at most two") else $s.replicas end'
    assert _revised(define, count, 1).endswith("at most two")  # type: ignore[attr-defined]
    assert "it ended in an error" in str(_revised(define, ". as $all | $all.kind | error", 1))
