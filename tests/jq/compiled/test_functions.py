"""Functions, case by case; that they do what libjq does is a law of test_plain."""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from typing import Any

import pytest

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.jq.compiled.functions import FUNCTIONS, Argument, Function
from karta_interpreter.jq.compiled.operators import total
from karta_interpreter.jq.compiled.values import order_key
from karta_interpreter.jq.syntax import Alternative, Array, Call, Comma, Literal, Node, Try
from karta_interpreter.jq.syntax.parser import parse
from karta_interpreter.jq.syntax.printer import render
from karta_interpreter.k8s.values import JSON
from tests.jq.compiled.test_operators import OPERATORS
from tests.jq.expressions import NUMBERS, PATTERNS, REPLACEMENTS, TEXTS, function_id
from tests.jq.oracle import compile_many, libjq_program

_ARGUMENTS = [
    parse(text)
    for text in (
        *(".", ".a", ".key", ".[]", ".[]?", "empty", "length", ". == 1", 'type == "string"', "null"),
        *(
            '"a"',
            '""',
            '", "',
            '"a", "b"',
            '"key"',
            "0",
            "1",
            "2",
            "[]",
            '["a"]',
            '["a", 0]',
            '{"a": 1}',
            "{key, value: 1}",
        ),
    )
]
_KINDS: dict[Argument, list[Node]] = {
    Argument.ONCE: _ARGUMENTS,
    Argument.EACH: _ARGUMENTS,
    Argument.PATTERN: [Literal(pattern) for pattern in PATTERNS],
    Argument.SINGLE: REPLACEMENTS,
    Argument.FLAGS: [Literal(flags) for flags in (None, "", "g", "i", "gi")],
    Argument.TEXT: [Literal("no")],
}
_INPUTS: list[JSON] = [
    *(None, True, False, *NUMBERS, *TEXTS, [], {}, ["a"], ["b", "a", ""], ["a", 1, None, True], [3, 1.5, -2, 3]),
    *([None, 2], [True, False], [[1, [2]], [], [[3]]], [[0, 1], [0]], {"b": 2, "a": {"a": 1}}, {"a": [1], "key": "a"}),
    *([{"key": "a", "value": 1}, {"key": "b"}], [{"a": 2, "key": 1}, {"a": 1, "key": 2}, {"a": 2}], [{"name": 1}]),
]
_WITHOUT_OUTPUT = {("empty", 0), ("error", 1)}
_MOST_CALLS = 60


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=function_id)
def test_each_function_gives_what_libjq_gives(function: Function) -> None:
    arguments = list(product(*(_KINDS[kind] for kind in function.arguments)))
    calls = [Call(function.name, chosen) for chosen in arguments[:: 1 + len(arguments) // _MOST_CALLS]]
    found = 0
    for node, run, expected in zip(calls, map(compile_many, calls), libjq_outputs(calls), strict=True):
        for value, wanted in zip(_INPUTS, expected, strict=True):
            outputs = attempted(run, value)
            assert comparable(outputs) == comparable(wanted), (render(node), value)
            found += len(outputs or [])
    assert (found > 0) is (function.key not in _WITHOUT_OUTPUT)


def libjq_outputs(calls: list[Call]) -> Iterable[tuple[list[JSON] | None, ...]]:
    """The outputs for each input, None where libjq fails, by call; one program, which libjq takes long to compile."""
    attempts: list[Node] = [Alternative(Try(Array(call)), Literal(None)) for call in calls]
    program = libjq_program(Array(reduce(Comma, attempts)))
    return zip(*(next(program(value)) for value in _INPUTS), strict=True)


def attempted(run: Callable[[JSON], Iterable[JSON]], value: JSON) -> list[JSON] | None:
    try:
        return list(run(value))
    except QueryEvaluationError:
        return None


def comparable(outputs: list[JSON] | None) -> list[Any] | None:
    return None if outputs is None else [order_key(output) for output in outputs]


def run(text: str, value: JSON = None) -> list[JSON]:
    return list(compile_many(parse(text))(value))


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        pytest.param("length", "é\U0001f600", [2], id="length counts characters"),
        pytest.param("length", -2.5, [2.5], id="length of a number is its magnitude"),
        pytest.param("length", None, [0], id="null has length 0"),
        pytest.param("keys", {"b": 1, "a": 2}, [["a", "b"]], id="keys are sorted"),
        pytest.param("keys", ["x", "y"], [[0, 1]], id="keys of an array are indices"),
        pytest.param(
            "to_entries",
            {"b": 1, "a": 2},
            [[{"key": "a", "value": 2}, {"key": "b", "value": 1}]],
            id="entries come in the order of keys",
        ),
        pytest.param(
            "from_entries",
            [{"name": "a", "value": 1}, {"Key": "b", "Value": 2}, {"key": "c"}],
            [{"a": 1, "b": 2, "c": None}],
            id="entries in jq's other spellings",
        ),
        pytest.param("from_entries", [{"key": "a", "value": False}], [{"a": False}], id="a false value is a value"),
        pytest.param(
            "with_entries(select(.value > 1))", {"a": 1, "b": 2}, [{"b": 2}], id="with_entries may drop entries"
        ),
        pytest.param("has(0), has(1), has(-1)", [1], [True, False, False], id="has counts from the start"),
        pytest.param('has("a"), has("b")', {"a": None}, [True, False], id="has sees a null field"),
        pytest.param("map(.+1)", {"a": 1, "b": 2}, [[2, 3]], id="map makes an array of an object"),
        pytest.param("map(.,.)", [1, 2], [[1, 1, 2, 2]], id="map keeps all outputs"),
        pytest.param("map_values(.,.)", [1, 2], [[1, 2]], id="map_values keeps first outputs"),
        pytest.param("map_values(empty)", {"a": 1}, [{}], id="map_values drops fields without output"),
        pytest.param("add", ["a", None, "b"], ["ab"], id="null is neutral"),
        pytest.param("add", [], [None], id="the sum of nothing is null"),
        pytest.param("add", {"a": 1, "b": 2}, [3], id="the values of an object"),
        pytest.param("add(.[].n)", [{"n": 1}, {"n": 2}], [3], id="add of a generator"),
        pytest.param("any, all", [], [False, True], id="nothing is all true, but not any"),
        pytest.param("any(.[]; . > 1), all(.[]; . > 0)", [1, 2], [True, True], id="generators with conditions"),
        pytest.param("any(.[]; . == 1, .x)", [1], [True], id="any stops at the first true one"),
        pytest.param("first(.[], .x), isempty(.[], .x)", [1], [1, False], id="first stops, isempty too"),
        pytest.param("[first(empty)], [last(empty)], isempty(empty)", None, [[], [], True], id="no output"),
        pytest.param("first, last", [1, 2], [1, 2], id="ends of an array"),
        pytest.param("first, last", [], [None, None], id="ends of nothing"),
        pytest.param("last(.[])", [1, 2], [2], id="last of a generator"),
        pytest.param("IN(1, 2), IN(empty)", 2, [True, False], id="membership"),
        pytest.param("min, max", [2, 1.5, None], [None, 2], id="null is the smallest"),
        pytest.param("min, max", [], [None, None], id="extremes of nothing"),
        pytest.param(
            "min_by(.a).b, max_by(.a).b",
            [{"a": 1, "b": 1}, {"a": 1, "b": 2}],
            [1, 2],
            id="the first of the smallest, the last of the largest",
        ),
        pytest.param("sort_by(.a, .b)[].c", [{"a": 1, "b": 2, "c": 1}, {"a": 1, "c": 2}], [2, 1], id="two keys"),
        pytest.param("group_by(. > 1)", [2, 1, 3], [[[1], [2, 3]]], id="groups keep the order inside"),
        pytest.param("unique", [2, 1, 2.0, True, 1], [[True, 1, 2]], id="1 and true differ, 2 and 2.0 do not"),
        pytest.param("unique_by(length)", ["a", "bb", "c"], [["a", "bb"]], id="the first of each"),
        pytest.param("flatten, flatten(1)", [1, [2, [3]]], [[1, 2, 3], [1, 2, [3]]], id="flatten by depth"),
        pytest.param("reverse", None, [[]], id="null reversed is an empty array"),
        pytest.param('join("-")', ["a", 1.0, None, True], ["a-1--true"], id="join makes text of scalars"),
        pytest.param('split(", "), split("")', "a, b", [["a", "b"], ["a", ",", " ", "b"]], id="split"),
        pytest.param('ltrimstr("a"), rtrimstr("a"), ltrimstr("b")', "aba", ["ba", "ab", "aba"], id="trim"),
        pytest.param("trim, ltrim, rtrim", "\t a\x1f\u2003", ["a\x1f", "a\x1f\u2003", "\t a\x1f"], id="white space"),
        pytest.param(
            'getpath(["a", 0, "b"], ["a", 5, "b"], [])', {"a": [{"b": 1}]}, [1, None, {"a": [{"b": 1}]}], id="path"
        ),
        pytest.param(
            "(.a // {}) * .b * {d: {f: 1}}",
            {"a": {"c": [1], "d": {"e": 1}}, "b": {"c": [2], "d": {"e": None}}},
            [{"c": [2], "d": {"e": None, "f": 1}}],
            id="objects are merged at every depth, lists are not",
        ),
        pytest.param("(.a // {}) * .b", {"a": 3, "b": 2}, [6], id="what is no object after all is multiplied"),
        pytest.param('startswith("ab"), endswith("ab")', "abc", [True, False], id="ends of strings"),
        pytest.param("ascii_downcase, ascii_upcase", "Àb", ["Àb", "ÀB"], id="only ASCII letters change"),
        pytest.param('.[] | contains("ar")', ["bar", "foo"], [True, False], id="part of a string"),
        pytest.param('contains({a: ["b"]})', {"a": ["abc", 1], "x": 1}, [True], id="contains goes deep"),
        pytest.param('contains(["x"])', [["x"]], [False], id="but not deeper than asked"),
        pytest.param(
            ".[] | tonumber", ["12", "-1.50", "1e2", 3, ".5", "+7"], [12, -1.5, 100, 3, 0.5, 7], id="numerals"
        ),
        pytest.param(
            ".[] | tostring", ["a", 1.0, None, {"b": 1, "a": 2}], ["a", "1", "null", '{"a":2,"b":1}'], id="text"
        ),
        pytest.param("tojson", "a", ['"a"'], id="tojson quotes strings"),
        pytest.param(".[] | floor, ceil, round", [1.5, -1.5], [1, 2, 2, -2, -1, -2], id="rounding away from zero"),
        pytest.param("round", 0.49999999999999994, [0], id="the largest number below a half"),
        pytest.param("abs, fabs", -2.0, [2, 2], id="magnitude"),
        pytest.param(
            "map(type)",
            [None, True, 1, "", [], {}],
            [["null", "boolean", "number", "string", "array", "object"]],
            id="types",
        ),
        pytest.param(
            "[.[] | values], [.[] | scalars], [.[] | iterables]",
            [None, 1, []],
            [[1, []], [None, 1], [[]]],
            id="selections",
        ),
        pytest.param('test("^WORKER"; "i"), test("z"; null)', "worker-0", [True, False], id="test with flags"),
    ],
)
def test_function(text: str, value: JSON, expected: list[JSON]) -> None:
    assert run(text, value) == expected


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        pytest.param("length", True, "a boolean has no length", id="length of a boolean"),
        pytest.param("keys", "a", "a string has no keys", id="keys of a string"),
        pytest.param("to_entries", None, "null has no keys", id="entries of null"),
        pytest.param("has(0)", {}, "an object cannot have a number as a key", id="has with a wrong key"),
        pytest.param("map(.)", None, "cannot iterate over null", id="map over null"),
        pytest.param("add", [1, "a"], "a number and a string cannot be added", id="a mixed sum"),
        pytest.param("sort", {}, "sort needs a list, not an object", id="sort an object"),
        pytest.param("min", [2, "a"], "min compares values of one type, not number with string", id="types mixed"),
        pytest.param("max", [True, 0], "max compares values of one type, not boolean with number", id="true is no 1"),
        pytest.param("min_by(.a)", [1], "a number has no field 'a'", id="a key that fails"),
        pytest.param('join(",")', [{}], "join needs a string, not an object", id="join objects"),
        pytest.param("join(1)", ["a", "b"], "join needs a string, not a number", id="join with a number"),
        pytest.param("flatten(-1)", [], "a depth that is not negative", id="flatten upwards"),
        pytest.param("tonumber", " 5", "a string cannot be read as a number", id="a numeral with a space"),
        pytest.param("tonumber", "nan", "a string cannot be read as a number", id="no number is not a number"),
        pytest.param("floor", "1", "floor needs a number, not a string", id="floor of a numeral"),
        pytest.param("abs", "a", "abs needs a number", id="abs of a string"),
        pytest.param('startswith("a")', 1, "startswith needs a string, not a number", id="prefix of a number"),
        pytest.param("contains([])", "a", "a string cannot contain a list", id="contains of another type"),
        pytest.param("from_entries", [{"value": 1}], "null cannot be the key of an object", id="an entry without key"),
        pytest.param("from_entries", [1], "from_entries needs objects, not a number", id="an entry that is none"),
        pytest.param('error("too few pods")', 1, "^too few pods$", id="the author's own words"),
        pytest.param('.a // error("no pods")', {"a": None}, "^no pods$", id="a default that refuses"),
        pytest.param('test("a")', None, "test needs a string, not null", id="test of null"),
    ],
)
def test_wrong_types_are_errors_without_values(text: str, value: JSON, message: str) -> None:
    with pytest.raises(QueryEvaluationError, match=message):
        run(text, value)


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        pytest.param("+", {"a": 1, "b": 1}, {"b": 2}, {"a": 1, "b": 2}, id="the right object wins"),
        pytest.param("+", [1], [2], [1, 2], id="arrays are joined"),
        pytest.param("+", None, False, False, id="null is neutral"),
        pytest.param("+", 0.1, 0.2, 0.30000000000000004, id="doubles"),
        pytest.param("+", 2**53, 1, 2**53, id="no integers beyond doubles"),
        pytest.param("-", [1, True, [2], 1.0], [1, [2]], [True], id="elements are compared as jq compares"),
        pytest.param("*", 3, 0.5, 1.5, id="product"),
        pytest.param("*", 2**40, 2**40, 2.0**80, id="a product beyond 64 bits is a double"),
        pytest.param("/", 6, 3, 2, id="an integral quotient"),
        pytest.param("/", "a, b", ", ", ["a", "b"], id="a string is split"),
        pytest.param("%", 5.9, -3.9, 2, id="remainder of the integer parts"),
        pytest.param("%", -7, 3, -1, id="the sign is that of the dividend"),
        pytest.param(">=", [1], [1.0], True, id="not less"),
        pytest.param("!=", 1, True, True, id="different types"),
    ],
)
def test_operator(operator: str, left: JSON, right: JSON, expected: JSON) -> None:
    result = OPERATORS[operator](left, right)
    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("operator", "left", "right", "message"),
    [
        pytest.param("/", 1, 0, "cannot divide by zero", id="division by zero"),
        pytest.param("%", 1, 0.5, "cannot divide by zero", id="remainder of less than one"),
        pytest.param("*", "a", 3, "a string and a number cannot be multiplied", id="strings are not repeated"),
        pytest.param(
            "*", {}, {}, "an object and an object cannot be multiplied", id="objects only where one is written as such"
        ),
        pytest.param("*", 1e308, 10, "too large", id="no infinity"),
        pytest.param("+", True, True, "a boolean and a boolean cannot be added", id="booleans"),
        pytest.param("-", {}, {}, "an object and an object cannot be subtracted", id="objects"),
    ],
)
def test_operands_that_do_not_fit(operator: str, left: JSON, right: JSON, message: str) -> None:
    with pytest.raises(QueryEvaluationError, match=message):
        OPERATORS[operator](left, right)


def test_a_sum_of_many_strings_takes_linear_time() -> None:
    assert total(["ab"] * 200_000) == "ab" * 200_000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("contains([[1]])", [[0] * 200] * 200, id="deep comparison"),
        pytest.param("map(.)", [0] * 10_001, id="a large array"),
        pytest.param("to_entries", dict.fromkeys(map(str, range(10_001))), id="a large object"),
        pytest.param("sort", [0] * 10_001, id="sorting a large array"),
    ],
)
def test_work_is_limited(text: str, value: JSON) -> None:
    with pytest.raises(QueryLimitError):
        run(text, value)


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        pytest.param("[1][.]", math.inf, [None], id="no element is there"),
        pytest.param("[1, 2][:.]", math.inf, [[1, 2]], id="an open end"),
        pytest.param("[1, 2][.:]", 10**400, [[]], id="a start beyond all ends"),
        pytest.param("tostring", 10**400, ["1.7976931348623157e+308"], id="the largest double"),
    ],
)
def test_numbers_that_json_does_not_have(text: str, number: float, expected: list[JSON]) -> None:
    assert run(text, number) == expected


def test_plain_functions_are_named_with_their_arity() -> None:
    assert {("length", 0), ("map", 1), ("any", 2), ("test", 2), ("first", 0), ("first", 1)} <= FUNCTIONS.keys()
    assert not {("range", 1), ("env", 0), ("input", 0), ("recurse", 0), ("until", 2)} & FUNCTIONS.keys()
