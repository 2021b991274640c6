"""The status that InterpretStatus leaves of a member's object means what the whole status means."""

from collections.abc import Sequence
from typing import Any

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.status import match_status
from karta_interpreter.engine.operations.interpret_status import interpret_status
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry, applies


def has_statuses(entry: Entry) -> bool:
    return entry.definition is not None and entry.definition.status is not None


@applies(has_statuses)
def test_reflected_status_has_the_meaning_of_the_whole(definition: Definition, cases: Sequence[Case]) -> None:
    statuses: list[Any] = [{"observedGeneration": 1}]
    statuses += [case.call.object["status"] for case in cases if isinstance(case.call.object.get("status"), dict)]
    for obj in [case.call.object for case in cases][:3]:
        for status in statuses:
            member = {**obj, "status": status}
            try:
                meant = match_status(definition, member).matched
            except Exception:  # noqa: BLE001, S112 - a status of another object that is an error is one either way
                continue
            assert match_status(definition, {**obj, "status": interpret_status(definition, member)}).matched == meant
