"""Warnings about phases and conditions that no mapping fits."""

from typing import Any

import pytest

from karta_interpreter.engine.explain import warnings_about
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

HOT = {"name": "hot", "replicas": 2, "template": pods()}


@rows(
    ("status", "notes"),
    [
        pytest.param({"phase": "ready"}, [], id="a phase that is mapped"),
        pytest.param({}, [], id="no status yet"),
        pytest.param(
            {"phase": "Ready"},
            ['phase "Ready" from .status.phase fits no mapping; there are ready, Stalled'],
            id="a phase in other letters",
        ),
        pytest.param(
            {"phase": "Hibernating"},
            ['phase "Hibernating" from .status.phase fits no mapping; there are ready, Stalled'],
            id="a phase of another release",
        ),
        pytest.param(
            {"phase": "Hibernating", "conditions": [{"type": "Ready", "status": "True"}]},
            [],
            id="a phase that nothing depends on, as a condition matches",
        ),
        pytest.param(
            {"phase": "ready", "conditions": [{"type": "Ready", "state": "True"}, {"type": "Stalled"}]},
            ["no condition has status"],
            id="conditions whose status is another field",
        ),
        pytest.param(
            {"phase": "ready", "conditions": [{"type": "Ready", "status": True}, {"type": "Old", "status": "False"}]},
            [
                (
                    "status.conditions[0].status: must be a string, not a boolean (as the definition reads it): "
                    "write it in quotes"
                )
            ],
            id="a condition whose status is no text",
        ),
        pytest.param(
            {"phase": "ready", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Stalled"}]},
            [],
            id="one condition without a status",
        ),
        pytest.param(
            {"conditions": [{"type": "Readyy", "status": "True"}]},
            ["condition Ready is not there; did you mean Readyy?"],
            id="a condition that is spelled in another way",
        ),
        pytest.param(
            {"phas": "ready"},
            ["nothing at status.phase; the object has status.phas: a typo?"],
            id="a phase in another field",
        ),
        pytest.param(
            {"state": "ready", "message": "new"},
            ["nothing at status.phase; status.state is ready, which a mapping has"],
            id="a phase in a field of another name",
        ),
        pytest.param({"state": "other"}, [], id="a text that is no phase"),
    ],
)
def test_warnings_about_the_status(define: Define, status: dict[str, Any], notes: list[str]) -> None:
    assert [fact.note for fact in warnings_about(define(), train(HOT, **status))] == notes
