from itertools import islice
from typing import Any

import jq
import pytest
from hypothesis import given

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.languages.jq.syntax import FunctionCall, Identity, Index, Iterate, Literal, Node, Try
from karta_interpreter.languages.jq.syntax.parser import parse
from karta_interpreter.languages.jq.syntax.printer import render
from tests.languages.jq.syntax.corpus import ACCEPTED
from tests.languages.jq.syntax.trees import trees
from tests.support.rows import rows


@given(trees)
def test_reading_a_text_gives_the_tree_it_was_written_from(tree: Node) -> None:
    # repr, because == takes true for 1
    assert repr(parse(render(tree))) == repr(tree)


@given(trees)
def test_libjq_finds_no_fault_with_the_grammar(tree: Node) -> None:
    assert "syntax error" not in complaint(render(tree))


def complaint(text: str) -> str:
    try:
        jq.compile(text)
    except ValueError as err:
        return str(err)  # names may well be undefined
    return ""


@rows("text", ACCEPTED)
def test_texts_of_all_kinds_come_back(text: str) -> None:
    tree = parse(text)
    assert repr(parse(render(tree))) == repr(tree)


@given(trees)
def test_lenient_text_can_be_read(tree: Node) -> None:
    parse(render(tree, lenient=True))


@rows(
    ("text", "expected"),
    [
        pytest.param('.["spec"]["a b"]', '.spec["a b"]', id="names become fields"),
        pytest.param("((.a)|((.b)))", ".a | .b", id="no needless parentheses"),
        pytest.param("(1|2)|3", "(1 | 2) | 3", id="pipes lean to the right"),
        pytest.param("1,(2,3)", "1, (2, 3)", id="commas lean to the left"),
        pytest.param("(1//2)//3", "(1 // 2) // 3", id="defaults lean to the right"),
        pytest.param("1-(2-3)", "1 - (2 - 3)", id="differences lean to the left"),
        pytest.param("(1*2)+3", "1 * 2 + 3", id="products bind tighter"),
        pytest.param("1*(2+3)", "1 * (2 + 3)", id="sums do not"),
        pytest.param("(1+2)==3", "1 + 2 == 3", id="sums bind tighter than comparisons"),
        pytest.param("(1==2)==3", "(1 == 2) == 3", id="comparisons do not chain"),
        pytest.param("-(1+.a)", "-(1 + .a)", id="a sign binds to one term"),
        pytest.param("(-1).a", "(-1).a", id="a suffix binds tighter than a sign"),
        pytest.param("1 .a", "(1).a", id="a number swallows a dot"),
        pytest.param("1.5 .a[0]", "(1.5).a[0]", id="to gojq also one with a fraction does"),
        pytest.param(".a|.b?", ".a.b?", id="an optional step is a suffix"),
        pytest.param(".|.b?", ". | .b?", id="but not of the identity"),
        pytest.param("try .a.b", "(.a.b)?", id="try without a handler is a question mark"),
        pytest.param(".[.a]?", "(.[.a])?", id="which covers a key that is read"),
        pytest.param(".a[.b:$x]?", "(.a[.b:$x])?", id="and the bounds of a slice"),
        pytest.param(".a[$x:2]?", ".a[$x:2]?", id="not those that are known"),
        pytest.param("try 1 catch (2|3)", "try 1 catch (2 | 3)", id="a handler is one term"),
        pytest.param("(1 as $x|2),3", "(1 as $x | 2), 3", id="a binding encloses what follows"),
        pytest.param("3,(1 as $x|2)", "3, 1 as $x | 2", id="at the end it may stand alone"),
        pytest.param("(3,(1 as $x|2))|4", "3, (1 as $x | 2) | 4", id="which is not the end"),
        pytest.param("1+2 as $x|3", "(1 + 2) as $x | 3", id="jq 1.7 binds terms only"),
        pytest.param("reduce 1+2 as $x(0;1)", "reduce (1 + 2) as $x (0; 1)", id="and reduces terms only"),
        pytest.param("{a:(1|2),b:(3,4)}", "{a: 1 | 2, b: (3, 4)}", id="values take pipes but no commas"),
        pytest.param("{a:.a,b:$b,$c}", "{a, $b, $c}", id="short entries"),
        pytest.param('{"a b":1,(1|f):2}', '{"a b": 1, (1 | f): 2}', id="keys"),
        pytest.param(". as {a:$a,$b:[$c]}|1", ". as {$a, $b: [$c]} | 1", id="patterns"),
        pytest.param('@uri "x\\(.a|.b)"', '@uri "x\\(.a | .b)"', id="strings"),
        pytest.param('"\\u00e9\\u0001\\n"', '"é\\u0001\\n"', id="only what needs it is escaped"),
        pytest.param("if 1 then 2 else if 3 then 4 end end", "if 1 then 2 else if 3 then 4 end end", id="if in else"),
        pytest.param("if 1 then 2 elif 3 then 4 end", "if 1 then 2 elif 3 then 4 end", id="elif"),
        pytest.param("1.50", "1.5", id="numbers"),
        pytest.param("def f($a;g):1;f(2;3)", "def f($a; g): 1; f(2; 3)", id="definitions"),
    ],
)
def test_canonical_text(text: str, expected: str) -> None:
    assert render(parse(text)) == expected


@rows(
    ("text", "value", "expected"),
    [
        pytest.param(".[]", None, [], id="null has no elements"),
        pytest.param(".a[]", {}, [], id="nor has what is absent"),
        pytest.param(".a[].b[].c", {"a": [{}, {"b": [{"c": 1}]}]}, [1], id="in the middle of a path"),
        pytest.param(".a[]", {"a": 1}, ["failed"], id="a number is still an error"),
        pytest.param(".a[]?", {"a": 1}, [], id="unless it is optional"),
        pytest.param("[.a[] | .b // 2]", {}, [[]], id="in an array"),
        pytest.param(".a[] // 1", {}, [1], id="before a default"),
        pytest.param("[path(.a[].b)]", {"a": [{}, None]}, [[["a", 0, "b"], ["a", 1, "b"]]], id="in path expressions"),
        pytest.param("[path(.a[])]", {}, [[]], id="in path expressions over nothing"),
        pytest.param("def empty: 1; .a[]", {}, [], id="whatever the expression calls empty"),
        pytest.param("try (.a[], 1)", {}, [1], id="there is nothing to catch"),
        pytest.param("(1, null) as $x | $x[]?", 0, [], id="a variable"),
        pytest.param("[.x[floor:]?]", {"x": [1]}, [[]], id="what fails in the bound of an optional slice"),
        pytest.param("[.x[.a.b]?, 1]", {"x": [1], "a": 0}, [[1]], id="or in an optional key"),
    ],
)
def test_lenient_iteration(text: str, value: Any, expected: list[Any]) -> None:
    assert outputs(render(parse(text), lenient=True), value) == expected


def outputs(text: str, value: Any) -> list[Any]:
    found: list[Any] = []
    try:
        found.extend(islice(jq.compile(text).input_value(value), 100))
    except ValueError:
        found.append("failed")
    return found


def test_deepest_tree_can_be_written() -> None:
    text = ".a" * 199
    assert render(parse(text)) == text
    with pytest.raises(QuerySyntaxError):
        parse(".a" * 200)


def test_shared_nodes_are_written_twice() -> None:
    step = Index(Identity(), Literal("a"))
    assert render(FunctionCall("f", (step, Try(Iterate(step))))) == "f(.a; (.a[])?)"
