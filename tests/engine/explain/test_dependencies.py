"""Warnings about dependencies without effect."""

import pytest

from karta_interpreter.engine.explain import explain, warnings_about
from karta_interpreter.engine.operations import Call, Operation
from tests.engine.explain.conftest import Define
from tests.support.rows import rows


@rows(
    ("owner", "notes"),
    [
        pytest.param("ann-key", [], id="a name"),
        pytest.param(
            "{{user}}-key", ["Secret {{user}}-key is left out: no object can have this name"], id="a parameter"
        ),
        pytest.param("{{step.a.claim}}", [], id="what the member knows"),
    ],
)
def test_warnings_about_names_that_no_object_can_have(define: Define, owner: str, notes: list[str]) -> None:
    dependencies = """[{apiVersion: v1, kind: Secret, name: .spec.owner}, {parameters: '{step: ""}'}]"""

    facts = warnings_about(define(annotations={"dependencies": dependencies}), {"spec": {"owner": owner}})

    assert [fact.note for fact in facts if fact.rule == "dependency-left-out"] == notes


def test_dependency_of_another_namespace_is_a_note(define: Define) -> None:
    dependencies = "[{apiVersion: v1, kind: Secret, name: .spec.owner, namespace: .spec.place}]"
    obj = {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"owner": "key", "place": "vault"},
    }

    explanation = explain(define(annotations={"dependencies": dependencies}), Call(Operation.INTERPRET_DEPENDENCY, obj))

    (fact,) = [fact for fact in explanation.facts if fact.rule == "dependency-elsewhere"]
    assert fact.note == "Secret vault/key is left out: it is in another namespace, so its owner has to propagate it"
    assert fact not in explanation.warnings
    assert explanation.results == {"dependencies": []}
