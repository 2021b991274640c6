import pytest

from karta_interpreter.definitions.karta.expressions import selections, shared_default
from karta_interpreter.languages.jq import parse, several
from tests.support.rows import rows


@rows(
    ("text", "answer"),
    [
        pytest.param(".a", False, id="a path"),
        pytest.param(".a[]", True, id="the elements of a list"),
        pytest.param(".a[].b", True, id="a field of each"),
        pytest.param(".a[]?", True, id="the elements, if it is a list"),
        pytest.param(".a[] | .b", True, id="behind a pipe"),
        pytest.param(".a | keys[]", True, id="keys"),
        pytest.param(".a, .b", True, id="two results"),
        pytest.param(".a[0]", False, id="one element"),
        pytest.param("[.a[]]", False, id="collected"),
        pytest.param("first(.a[])", False, id="picked"),
        pytest.param(".a | any(.b > 1)", False, id="one answer about all"),
        pytest.param(".a[] // 1", True, id="with a default"),
        pytest.param(".a // .b[]", True, id="in the default"),
        pytest.param("(.a[]) * 2", True, id="in arithmetic"),
        pytest.param("if .a then .b[] else 1 end", True, id="in a branch"),
        pytest.param("if .a[] then 1 else 2 end", True, id="in a condition"),
        pytest.param(".a as $x | $x[]", True, id="behind a variable"),
        pytest.param(".a[] as $x | $x", True, id="of a variable"),
        pytest.param(".a[.b[]]", True, id="in an index"),
        pytest.param('.a | splits(",")', True, id="a function that yields several"),
        pytest.param('.a | capture("(?<n>[0-9]+)"; "g")', True, id="each match of a pattern"),
        pytest.param("[.a | while(. < 9; . + 1)][0]", False, id="each value of a loop, collected"),
        pytest.param(".a | while(. < 9; . + 1)", True, id="each value of a loop"),
        pytest.param(".a | until(. > 9; . + 1)", False, id="the last value of a loop"),
        pytest.param('getpath(["a", "b"])', False, id="a path as a list"),
    ],
)
def test_several(text: str, answer: bool) -> None:
    assert several(parse(text)) is answer


@rows(
    ("text", "found"),
    [
        pytest.param(".a[].b", [], id="none"),
        pytest.param(".a[] | select(.b) | .c", ["select(.b)"], id="in the stream"),
        pytest.param(".a[] | first(.b[] | select(.c))", ["select(.c)"], id="picking may find nothing"),
        pytest.param(".a[] | [.b[] | select(.c)]", [], id="a list may be empty, but is there"),
        pytest.param(".a | any(.b; select(.c))", [], id="in an answer"),
    ],
)
def test_selections(text: str, found: list[str]) -> None:
    assert selections(parse(text)) == found


@rows(
    ("text", "better"),
    [
        pytest.param(".a[].b // 1", ".a[] | .b // 1", id="a field of each"),
        pytest.param(".a[].b.c // 1", ".a[] | .b.c // 1", id="a deep field of each"),
        pytest.param(".a[] // 1", ".a[] | . // 1", id="each"),
        pytest.param("(.r // 1) * (.a[].b // 1)", ".a[] | .b // 1", id="in a product"),
        pytest.param("(.a[] | .b) // 1", ".a[] | .b // 1", id="behind a pipe"),
    ],
)
def test_shared_default_has_a_better_form(text: str, better: str) -> None:
    found = shared_default(parse(text))
    assert found is not None
    assert found[1] == better


@rows("text", [".a // 1", ".a[] | .b // 1", "(.a // [])[] | .b", "first(.a[]) // 1"])
def test_own_default_is_not_shared(text: str) -> None:
    assert shared_default(parse(text)) is None
