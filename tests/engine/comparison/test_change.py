"""The one record of an answer that differs, as machines get it."""

from typing import Any

import pytest

from karta_interpreter.base.k8s import GVK, NOTHING
from karta_interpreter.engine.comparison.change import Change, differences, verdict_of
from karta_interpreter.engine.comparison.interpreter import CallOutcome
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.engine.suites import Difference
from tests.support.rows import rows

_JOB = GVK("batch", "v1", "Job")
_TYPE = {"apiVersion": "batch/v1", "kind": "Job"}
_CALL = Call(Operation.INTERPRET_REPLICA, {**_TYPE, "metadata": {"name": "sum"}})


@rows(
    ("change", "expected"),
    [
        pytest.param(
            Change(_JOB, "sum", reasons={"notCompared": "there is no template"}),
            {"name": "sum", "notCompared": "there is no template", "differences": []},
            id="an object that could not be asked about",
        ),
        pytest.param(
            Change(_JOB, "a case", "InterpretReplica", (Difference(("replica",), 1, 2),), "suite.yaml", 3),
            {
                "name": "a case",
                "operation": "InterpretReplica",
                "source": "suite.yaml",
                "line": 3,
                "differences": [{"path": "replica", "from": 1, "to": 2}],
            },
            id="of a file",
        ),
        pytest.param(
            Change(
                _JOB,
                "team/sum",
                "InterpretHealth",
                (Difference(("healthy",), NOTHING, True),),
                today="Karmada",
                cluster="north",
                reasons={"known": "it is older"},
            ),
            {
                "name": "team/sum",
                "operation": "InterpretHealth",
                "today": "Karmada",
                "cluster": "north",
                "known": "it is older",
                "differences": [{"path": "healthy", "to": True}],
            },
            id="of a Karmada, with a reason",
        ),
    ],
)
def test_change_is_written_without_what_it_lacks(change: Change, expected: dict[str, Any]) -> None:
    assert change.to_json() == _TYPE | expected


@rows(
    ("before", "after", "number"),
    [
        pytest.param(CallOutcome(_CALL, {"replica": 1}), CallOutcome(_CALL, {"replica": 1}), 0, id="equal"),
        pytest.param(CallOutcome(_CALL, {"replica": 1}), CallOutcome(_CALL, {"replica": 2}), 1, id="another value"),
        pytest.param(CallOutcome(_CALL, failure="a"), CallOutcome(_CALL, failure="b"), 0, id="two errors are equal"),
        pytest.param(CallOutcome(_CALL, failure="a"), None, 1, id="an error is not silence"),
        pytest.param(None, None, 0, id="nobody answers"),
    ],
)
def test_differences_of_two_outcomes(before: CallOutcome | None, after: CallOutcome | None, number: int) -> None:
    assert len([*differences(before, after)]) == number


def test_verdict_keeps_the_message_of_an_error() -> None:
    assert verdict_of(CallOutcome(_CALL, failure="no template")) == "error: no template"
