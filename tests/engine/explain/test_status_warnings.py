"""Warnings about phases that no mapping fits."""

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
        pytest.param({"phase": "Ready"},
            ['phase "Ready" from .status.phase fits no mapping; there are ready, Stalled'],
            id="a phase in other letters"),
        pytest.param({"phase": "Hibernating"},
            ['phase "Hibernating" from .status.phase fits no mapping; there are ready, Stalled'],
            id="a phase of another release"),
        pytest.param({"phase": "Hibernating", "conditions": [{"type": "Ready", "status": "True"}]}, [],
            id="a phase that nothing depends on, as a condition matches"),
        pytest.param({"state": "other"}, [], id="a text that is no phase"),
    ],
)  # fmt: skip
def test_warnings_about_the_status(define: Define, status: dict[str, Any], notes: list[str]) -> None:
    assert [fact.note for fact in warnings_about(define(), train(HOT, **status))] == notes
