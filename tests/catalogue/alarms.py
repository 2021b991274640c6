"""What ``verify`` says wrongly about real states, and what it does not find in them, each with the reason."""

from typing import NamedTuple

from karta_interpreter.engine.verification import Evidence, Judgement, Question
from tests.support.recorded import state_of


class Alarm(NamedTuple):
    """A difference that is named in states of a kind whose name begins so."""

    kind: str
    state: str
    question: Question
    reason: str


ALARMS = (
    Alarm("CronJob", "cron-runs.", Question.HEALTH, "its Jobs try again, which verify does not know of the pods below"),
    Alarm("RayJob", "rayjob-deadline.", Question.HEALTH, "the cluster of a RayJob that has failed goes on"),
    Alarm("RayJob", "rayjob-retry.", Question.HEALTH, "the cluster of a RayJob that has failed goes on"),
    Alarm(
        "RayService", "rayservice-stuck.", Question.COUNTS, "the pods of the new cluster count beside those that serve"
    ),
)

MISSED = {
    "a bad status counts as running": "verify does not judge healthy answers about pods that were never ready",
    "a waiting status counts as running": "verify does not judge healthy answers about pods that were never ready",
    "always healthy": "verify does not judge healthy answers about pods that were never ready",
}
"""Mistakes in definitions of which verify does not find enough, and why."""


def alarm_of(evidence: Evidence, judgement: Judgement) -> Alarm | None:
    """Return the row that knows a difference, or None."""
    kind, state = evidence.object["kind"], state_of(evidence)
    rows = (row for row in ALARMS if (row.kind, row.question) == (kind, judgement.question))
    return next((row for row in rows if state.startswith(row.state)), None)
