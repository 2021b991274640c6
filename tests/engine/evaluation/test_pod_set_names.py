import pytest
from hypothesis import given, strategies as st

from karta_interpreter.engine.evaluation.pods import LONGEST, unique_names
from tests.support.rows import rows

TEXT = st.text(st.characters(codec="ascii", categories=["L", "Nd", "Pd"]), min_size=1, max_size=40)


@rows(
    ("parts", "names"),
    [
        pytest.param([("head", ""), ("worker", "gpu")], ["head", "gpu"], id="the id, else the component"),
        pytest.param([("a", "x"), ("b", "x")], ["a-x", "b-x"], id="equal ids take their component along"),
        pytest.param([("gpu", ""), ("worker", "gpu")], ["gpu", "worker-gpu"], id="an id like a component"),
        pytest.param([("a", "x"), ("b", "x"), ("c", "y")], ["a-x", "b-x", "y"], id="others keep theirs"),
        pytest.param([("w", "n" * 32)], ["n" * 32], id="32 characters fit"),
    ],
)
def test_names(parts: list[tuple[str, str]], names: list[str]) -> None:
    assert unique_names(parts) == names


def test_too_long_name_keeps_its_beginning() -> None:
    (name,) = unique_names([("worker", "a" * 33)])
    assert name.startswith("a" * 23 + "-")
    assert len(name) == 32


def test_long_names_that_begin_alike_stay_apart() -> None:
    first, second = unique_names([("w", "a" * 40), ("w", "a" * 41)])
    assert first != second


def test_long_names_that_differ_in_four_characters_stay_apart() -> None:
    numbered = [("w", f"{'n' * 40}-{number:04}-{'m' * 8}") for number in range(10_000)]
    assert len(set(unique_names(numbered))) == len(numbered)


def test_name_that_looks_qualified_stays_unique() -> None:
    names = unique_names([("a", "x"), ("b", "x"), ("c", "a-x")])
    assert len(set(names)) == 3


def test_pairs_with_one_joined_name_have_digests_of_their_own() -> None:
    parts = [("a-b", "c"), ("x", "c"), ("a", "b-c"), ("y", "b-c")]
    names = unique_names(parts)
    assert names[1::2] == ["x-c", "y-b-c"]
    # The digest in the documentation of names: the bytes of component, NUL and id as one number, modulo 2^32 - 5.
    assert names[::2] == [f"a-b-c-{int.from_bytes(pair) % (2**32 - 5):08x}" for pair in (b"a-b\0c", b"a\0b-c")]


@given(st.sets(st.tuples(TEXT, TEXT | st.just("")), max_size=6))
def test_names_are_unique_short_and_stable(parts: set[tuple[str, str]]) -> None:
    ordered = sorted(parts)
    names = unique_names(ordered)
    assert len(set(names)) == len(ordered)
    assert all(1 <= len(name) <= LONGEST for name in names)
    assert names == unique_names(ordered)
