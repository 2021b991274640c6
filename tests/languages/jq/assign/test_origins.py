"""The Python that tells where values come from: there is some for each expression, and no more than is asked for."""

import pytest

from karta_interpreter.base.errors import QueryLimitError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.assign import Location, compile_trace
from karta_interpreter.languages.jq.compiled.compiler import source
from karta_interpreter.languages.jq.syntax import Alternative, Identity, Index, Iterate, Literal, Node, Pipe
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.languages.jq.compiled.test_module import HOSTILE
from tests.languages.jq.compiled.test_python_code import nested
from tests.support.rows import few_rows, rows

N = Location(("n",))


def locations(node: Node, value: JSON) -> list[Location | None]:
    return [origin if isinstance(origin, Location) else None for _, origin in compile_trace(node)(value)]


@few_rows(
    ("text", "value", "expected"),
    [
        pytest.param(nested("if .x then 0 else _ end", ".n // 1", 25), {}, N._replace(default=1), id="branches"),
        pytest.param(nested("first(_)", ".n, .m", 35), {}, N, id="the first of a first"),
        pytest.param(nested("last(_)", ".m, .n", 35), {}, N, id="the last of a last"),
        pytest.param(nested("try (_)", ".n", 20), {}, N, id="try"),
        pytest.param(nested("([_] | first)", ".n", 15), {}, N, id="arrays"),
        pytest.param(nested("(.m // _)", ".n // 1", 30), {}, Location(("m",), 1), id="defaults of defaults"),
        pytest.param(nested("(_ * 1)", ".n", 30), {"n": 2}, N, id="products"),
        pytest.param(nested("([_, 1] | max)", ".n", 20), {"n": 2}, N._replace(floor=1), id="bounds"),
        pytest.param(nested("([_, (.m // empty)] | min)", ".n", 15), {"n": 2}, N, id="optional bounds"),
        pytest.param(nested("(_, empty)", ".n", 30), {}, N, id="lists"),
        pytest.param(nested("([.][] | _)", ".n", 20), {}, N, id="loops inside of loops"),
        pytest.param(" | ".join(["select(. != 0)"] * 60) + " | .n", {}, N, id="selections"),
        pytest.param(" | ".join(["(. // {})"] * 60) + " | .n", {}, N, id="defaults behind each other"),
        pytest.param(".a" + "[]?" * 60 + ", .n", {"a": 0}, N, id="loops behind each other"),
        pytest.param(".n" + "[0]" * 150, {}, Location(("n", *[0] * 150)), id="a long path"),
        pytest.param(" * ".join([".n"] * 150), {"n": 1}, N, id="a long product"),
        pytest.param(
            " | ".join(["tonumber"] * 150).join([".n | ", ""]), {"n": 1}, N._replace(numeral=True), id="numerals"
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_origin_is_found_at_any_depth(text: str, value: JSON, expected: Location) -> None:
    assert locations(parse(text), value) == [expected]


@rows("name", HOSTILE)
def test_names_are_steps_of_a_path_and_no_python(name: str) -> None:
    field = Index(Identity(), Literal(name))
    table: list[tuple[Node, JSON, Location]] = [
        (field, {}, Location((name,))),
        (Iterate(field), {name: {name: 1}}, Location((name, name))),
        (Pipe(Alternative(field, Literal(None)), field), {name: {name: 1}}, Location((name, name))),
        (Index(Identity(), field), {name: name}, Location((name,))),
        (Alternative(field, Literal(name)), {}, Location((name,), name)),
    ]
    for node, value, expected in table:
        assert locations(node, value) == [expected]


@rows(
    ("text", "places"),
    [
        pytest.param("if .a.b == 1 then .c else 0 end", 1, id="of a condition"),
        pytest.param("if [.a] == [1] then .b else 0 end", 1, id="in whatever is new there"),
        pytest.param(".a | select(.b | not) | .c", 1, id="of a selection"),
        pytest.param(".a + .b", 0, id="of what is computed"),
        pytest.param("{a, b: .c}", 0, id="of a new object"),
        pytest.param("[.a, .b] | .[0]", 2, id="of the parts of an array"),
        pytest.param(".a | any(.[]; .b)", 0, id="of an answer"),
        pytest.param('"\\(.a)", 1', 0, id="of texts and literals"),
    ],
)
def test_origins_are_written_only_where_asked(text: str, places: int) -> None:
    assert source(parse(text), ()).count("Location") == places


def test_origin_of_input_is_written_once() -> None:
    assert source(parse("(.a // .b) | .c, .d, .e"), ()).count("instead(") == 1


def test_long_name_is_not_repeated() -> None:
    several = ", ".join([".a // .b"] * 50)
    long, short = (len(source(parse(f'.["{"x" * length}"] | {several}'), ())) for length in (5000, 1))
    assert long - short < 4 * 5000


def test_there_are_at_most_999_outputs() -> None:
    for text in (".[]", ".[], .[]", ".[] | .n // 1"):
        with pytest.raises(QueryLimitError, match="it gives more than 999 results"):
            compile_trace(parse(text))([{}] * 1000)
    assert len(compile_trace(parse(".[]"))([{}] * 999)) == 999
