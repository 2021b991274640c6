"""The parser against libjq, which is another implementation of the same grammar."""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import jq
import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax.parser import DEPTH_LIMIT, parse
from tests.languages.jq.syntax.corpus import ACCEPTED, REJECTED
from tests.languages.jq.syntax.explicit import explicit
from tests.support.rows import rows

DOT = ast.Identity()
ONE, TWO, THREE = ast.Literal(1), ast.Literal(2), ast.Literal(3)
INPUTS: list[Any] = [
    None,
    {"a": {"b": [1, {"c": 2}], "k": "x", "x": 3}, "k": "b", "b": 3},
    [1, [2], {"a": 5}],
    "text",
    7,
]


def field(name: str, target: ast.Node = DOT) -> ast.Node:
    return ast.Index(target, ast.Literal(name))


def outputs(text: str, *values: Any) -> list[list[Any]]:
    """What libjq makes of a text for several inputs; the outputs before an error count as well."""
    program = jq.compile(text)
    return [list(_until_failure(iter(program.input_value(value)))) for value in values]


def _until_failure(results: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from islice(results, 100)
    except ValueError:
        yield "failed"


@pytest.mark.slow
@rows("text", ACCEPTED)
def test_accepted_text_means_the_same_to_libjq(text: str) -> None:
    assert outputs(explicit(parse(text)), *INPUTS) == outputs(text, *INPUTS)


@rows("text", [".a[.k]?", ".[.a.k]?", ".a[.b:]?", '.["\\(.a.k)"]?.k'])
def test_optional_steps_with_computed_keys_differ_only_in_more_errors(text: str) -> None:
    value = {"a": {"x": 1, "k": "x"}, "k": "x", "x": {"k": 2}, "b": 1}
    assert outputs(explicit(parse(text)), value) == outputs(text, value)


@rows("text", REJECTED)
def test_rejected_text_is_rejected_by_libjq(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    assert caught.value.message
    assert 0 <= caught.value.start <= caught.value.end <= len(text)
    with pytest.raises(ValueError, match=r"syntax error|Invalid|not given|must be an object|Cannot use number"):
        jq.compile(text)


OPERANDS = ["1", "2", "3", "0", "null", "false", "true", ".", "[4]", "-5", "(6, 7)", "empty", "try 8", "9?"]
JOINTS = ["|", ",", "//", "or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"]
PREFIXES = [
    "",
    "",
    "",
    "- ",
    "try ",
    "1 as $x | ",
    "1 + 2 as $x | $x, ",
    "label $x | ",
    "def f: 1; f + ",
    "1, def f: 2; ",
]
chains = st.lists(
    st.tuples(st.sampled_from(JOINTS), st.sampled_from(PREFIXES), st.sampled_from(OPERANDS)), min_size=1, max_size=6
)


@given(st.sampled_from(PREFIXES), chains)
def test_precedence_is_that_of_libjq(prefix: str, chain: list[tuple[str, str, str]]) -> None:
    text = f"{prefix}1 " + " ".join(f"{joint} {before}{operand}" for joint, before, operand in chain)
    try:
        expected = outputs(text, 3)
    except ValueError:
        with pytest.raises(QuerySyntaxError):
            parse(text)
        return
    assert outputs(explicit(parse(text)), 3) == expected


@rows(
    ("text", "tree"),
    [
        pytest.param(".a", field("a"), id="a field"),
        pytest.param('."a"', field("a"), id="a quoted field is a field"),
        pytest.param('.["a"]', field("a"), id="a literal key is a field"),
        pytest.param(".a[0]", ast.Index(field("a"), ast.Literal(0)), id="an index"),
        pytest.param(".[-1]", ast.Index(DOT, ast.Literal(-1)), id="a negative number is one literal"),
        pytest.param("-.a", ast.Negate(field("a")), id="a negation"),
        pytest.param("-true", ast.Negate(ast.Literal(value=True)), id="true is not a number"),
        pytest.param("..", ast.RecursiveDescent(), id="recursive descent"),
        pytest.param(".[]", ast.Iterate(DOT), id="iteration"),
        pytest.param(".[1:]", ast.Slice(DOT, ONE, None), id="a slice without an end"),
        pytest.param(".[:.a]", ast.Slice(DOT, None, field("a")), id="a slice without a start"),
        pytest.param(".a.[1:]", ast.Slice(field("a"), ONE, None), id="gojq takes a dot before a slice"),
        pytest.param(".a?", ast.Try(field("a")), id="an optional field"),
        pytest.param(".a.b?", ast.Pipe(field("a"), ast.Try(field("b"))), id="the question mark covers one step"),
        pytest.param(".a[]?", ast.Pipe(field("a"), ast.Try(ast.Iterate(DOT))), id="also of an iteration"),
        pytest.param("(.a.b)?", ast.Try(field("b", field("a"))), id="parentheses make it cover everything"),
        pytest.param(".a[.k]?", ast.Try(ast.Index(field("a"), field("k"))), id="a key from the input needs the input"),
        pytest.param(".a??", ast.Try(ast.Try(field("a"))), id="the second one covers everything"),
        pytest.param(".a?.b", field("b", ast.Try(field("a"))), id="suffixes go on after it"),
        pytest.param("1 // 2 // 3", ast.Alternative(ONE, ast.Alternative(TWO, THREE)), id="defaults to the right"),
        pytest.param("1 - 2 - 3", ast.Binary("-", ast.Binary("-", ONE, TWO), THREE), id="differences to the left"),
        pytest.param("1 | 2 | 3", ast.Pipe(ONE, ast.Pipe(TWO, THREE)), id="pipes to the right"),
        pytest.param("1, 2, 3", ast.Comma(ast.Comma(ONE, TWO), THREE), id="commas to the left"),
        pytest.param(".a |= 1", ast.Assign("|=", field("a"), ONE), id="an assignment"),
        pytest.param("try 1 catch 2", ast.Try(ONE, TWO), id="try with a handler"),
        pytest.param("null", ast.Literal(None), id="null"),
        pytest.param("null(1)", ast.FunctionCall("null", (ONE,)), id="a call of a constant's name is a call"),
        pytest.param("1.0", ONE, id="an integral number is an integer"),
        pytest.param("9007199254740995", ast.Literal(9007199254740996.0), id="beyond 2**53 it is a double"),
        pytest.param("1e1000", ast.Literal(sys.float_info.max), id="the largest double instead of infinity"),
        pytest.param("f(1; 2)", ast.FunctionCall("f", (ONE, TWO)), id="a call"),
        pytest.param("$x", ast.Variable("x"), id="a variable"),
        pytest.param("@uri", ast.Format("uri"), id="a format"),
        pytest.param('"a"', ast.Literal("a"), id="a string"),
        pytest.param('"a\\(1)b"', ast.Text(("a", ONE, "b")), id="an interpolation"),
        pytest.param('"\\u0041\\n"', ast.Literal("A\n"), id="escapes"),
        pytest.param('@uri "a"', ast.Text(("a",), "uri"), id="a formatted string keeps its format"),
        pytest.param("[]", ast.Array(None), id="an empty array"),
        pytest.param("[1]", ast.Array(ONE), id="an array"),
        pytest.param("{}", ast.Object(()), id="an empty object"),
        pytest.param("{a}", ast.Object((ast.Entry(ast.Literal("a"), field("a")),)), id="a name alone reads the field"),
        pytest.param(
            "{$x}", ast.Object((ast.Entry(ast.Literal("x"), ast.Variable("x")),)), id="a variable alone names it"
        ),
        pytest.param(
            "{$x: 1}", ast.Object((ast.Entry(ast.Variable("x"), ONE),)), id="a variable as a key is its value"
        ),
        pytest.param(
            "{(1, 2 | f): 3}",
            ast.Object((ast.Entry(ast.Pipe(ast.Comma(ONE, TWO), ast.FunctionCall("f")), THREE),)),
            id="a computed key",
        ),
        pytest.param(
            "{a: 1 | 2}", ast.Object((ast.Entry(ast.Literal("a"), ast.Pipe(ONE, TWO)),)), id="a value may be a pipe"
        ),
        pytest.param("{if: 1}", ast.Object((ast.Entry(ast.Literal("if"), ONE),)), id="a keyword as a key"),
        pytest.param("if 1 then 2 end", ast.If(((ONE, TWO),), None), id="if without else"),
        pytest.param("if 1 then 2 elif 3 then 1 else 2 end", ast.If(((ONE, TWO), (THREE, ONE)), TWO), id="elif"),
        pytest.param(
            "1 + 2 as $x | 3", ast.Bind(ast.Binary("+", ONE, TWO), (ast.VariablePattern("x"),), THREE), id="a binding"
        ),
        pytest.param(
            "1, 2 as $x | 3", ast.Comma(ONE, ast.Bind(TWO, (ast.VariablePattern("x"),), THREE)), id="not of the comma"
        ),
        pytest.param(
            ". as [$a] ?// {$b, $c: $d, e: $f} | 1",
            ast.Bind(
                DOT,
                (
                    ast.ArrayPattern((ast.VariablePattern("a"),)),
                    ast.ObjectPattern(
                        (
                            (ast.Literal("b"), ast.VariablePattern("b")),
                            (ast.VariablePattern("c"), ast.VariablePattern("d")),
                            (ast.Literal("e"), ast.VariablePattern("f")),
                        )
                    ),
                ),
                ONE,
            ),
            id="patterns",
        ),
        pytest.param("reduce 1 as $x (2; 3)", ast.Reduce(ONE, ast.VariablePattern("x"), TWO, THREE), id="reduce"),
        pytest.param(
            "foreach 1 as $x (2; 3)", ast.Foreach(ONE, ast.VariablePattern("x"), TWO, THREE, None), id="foreach"
        ),
        pytest.param(
            "foreach 1 as $x (2; 3; .)", ast.Foreach(ONE, ast.VariablePattern("x"), TWO, THREE, DOT), id="its extract"
        ),
        pytest.param(
            "def f($a; g): 1; 2 | 3", ast.Define("f", ("$a", "g"), ONE, ast.Pipe(TWO, THREE)), id="a definition"
        ),
        pytest.param("label $x | break $x", ast.Label("x", ast.Break("x")), id="a label"),
    ],
)
def test_trees(text: str, tree: ast.Node) -> None:
    assert repr(parse(text)) == repr(tree)


@rows(
    ("text", "find", "expected"),
    [
        pytest.param(".a | .b // 1", lambda pipe: pipe.right, ".b // 1", id="an operation"),
        pytest.param("1, .a.b", lambda comma: comma.right, ".a.b", id="a path"),
        pytest.param("1, .a.b", lambda comma: comma.right.target, ".a", id="its beginning"),
        pytest.param("1, .a.b", lambda comma: comma.right.key, ".b", id="its last key"),
        pytest.param("[ range(3) ]", lambda array: array.body, "range(3)", id="a call"),
        pytest.param('"a\\( $x )"', lambda text: text.parts[1], "$x", id="an interpolation"),
        pytest.param("1 | .a = 2", lambda pipe: pipe.right, ".a = 2", id="an assignment"),
        pytest.param("1 | def f: 2; f", lambda pipe: pipe.right, "def f: 2; f", id="a definition"),
        pytest.param("1 | . as $x | 3", lambda pipe: pipe.right, ". as $x | 3", id="a binding"),
        pytest.param("[if 1 then 2 end]", lambda array: array.body, "if 1 then 2 end", id="a block"),
        pytest.param("1 | - .a", lambda pipe: pipe.right, "- .a", id="a negation"),
        pytest.param(".a.b?", lambda pipe: pipe.right, ".a.b?", id="an optional step is the whole path"),
    ],
)
def test_nodes_know_their_place(text: str, find: Callable[[Any], ast.Node], expected: str) -> None:
    span = find(parse(text)).span
    assert text[span.start : span.end] == expected


@rows(
    ("text", "message", "place", "hint"),
    [
        pytest.param("", "the expression is empty", (0, 0), "", id="nothing"),
        pytest.param(
            ".a // ", "expected an expression after `//`, but the expression ends here", (6, 6), "", id="cut off"
        ),
        pytest.param("(.a", "`(` opened here is never closed", (0, 1), "", id="an open parenthesis"),
        pytest.param(".a | [.b", "`[` opened here is never closed", (5, 6), "", id="an open bracket"),
        pytest.param('"\\(1', "the string that starts here never ends", (0, 1), "", id="an open interpolation"),
        pytest.param("if . then 1 else 2", "`if` opened here is never closed with `end`", (0, 2), "", id="an open if"),
        pytest.param(
            "if . 1 end", "expected `then` after the condition of `if`, but found `1`", (5, 6), "", id="no then"
        ),
        pytest.param(".a)", "`)` closes nothing", (2, 3), "", id="nothing to close"),
        pytest.param("[.a)", "expected `]`, but found `)`", (3, 4), "", id="another bracket"),
        pytest.param(".a .b c", "expected an operator after `.b`, but found `c`", (6, 7), "", id="two expressions"),
        pytest.param(". a", "expected an operator after `.`, but found `a`", (2, 3), "", id="a space"),
        pytest.param(".a.", "expected a name, a string or `[`", (3, 3), "", id="a path cut off"),
        pytest.param(".a.1", "expected an operator after `.a`, but found `.1`", (2, 4), "", id="an index as a field"),
        pytest.param("1 == 2 == 3", "`==` cannot follow `==`", (7, 9), "", id="comparisons in a row"),
        pytest.param(".a = .b = 1", "`=` cannot follow `=`", (8, 9), "", id="assignments in a row"),
        pytest.param(".a ?// 1", "expected an operator after `.a`, but found `?//`", (3, 6), "", id="one token"),
        pytest.param("1 + def f: 2; f", "`def` cannot stand after `+`", (4, 7), "", id="a late definition"),
        pytest.param("{a: 1 as $x | 2}", "expected `}`, but found `as`", (6, 8), "", id="a binding as a value"),
        pytest.param("{1: 2}", "expected a key after `{`, but found `1`", (1, 2), "", id="a number as a key"),
        pytest.param(
            "{(1): 2}", "the key of an object has to be a string", (2, 3), "", id="a computed number as a key"
        ),
        pytest.param(". as $__loc__ | 1", "`$__loc__` is built in", (5, 13), "", id="binding a built-in variable"),
        pytest.param(". as x | 1", "expected a pattern: `$name`", (5, 6), "", id="a name instead of a variable"),
        pytest.param("reduce . as $x ?// $y (0; 1)", "expected `(`", (15, 18), "", id="reduce has one pattern"),
        pytest.param('import "m" as m; .', "`import` is not allowed: an expression has", (0, 6), "", id="import"),
        pytest.param('include "m"; .', "`include` is not allowed: an expression has", (0, 7), "", id="include"),
        pytest.param("module {}; .", "`module` is not allowed: an expression has no", (0, 6), "", id="a directive"),
    ],
)
def test_messages(text: str, message: str, place: tuple[int, int], hint: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    assert message in caught.value.message
    assert (caught.value.start, caught.value.end) == place
    assert hint in caught.value.hint


@pytest.mark.slow
@rows(
    "text",
    [
        pytest.param("(" * 60_000, id="parentheses"),
        pytest.param("[" * 6_000, id="brackets"),
        pytest.param("{a:" * 20_000, id="objects"),
        pytest.param(".[" * 3_000, id="keys"),
        pytest.param("f(" * 3_000, id="calls"),
        pytest.param("-" * 6_000 + "1", id="signs"),
        pytest.param("try " * 2_000, id="tries"),
        pytest.param("1 catch ".join(["try "] * 1_000), id="handlers"),
        pytest.param("if " * 2_000, id="conditions"),
        pytest.param("if 1 then 2 else " * 1_000, id="branches"),
        pytest.param("reduce " * 2_000, id="sources"),
        pytest.param("def f: " * 2_000, id="definitions in definitions"),
        pytest.param("def f: 1; " * 2_000 + "1", id="definitions in a row"),
        pytest.param(". as $x | " * 2_000 + "1", id="bindings"),
        pytest.param(". as " + "[" * 6_000, id="patterns"),
        pytest.param(". as {(" * 2_000, id="keys of patterns"),
        pytest.param("label $x | " * 2_000 + "1", id="labels"),
        pytest.param("|".join("a" * 30_000), id="pipes"),
        pytest.param(",".join("a" * 2_000), id="commas"),
        pytest.param("//".join("a" * 2_000), id="defaults"),
        pytest.param("+".join("a" * 2_000), id="sums"),
        pytest.param("1//2=3 or 4 and 5==6+7*(" * 500, id="all operators"),
        pytest.param(".a" * 2_000, id="fields"),
        pytest.param("." + "?" * 6_000, id="question marks"),
        pytest.param("." + "[]" * 3_000, id="iterations"),
        pytest.param('"\\(' * 20_000 + "1" + ')"' * 20_000, id="strings in strings, too long"),
        pytest.param('"\\(' * 2_000 + "1" + ')"' * 2_000, id="strings in strings"),
    ],
)
def test_endless_nesting_is_a_syntax_error(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match=r"nested too deeply|more than 200 steps|at most 65536"):
        parse(text)


@rows(
    ("opening", "closing", "depth"),
    [("(", ")", 40), ("[", "]", 40), ("{a:", "}", 40), ("f(", ")", 40), ("-", "", 120), ("if 1 then ", " end", 40)],
)
def test_reasonable_nesting_is_accepted(opening: str, closing: str, depth: int) -> None:
    parse(opening * depth + "1" + closing * depth)


def test_long_chains_are_accepted_up_to_the_limit() -> None:
    parse(" | ".join(["."] * (DEPTH_LIMIT - 1)) + " | .")
    with pytest.raises(QuerySyntaxError, match="more than 200 steps"):
        parse(" | ".join(["."] * DEPTH_LIMIT) + " | .")


@pytest.mark.slow
def test_parsing_leaves_most_of_the_stack_alone() -> None:
    """It may be called from deep inside of something else: 650 of Python's 1000 frames are enough for all."""
    texts = [
        "{a:" * 40 + "1" + "}" * 40,
        "def f: " * 9_000,
        ". as {(" * 9_000,
        ".a" * 199,
        re.sub("x", "1+", "x" * 199) + "1",
    ]
    problems: list[BaseException] = []

    def run() -> None:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(650)
        try:
            for text in texts:
                try:
                    parse(text)
                except QuerySyntaxError:
                    continue
        except RecursionError as err:
            problems.append(err)
        finally:
            sys.setrecursionlimit(limit)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not problems
