"""The plan of a day."""

from collections import Counter

from tests.proofs.fleet.fights import FIRST, SEEDED
from tests.proofs.fleet.plan import counts, plan
from tests.proofs.fleet.workloads import KINDS
from tests.proofs.rig.places import at


def test_day_has_two_hundred_objects_of_fifteen_kinds() -> None:
    found = counts(200)
    assert (len(found), sum(found.values())) == (15, 200)


def test_day_is_the_same_each_time() -> None:
    assert plan(200) == plan(200)


def test_everything_happens_in_a_day() -> None:
    happens = {event.action for event in plan(200)}
    wanted = {
        "create",
        "scale",
        "roll",
        "suspend",
        "resume",
        "succeed",
        "fail",
        "stick",
        "hurt",
        "move",
        "meddle",
        "delete",
    }
    assert wanted <= happens


def test_object_is_created_first() -> None:
    begun = dict[str, str]()
    for event in plan(200):
        begun.setdefault(event.name, event.action)
        assert 0 <= event.time <= 1
    assert set(begun.values()) == {"create"}


def test_names_of_objects_are_unique() -> None:
    names = Counter(event.name for event in plan(900) if event.action == "create")
    assert {name for name, count in names.items() if count > 1} == set()
    assert all(not name.endswith(f"-{FIRST}") for name in names)


def test_places_of_kinds_are_in_their_objects() -> None:
    for kind in KINDS:
        thing = kind.object(1)
        if kind.count:
            assert isinstance(at(thing, kind.count), int)
        if kind.pod:
            assert at(thing, kind.pod)["spec"]["containers"]


def test_nine_fights_are_about_objects_of_their_own() -> None:
    assert len({seeded.name for seeded in SEEDED}) == 9
