"""Warnings about dependencies without effect."""

import pytest

from karta_interpreter.engine.explain import warnings_about
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
