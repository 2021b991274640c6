"""The Python of expressions: that there is some for each, however deep or long."""

from functools import reduce

import pytest

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.analysis import Execution, vet
from karta_interpreter.languages.jq.compiled.compiler import compile_list, source
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.support.rows import few_rows, rows


def nested(form: str, innermost: str, times: int) -> str:
    return reduce(lambda inside, _: form.replace("_", inside), range(times), innermost)


@few_rows(
    ("text", "value", "expected"),
    [
        pytest.param(".a" + "[]" * 190, {"a": 0}, None, id="iteration"),
        pytest.param(".a" + "[]?" * 90, {"a": []}, [], id="optional iteration"),
        pytest.param(" | ".join([".[]"] * 150), [], [], id="loops behind each other"),
        pytest.param(" | ".join(["."] * 190), 1, [1], id="a pipe"),
        pytest.param(" | ".join(["select(.)"] * 90), 1, [1], id="selected again and again"),
        pytest.param(" | ".join(["select(.) // 2"] * 60), None, [2], id="and with a default"),
        pytest.param(" + ".join(["."] * 190), 1, [190], id="a sum"),
        pytest.param(" and ".join(["."] * 190), 1, [True], id="and"),
        pytest.param(" // ".join([".a"] * 90) + " // 1", None, [1], id="defaults"),
        pytest.param(", ".join(["."] * 190), 1, [1] * 190, id="a list"),
        pytest.param("[" + ", ".join([".[]"] * 150) + "] | length", [1], [150], id="loops in a list"),
        pytest.param("{" + ", ".join(f"k{i}: ." for i in range(300)) + "} | length", 1, [300], id="a large object"),
        pytest.param('"' + "\\(.)" * 150 + '"', 1, ["1" * 150], id="a long text"),
        pytest.param('"' + "\\(.[])" * 60 + '"', ["1"], ["1" * 60], id="a text of many loops"),
        pytest.param("if . then " + "elif . then ".join(["1 "] * 400) + "end", 1, [1], id="many branches"),
        pytest.param("if . then . " + "elif .[] then 2 " * 60 + "end", None, [], id="branches that ask loops"),
        pytest.param(nested("[_]", ".", 35), 1, None, id="arrays"),
        pytest.param(nested("{a: _}", ".", 30), 1, None, id="objects"),
        pytest.param(nested("(_ | not)", ".", 30), 1, [True], id="not"),
        pytest.param(nested("if . then _ else 0 end", ".", 30), 1, [1], id="if inside of then"),
        pytest.param(nested("if . then 0 else _ end", ".", 30), None, [None], id="if inside of else"),
        pytest.param(nested("if _ then 1 else 0 end", ".", 30), 1, [1], id="if inside of a condition"),
        pytest.param(nested("(. and _)", ".", 30), 1, [True], id="and inside of and"),
        pytest.param(nested("(. // _)", ".", 30), None, [None], id="a default of a default"),
        pytest.param(nested("(.[]? // _)", "7", 30), 1, [7], id="of loops"),
        pytest.param(nested("[.[]? | _]", ".", 30), 1, [[]], id="loops inside of loops"),
        pytest.param(nested("map(_)", ".", 30), [], [[]], id="map"),
        pytest.param(nested("any(.[]; _)", ".", 30), [], [False], id="any"),
        pytest.param(nested("first(_)", ".[]", 30), [1], [1], id="first"),
        pytest.param(nested("try (_)", ".[]", 20), 1, [], id="try"),
        pytest.param(nested("([_, 1] | max)", ".", 20), 0, [1], id="bounds"),
        pytest.param(nested("(_ * 1)", ".", 30), 3, [3], id="products"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_depth_and_length_are_no_problem(text: str, value: JSON, expected: list[JSON] | None) -> None:
    run = compile_list(parse(text))
    assert len(source(parse(text))) < 100 * len(text), "what is nested is written once"
    if expected is not None:
        assert run(value) == expected


@rows(
    "text",
    [
        pytest.param(" | ".join(["(., .)"] * 8), id="lists behind lists"),
        pytest.param(" | ".join(["(.a[]?, .b)"] * 40), id="with loops"),
        pytest.param(" | ".join(["if . then .a[]? else .b end"] * 40), id="branches with loops"),
        pytest.param(" | ".join(["(.a[]? // .b)"] * 40), id="defaults of loops"),
        pytest.param(" | ".join(["(.a? and .b?)"] * 40), id="logic of loops"),
        pytest.param(" | ".join(["select(.a?, .b?)"] * 40), id="conditions with loops"),
    ],
)
def test_code_behind_a_pipe_is_written_once(text: str) -> None:
    half = text[: text.index(" | ", len(text) // 2)]
    assert len(source(parse(text))) < 3 * len(source(parse(half)))


def test_longest_plain_expression_compiles() -> None:
    node = parse("[" + ", ".join(f'.a{i}.b == "{"x" * 300}"' for i in range(150)) + "] | any")
    assert vet(node).verdict is Execution.PLAIN
    assert compile_list(node)({"a149": {"b": "x" * 300}}) == [True]


@rows(
    ("text", "lines"),
    [
        pytest.param(".a", ["return [t1]"], id="one output"),
        pytest.param('.a | IN("x", "y")', ["t2 = t1 in ('x', 'y', )"], id="one of some texts"),
        pytest.param(".a == null", ["t2 = t1 is None"], id="null"),
        pytest.param(".a | not", ["t2 = t1 is None or t1 is False"], id="not"),
    ],
)
def test_common_functions_are_written_in_place(text: str, lines: list[str]) -> None:
    written = source(parse(text))
    assert written.count("def ") == 1
    for line in lines:
        assert f"    {line}\n" in f"{written}\n"
