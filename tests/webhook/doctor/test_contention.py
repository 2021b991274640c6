"""Fights that the server knows, as a diagnosis."""

from math import inf

import pytest

from karta_interpreter.webhook.doctor.connection import Reply
from karta_interpreter.webhook.doctor.endpoint import judge_contention
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.server.contention import Fight
from karta_interpreter.webhook.server.metrics import Metrics

KEPT = '- unset: .spec.nodeSelector["a/b"]'


def reply(*retain: str, status: int = 200) -> Reply:
    metrics = Metrics()
    for number, line in enumerate(retain):
        fight = Fight("batch/v1/Job", "ml", "train", '.spec["a\\b"]', "1", "2", 0.0, inf, 1.0, line)
        metrics.contention.add(b"%d" % number, fight)
    return Reply(status, metrics.render(), 0.0)


def test_each_fight_is_a_warning_with_the_line_that_ends_it() -> None:
    found = {result.found: result for result in judge_contention(reply(KEPT, KEPT, ""))}
    what = 'batch/v1/Job: .spec["a\\b"] is overwritten in turns by Karmada and a controller of a member, in'
    assert {result.level for result in found.values()} == {Level.WARNING}
    assert found[f"{what} 2 objects"].advice.endswith(f"ends it: {KEPT}")
    assert found[f"{what} 1 object"].advice.startswith("no line of the annotation")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply(), id="no fight"),
        pytest.param(reply(KEPT, status=404), id="no metrics"),
        pytest.param(Reply(200, b"karta_interpreter_contention{field= 1 \xff", 0.0), id="no text of Prometheus"),
    ],
)
def test_there_is_nothing_to_tell(answer: Reply) -> None:
    assert list(judge_contention(answer)) == []


def test_a_server_cannot_print_without_end() -> None:
    answer = reply(*(f"- .spec.{number}" + "x" * 10_000 for number in range(90)))
    results = list(judge_contention(answer))
    assert len(results) == 20
    assert max(len(result.found + result.advice) for result in results) < 1500
