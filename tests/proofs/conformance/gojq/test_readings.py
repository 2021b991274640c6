"""jq itself runs the rewritten programs here; what they give is the same in gojq."""

from typing import Any

import jq
import pytest

from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.readings import Reading, program
from tests.support.rows import rows

FAILS = object()


def outputs(text: str, *readings: Reading, value: Any) -> Any:
    try:
        return jq.compile(program(Query.compile(text), frozenset(readings))).input_value(value).all()
    except ValueError:
        return FAILS


@rows(
    ("text", "reading", "value", "without", "with_it"),
    [
        pytest.param(".a[].b", Reading.NULL, {"a": None}, FAILS, [], id="null has no elements"),
        pytest.param(".a[].b", Reading.NULL, {"a": 1}, FAILS, FAILS, id="a number is still none to iterate"),
        pytest.param('"x" * .n', Reading.PRODUCT, {"n": 2}, ["xx"], FAILS, id="text is not repeated"),
        pytest.param("(.n, 3) * (2, .n)", Reading.PRODUCT, {"n": 5}, [10, 6, 25, 15], [10, 6, 25, 15], id="the order"),
        pytest.param("min", Reading.EXTREME, ["many", 3], [3], FAILS, id="a text is not larger than a number"),
        pytest.param("max", Reading.EXTREME, [None, 3], [3], [3], id="null is of every type"),
        pytest.param("first", Reading.ELEMENTS, [4, 5], [4], [4], id="a list has a first element"),
        pytest.param(".[.k]", Reading.ELEMENTS, {"k": "n", "n": 1}, [1], [1], id="an object has fields"),
        pytest.param("[1, 2, 1] | .[[1]]", Reading.ELEMENTS, None, [[0, 2]], FAILS, id="a list in a list is not found"),
        pytest.param(
            '"\\(.a)\\(.b[])"', Reading.REPEATABLE, {"a": 1, "b": [2]}, ["12"], ["12"], id="a number is short"
        ),
        pytest.param('"\\(.a)\\(.b[])"', Reading.REPEATABLE, {"a": [], "b": [2]}, ["[]2"], FAILS, id="a list is not"),
        pytest.param('. | split(";")', Reading.PIECES, "a;b", [["a", "b"]], [["a", "b"]], id="a text has pieces"),
        pytest.param('. | split(";")', Reading.PIECES, "", [[]], [[]], id="jq agrees that an empty one has none"),
    ],
)
def test_reading_is_written_into_expression(
    text: str, reading: Reading, value: Any, without: Any, with_it: Any
) -> None:
    assert outputs(text, value=value) == without
    assert outputs(text, reading, value=value) == with_it


def test_without_a_reading_the_expression_is_asked_as_it_is_written() -> None:
    query = Query.compile(". as $x | $runtime # looked up", frozenset(("runtime",))).bound({"runtime": {"n": 1}})
    assert program(query, before="(", after=") | tostring") == (
        '{"n": 1} as $runtime | (. as $x | $runtime # looked up\n) | tostring'
    )
