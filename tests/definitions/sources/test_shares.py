"""The memory that namespaces share: what one has too much of takes no room of another."""

import pytest
from hypothesis import given, settings, strategies as st

from karta_interpreter.definitions.sources.shares import Place, Shares, Source
from tests.support.examples import EXAMPLES

MOST = 1200  # 900 of which namespaces share
SIZES = st.integers(1, 400)
NAMESPACES = ("a", "b", "c", "d")
CHANGES = st.lists(
    st.tuples(st.sampled_from(["", *NAMESPACES]), st.integers(0, 9), st.one_of(st.none(), SIZES)), max_size=60
)


def _source(namespace: str, number: int) -> Source:
    return f"halls{number % 2}", f"{namespace}/{number}" if namespace else str(number)


class _Kept:
    """What has room, as an informer would keep it."""

    def __init__(self) -> None:
        self.sizes: dict[Source, int] = {}
        self.places: set[Place] = set()
        self.shares = Shares(MOST, self.sizes.__delitem__, self.report)

    def report(self, place: Place, is_left_out: bool) -> None:
        assert (place in self.places) is not is_left_out, "each state is reported once"
        (self.places.add if is_left_out else self.places.discard)(place)

    def put(self, source: Source, size: int | None) -> bool:
        self.sizes.pop(source, None)
        if size is None:
            self.shares.forget(source)
            return True
        if self.shares.take(source, size) is None:
            return False
        self.sizes[source] = size
        return True

    def of(self, namespace: str) -> int:
        return sum(size for (_, key), size in self.sizes.items() if key.rpartition("/")[0] == namespace)


@settings(max_examples=EXAMPLES)
@given(CHANGES)
def test_namespace_has_its_part_whatever_others_do(changes: list[tuple[str, int, int | None]]) -> None:
    kept = _Kept()
    for namespace, number, size in changes:
        has_room = kept.put(_source(namespace, number), size)
        held = {name: kept.of(name) for name in ("", *NAMESPACES)}
        assert kept.shares.held == sum(held.values()) <= MOST
        assert {name: kept.shares.held_by(name) for name in held} == held, "what is counted is what is kept"
        assert held[""] <= MOST // 4
        assert sum(held.values()) - held[""] <= MOST * 3 // 4
        assert kept.places == kept.shares.left_out.keys()
        if not has_room and namespace:
            in_use = {name for name in NAMESPACES if held[name]} | {namespace}
            assert held[namespace] + (size or 0) > MOST * 3 // 4 // len(in_use), "less than its part fits always"
        if not has_room and not namespace:
            assert held[""] + (size or 0) > MOST // 4, "no namespace takes the room of cluster-scoped objects"


@settings(max_examples=EXAMPLES)
@given(CHANGES, st.sampled_from(NAMESPACES))
def test_namespace_within_its_part_loses_nothing(changes: list[tuple[str, int, int | None]], small: str) -> None:
    kept, part = _Kept(), MOST * 3 // 4 // len(NAMESPACES)
    own = _source(small, 0)
    kept.put(own, part // 2)
    for namespace, number, size in changes:
        if namespace != small:
            kept.put(_source(namespace, number), size)
        assert own in kept.sizes
        assert all(place[1] != small for place in kept.places)


def test_object_has_room_again_after_a_list() -> None:
    kept = _Kept()
    for number in (0, 2, 4):
        kept.put(_source("a", number), 400)
    assert kept.places == {("halls0", "a")}
    assert not kept.shares.has_room_again("halls0")
    assert "the namespace a have room: the server keeps 0 MiB" in kept.shares.why_left_out(("halls0", "a"))
    kept.put(_source("a", 0), None)
    assert kept.shares.has_room_again("halls0")
    assert not kept.shares.has_room_again("halls1"), "another collection has all its objects"
    kept.shares.begin_list("halls0")
    for number in (2, 4):
        kept.put(_source("a", number), 400)
    assert kept.places == {("halls0", "a")}, "until the list has ended"
    kept.shares.end_list("halls0")
    assert not kept.places
    assert not kept.shares.why_left_out(("halls0", "a"))


def test_place_is_listed_again_when_an_object_without_room_goes() -> None:
    kept = _Kept()
    for number in (0, 2, 4):
        kept.put(_source("a", number), 400)
    assert not kept.shares.has_room_again("halls0")
    kept.shares.forget(_source("a", 4))
    assert kept.shares.has_room_again("halls0")


@pytest.mark.parametrize("namespace", ["", "a"])
def test_object_that_changes_and_has_no_room_is_not_kept_as_it_was(namespace: str) -> None:
    kept = _Kept()
    kept.put(_source(namespace, 0), 100)
    assert not kept.put(_source(namespace, 0), 901)
    assert kept.shares.held == 0


def test_order_of_namespaces_stays_small() -> None:
    kept = _Kept()
    for _ in range(5000):
        kept.put(_source("a", 0), 10)
    assert len(kept.shares._order) <= 1001  # noqa: SLF001 - nothing else tells of it
