"""Fights on what real controllers have made: an object in their own spelling has no field that anybody fights over."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence

import pytest

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.fights.rounds import differences, owners
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.verification import Evidence
from tests.catalogue.verified import states
from tests.support.examples import SWEEPS_ALL, few
from tests.support.recorded import recorded, state_of

_EDITS = {"edit", "scale", "suspend", "resume", "revise", "stuck", "member", "member-json"}
"""Steps in which somebody changes the object."""
_ID = re.compile(r"0{8}(?:-0{4}){3}-\d{12}")
"""An id of a run. Recording numbers the ids of each state by themselves, so that one id has several numbers."""


@pytest.mark.sweep
def test_what_controllers_write_in_another_form_is_no_fight() -> None:
    kinds = few(sorted(recorded()), "spelling")
    found, number = list[str](), 0
    for definition, shown in states(kinds):
        for template, evidence in _pairs(shown):
            number += 1
            found += [
                f"{definition.name}, {state_of(evidence)}: {field}" for field in _taken(definition, template, evidence)
            ]

    assert not found, "\n".join(found)
    assert not SWEEPS_ALL or number > 300


def _pairs(shown: Sequence[Evidence]) -> Iterator[tuple[Object, Evidence]]:
    """Yield templates, as Karmada's last write has left the object, with the states before and after it."""
    for _, group in itertools.groupby(shown, lambda evidence: state_of(evidence).partition(".")[0]):
        unedited: list[list[Evidence]] = [[]]
        for evidence in sorted(group, key=lambda each: _step(each)[0]):
            unedited += [[]] if _step(evidence)[1] in _EDITS else []
            unedited[-1].append(evidence)
        for run in unedited:
            templates = [each.object for each in run if _step(each)[1] == "retain"]
            yield from ((template, each) for template in templates[:1] for each in run if each.object is not template)


def _step(evidence: Evidence) -> tuple[int, str]:
    number, _, word = state_of(evidence).partition(".")[2].partition("-")
    return int(number), word


def _taken(definition: Definition, template: Object, evidence: Evidence) -> list[str]:
    """Return the fields that a manager in the member has written, and that Karmada is about to write."""
    template, observed = (json.loads(_ID.sub("an-id", json.dumps(each))) for each in (template, evidence.object))
    desired = {
        **{name: value for name, value in template.items() if name != "status"},
        "metadata": observed["metadata"],
    }
    call = Call(Operation.RETAIN, desired, observed)
    retains = definition.answers(Operation.RETAIN)
    retained = interpret(definition, call, reader=evidence.reader)["retained"] if retains else desired
    found = differences(retained, observed, owners(observed))
    return [each.field for each in found if each.writer and each.writer.manager]
