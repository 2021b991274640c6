"""Warnings: which ones an operation has, and how much work they are."""

from functools import partial
from typing import Any

import pytest

from karta_interpreter.base.k8s import edit, values
from karta_interpreter.engine.explain import explain, warnings_about
from karta_interpreter.engine.operations import RETAIN_REPLICAS, Call, Operation
from tests.engine.explain.conftest import Define, pods, train
from tests.support.counting import calls

HOT = {"name": "hot", "replicas": 2, "template": pods()}


def test_annotation_of_a_karta_has_no_effect_on_a_workload(define: Define) -> None:
    names = {"karta-interpreter.io/elastic": "group", "karta-interpreter.io/pods-to-delete": "[]", "a.io/b": ""}
    (warning,) = warnings_about(define(), edit.set_value(train(HOT), ("metadata", "annotations"), names))
    assert warning.note.startswith("karta-interpreter.io/elastic belongs in metadata.annotations of the Karta")


@pytest.mark.parametrize(
    ("field", "name", "warns"),
    [
        pytest.param("labels", RETAIN_REPLICAS, False, id="the label"),
        pytest.param("annotations", RETAIN_REPLICAS, True, id="as an annotation"),
        pytest.param("labels", RETAIN_REPLICAS.removesuffix("s"), True, id="with a typo"),
        pytest.param("labels", "resourcetemplate.karmada.io/deletion-protected", False, id="another label of Karmada"),
    ],
)
def test_label_that_retains_replicas_is_known(define: Define, field: str, name: str, *, warns: bool) -> None:
    found = warnings_about(define(), edit.set_value(train(HOT), ("metadata", field), {name: "true"}))
    assert [fact.note for fact in found] == [
        f"nothing reads {name} in metadata.{field}: is {RETAIN_REPLICAS} in metadata.labels meant?"
    ] * warns


def test_operation_has_its_own_warnings(define: Define) -> None:
    obj = train({"name": "ml", "replicas": 2}, HOT, phase="Ready")

    rules = {
        operation: [fact.rule for fact in explain(define(), Call(operation, obj, obj, 4, (), ())).warnings]
        for operation in Operation
    }

    assert {operation: found for operation, found in rules.items() if found} == {
        Operation.INTERPRET_REPLICA: ["count-without-pods"],
        Operation.INTERPRET_COMPONENT: ["count-without-pods"],
        Operation.REVISE_REPLICA: ["count-without-pods"],
        Operation.REVISE_COMPONENTS: ["count-without-pods"],
        Operation.INTERPRET_DEPENDENCY: ["count-without-pods"],
        Operation.INTERPRET_HEALTH: ["phase-unmapped"],
    }


@pytest.mark.parametrize(
    ("group", "element"),
    [
        pytest.param({}, {"count": 3, "template": pods()}, id="a count by another name"),
        pytest.param({}, {"pool": {"size": 3}, "template": pods()}, id="a count elsewhere"),
        pytest.param({"scaleDefinition": None}, {"size": 3, "template": pods()}, id="a count that nothing reads"),
        pytest.param({}, {"replicas": 1, "pod": pods()}, id="containers that nothing reads"),
        pytest.param({}, HOT | {"template": pods(resources={"requests": {"memory": 64}})}, id="memory without a unit"),
    ],
)
def test_work_grows_linearly_with_the_elements(
    define: Define, group: dict[str, Any], element: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the parts times another would be a product: an object may have thousands of each."""
    monkeypatch.setattr(values, "_LONGEST", 0)  # what is remembered of one size would be no work for another one
    definition = define(**group)
    _, some, more, most = (  # the first one compiles expressions
        calls(partial(warnings_about, definition, train(*(element | {"name": f"{index}"} for index in range(size)))))
        for size in (8, 8, 16, 48)
    )
    assert most - more <= 4.4 * (more - some)  # 4 if it is linear, 10 if it is quadratic
