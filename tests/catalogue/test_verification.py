"""``verify`` on what real controllers have made: no false alarm, and mistakes in definitions are found and named."""

import pytest

from tests.catalogue.alarms import ALARMS, Alarm, alarm_of
from tests.catalogue.verified import FEW, FOUND, NAMED, OF_EACH, alarms, states, tally
from tests.support.examples import SWEEPS_ALL, few
from tests.support.recorded import recorded, state_of


@pytest.mark.sweep
def test_verify_names_no_difference_in_real_states_of_the_catalogue() -> None:
    used, unknown = set[Alarm](), list[str]()
    for definition, shown in states(few(sorted(recorded()), "alarms"), None if SWEEPS_ALL else 8):
        for evidence in shown:
            for judgement in alarms(definition, evidence):
                row = alarm_of(evidence, judgement)
                used |= {row} if row else set()
                unknown += [] if row else [f"{definition.name}, {state_of(evidence)}: {judgement}"]

    assert not unknown, "\n".join(unknown)
    assert not SWEEPS_ALL or used == {*ALARMS}


@pytest.mark.sweep
def test_verify_finds_mistakes_in_definitions() -> None:
    kinds = few(sorted(recorded()), "mistakes")
    # What is found of few mutants is no share: one kind shows that there are some.
    found = tally(kinds if SWEEPS_ALL else kinds[:1], None if SWEEPS_ALL else 2)

    assert found.all.total() > (1000 if SWEEPS_ALL else 5)
    if SWEEPS_ALL:
        assert found.found.total() >= FOUND * found.all.total(), "\n".join(found.missed)
        assert found.named.total() >= NAMED * found.all.total(), "\n".join(found.missed)
        below = [
            f"{each}: {found.found[each]} of {number}"
            for each, number in found.all.items()
            if number >= FEW and found.found[each] < OF_EACH * number
        ]
        assert not below, "\n".join([*below, *found.missed])
