"""Who gets the next place."""

import pytest

from karta_interpreter.base.sandbox.pool import Slot, Slots
from tests.support.rows import rows


class Office:
    """Places of a size, and the names of the requests that were granted, in their order."""

    def __init__(self, size: int) -> None:
        self.places = Slots(size)
        self.granted: list[str] = []
        self._requests: dict[str, Slot] = {}

    def ask(self, *names: str) -> None:
        """Ask for a place by names whose first letter is the owner."""
        for name in names:
            self._requests[name] = self.places.request(name[0], lambda name=name: self.granted.append(name))  # type: ignore[misc]

    def leave(self, *names: str) -> list[str]:
        """Give places back, and return the owners that got one."""
        before = len(self.granted)
        for name in names:
            self.places.release(self._requests.pop(name))
        return self.granted[before:]


@rows(
    ("size", "requests", "granted"),
    [
        pytest.param(3, "a1 b1 c1 d1", "a1 b1 c1", id="one for each, as many as there are"),
        pytest.param(3, "a1 a2 a3 a4", "a1 a2", id="one owner leaves one to all others"),
        pytest.param(3, "a1 a2 a3 b1", "a1 a2 b1", id="which another owner gets at once"),
        pytest.param(3, "a1 b1 a2 b2 c1", "a1 b1 c1", id="two that want more do not keep a third waiting"),
        pytest.param(1, "a1 a2 b1", "a1", id="one place"),
        pytest.param(2, "a1 a2 b1", "a1 b1", id="two places"),
    ],
)
def test_free_slot_is_granted_at_once(size: int, requests: str, granted: str) -> None:
    office = Office(size)
    office.ask(*requests.split())
    assert office.granted == granted.split()


@rows(
    ("requests", "leave", "granted"),
    [
        pytest.param("a1 b1 c1 a2 d1", "b1", ["d1"], id="an owner without a place goes before one that asked earlier"),
        pytest.param("a1 b1 c1 a2 a3 d1", "a1", ["d1"], id="the owner that has just given one back comes last"),
        pytest.param("a1 b1 c1 a2 b2 c2 d1", "a1 b1 c1", ["d1", "a2", "b2"], id="all of them take turns"),
        pytest.param("a1 a2 b1 a3 c1", "a1", ["c1"], id="the one with the fewest"),
        pytest.param("a1 b1 c1 e1 d1", "a1", ["e1"], id="of several with as few the one that asked first"),
        pytest.param("a1 b1 c1 a2", "a1", ["a2"], id="an owner that has given back its only one has none"),
        pytest.param("a1 b1 c1 a2", "b1", [], id="the last free place is for an owner that has none"),
        pytest.param("a1 b1 c1 a2", "b1 c1", ["a2"], id="one more stays free next to a second one"),
    ],
)
def test_free_place_goes_to_owner_with_fewest(requests: str, leave: str, granted: list[str]) -> None:
    office = Office(3)
    office.ask(*requests.split())
    assert office.leave(*leave.split()) == granted


def test_innocent_owner_does_not_wait_for_hostile_owners() -> None:
    """Two owners that always want more, and a third that comes again and again, gets a place each time it asks."""
    office = Office(3)
    office.ask(*(f"{owner}{number}" for number in range(10) for owner in "ab"))
    for number in range(10):
        name = f"c{number}"
        office.ask(name)
        assert office.granted[-1] == name
        office.leave(name)
    assert [name for name in office.granted if name[0] != "c"] == ["a0", "b0"]


def test_withdrawn_request_is_not_granted() -> None:
    office = Office(1)
    office.ask("a1", "b1", "c1")
    assert office.leave("b1") == []
    assert office.leave("a1") == ["c1"]


def test_owner_that_left_is_forgotten() -> None:
    office = Office(2)
    for _ in range(3):
        office.ask("a1", "b1")
        office.leave("a1", "b1")
    assert office.granted == ["a1", "b1"] * 3
