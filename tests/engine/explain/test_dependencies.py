"""Warnings about dependencies without effect."""

import pytest

from karta_interpreter.engine.explain import warnings_about
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

HOT = {"name": "hot", "replicas": 2, "template": pods()}


@rows(
    ("path", "count"),
    [
        pytest.param(".spec.groups[].template", 0, id="templates"),
        pytest.param(".spec.groups[].template | {metadata: {}}", 0, id="a part without a pod"),
        pytest.param(".spec.groups[].template.spec", 1, id="specs of pods: one warning for all"),
    ],
)
def test_warnings_about_pods_of_dependencies_name_bare_specs(define: Define, path: str, count: int) -> None:
    facts = warnings_about(define(annotations={"dependencies": f"- pods: '{path}'"}), train(HOT, HOT))
    assert [fact.rule for fact in facts] == ["dependency-not-found"] * count
    assert all("write {spec: …} around the spec of a pod" in fact.note for fact in facts)


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


@rows(
    ("path", "hints"),
    [
        pytest.param(".spec.groups[].tempalte", [], id="a field that another expression reads"),
        pytest.param(".spec.owenr", ["the object has spec.owner: a typo?"], id="a field that none reads"),
        pytest.param(".spec | .owenr, .owner", [], id="an alternative"),
    ],
)
def test_warnings_about_names_leave_out_alternatives_of_the_definition(
    define: Define, path: str, hints: list[str]
) -> None:
    dependencies = f"- {{apiVersion: v1, kind: Secret, name: '{path}'}}"
    obj = {"spec": {"groups": [HOT], "owner": "a"}}

    facts = warnings_about(define(annotations={"dependencies": dependencies}), obj)

    assert [fact.note.partition("; ")[2] for fact in facts if fact.rule == "dependency-not-found"] == hints
