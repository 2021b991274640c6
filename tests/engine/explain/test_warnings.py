"""Warnings: which ones an operation has, and how much work they are."""

from functools import partial
from typing import Any

import pytest

from karta_interpreter.base.k8s import values
from karta_interpreter.engine.explain import explain, warnings_about
from karta_interpreter.engine.operations import Call, Operation
from tests.engine.explain.conftest import Define, pods, train
from tests.support.counting import calls

HOT = {"name": "hot", "replicas": 2, "template": pods()}


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
        pytest.param({}, HOT | {"template": pods(resorces={})}, id="a field that pods do not have"),
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
