"""Fights that the server knows, as a diagnosis."""

from math import inf

import pytest

from karta_interpreter.webhook.answering.fights import Fight
from karta_interpreter.webhook.doctor.connection import Reply
from karta_interpreter.webhook.doctor.endpoint import judge_fights
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.process.metrics import Metrics

LABEL = 'leave .spec["a"] out of the template: its price'


def reply(*remedies: str, status: int = 200) -> Reply:
    metrics = Metrics()
    for number, remedy in enumerate(remedies):
        identity = "batch/v1/Job", "member1", "ml", "train", '.spec["a\\b"]'
        metrics.fights.present[b"%d" % number] = Fight(*identity, "1", "2", "hpa", (), 0.0, 0.0, inf, remedy)
    return Reply(status, metrics.render(), 0.0)


def test_fight_is_a_warning_with_its_remedy() -> None:
    found = {result.found: result for result in judge_fights(reply(LABEL, LABEL, ""))}
    what = 'batch/v1/Job: .spec["a\\b"] is overwritten by Karmada and hpa in turns, in'
    assert {result.level for result in found.values()} == {Level.WARNING}
    assert found[f"{what} 2 objects of cluster member1"].advice == f"the log names them; {LABEL}"
    assert found[f"{what} 1 object of cluster member1"].advice.startswith("the log names them; nothing that")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply(), id="no fight"),
        pytest.param(reply(LABEL, status=404), id="no metrics"),
        pytest.param(Reply(200, b"karta_interpreter_fights{field= 1 \xff", 0.0), id="no text of Prometheus"),
    ],
)
def test_there_is_nothing_to_tell(answer: Reply) -> None:
    assert list(judge_fights(answer)) == []


def test_output_of_server_is_bounded() -> None:
    answer = reply(*(f"leave .spec.{number} out" + "x" * 10_000 for number in range(90)))
    results = list(judge_fights(answer))
    assert len(results) == 20
    assert max(len(result.found + result.advice) for result in results) < 1500
