"""Locations, and the expressions through which values can be written."""

import copy
import math
import operator
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import pytest
from hypothesis import assume, example, given, strategies as st

from karta_interpreter.base.errors import QueryEvaluationError, QueryWriteError
from karta_interpreter.base.k8s.edit import get, set_value
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.assign import Location, compile_trace
from karta_interpreter.languages.jq.compiled.compiler import compile_list
from karta_interpreter.languages.jq.compiled.values import order_key
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.languages.jq.expressions import objects, plain_expressions
from tests.languages.jq.oracle import compile_many
from tests.support.rows import rows


def trace(node: Node, value: JSON) -> list[tuple[JSON, Location | None]] | None:
    try:
        outputs = compile_trace(node)(value)
    except QueryEvaluationError:
        return None
    return [(output, origin if isinstance(origin, Location) else None) for output, origin in outputs]


def evaluate(node: Node, value: JSON) -> list[JSON] | None:
    try:
        return list(islice(compile_many(node)(value), 1000))
    except QueryEvaluationError:
        return None


def complaint(function: Callable[[JSON], object], value: JSON) -> str:
    try:
        function(value)
    except QueryEvaluationError as error:
        return str(error)
    return ""


def located(text: str, value: JSON) -> list[Location | None]:
    outputs = trace(parse(text), value)
    assert outputs is not None
    return [location for _, location in outputs]


@given(plain_expressions, objects)
@example(parse("map(.).a"), [1])
def test_tracing_changes_no_output_and_locations_read_it(node: Node, value: JSON) -> None:
    traced, outputs = trace(node, value), evaluate(node, value)
    assert complaint(compile_trace(node), value) == complaint(compile_list(node), value)
    for (own, location), output in zip(traced or [], outputs or [], strict=True):
        assert order_key(own) == order_key(output)
        if location:
            assert order_key(location.read(value)) == order_key(output)


REPLICAS, HOSTS = Location(("replicas",)), Location(("hosts",))
WORKERS = """
.groups[] | if .suspend == true then 0
  else ([([(.replicas // 0), (.min // 0)] | max), (.max // 9)] | min) * (.hosts // 1) end
"""


@rows(
    ("text", "value", "expected"),
    [
        pytest.param(".replicas", {}, [REPLICAS], id="a field that is absent"),
        pytest.param(".spec.x.replicas", None, [Location(("spec", "x", "replicas"))], id="absent parents"),
        pytest.param(".replicas // 1", {"replicas": 2}, [REPLICAS], id="a default that is not needed"),
        pytest.param(".replicas // 1", {"replicas": None}, [REPLICAS._replace(default=1)], id="a default"),
        pytest.param(".replicas // .hosts // 1", {}, [REPLICAS._replace(default=1)],
            id="of several the first is written"),
        pytest.param(".replicas // ((.hosts // 1) * 2)", {}, [REPLICAS._replace(default=2)],
            id="and not a factor of its default"),
        pytest.param("1 * (.x // empty) // .replicas // .hosts // 1", {}, [REPLICAS._replace(default=1)],
            id="the first that is a place"),
        pytest.param(".replicas // .hosts", {}, [HOSTS], id="without a default it is the last, as jq assigns"),
        pytest.param(".replicas // null", {"replicas": False}, [None], id="what is false is no place of null"),
        pytest.param(".replicas // [.hosts] | first", {}, [HOSTS], id="a new array is of its parts"),
        pytest.param(".x | (.a // (., 1)), .b", {"x": {"a": 5, "b": 2}}, [Location(("x", "a")), Location(("x", "b"))],
            id="a default that is the input is one only there"),
        pytest.param(".hosts // .replicas // 1", {"hosts": 2}, [HOSTS], id="the first one there is written"),
        pytest.param(".replicas // (2 + .n)", {"n": 1}, [REPLICAS._replace(default=3)], id="a computed default"),
        pytest.param(".x[].n // 1", {"x": [{}, {}]}, [None], id="one default for two elements has no place"),
        pytest.param(".x[].n // 1", {"x": [{}]}, [Location(("x", 0, "n"), 1)], id="of one element it has"),
        pytest.param(".x[].n // 1", {"x": [{}, {"n": 5}]}, [Location(("x", 1, "n"))], id="true outputs only"),
        pytest.param(".x[] | .n // 1", {"x": [{}, {"n": 5}]}, [Location(("x", 0, "n"), 1), Location(("x", 1, "n"))],
            id="each"),
        pytest.param("(.replicas // 1) * (.hosts // 1)", {"hosts": 4}, [REPLICAS._replace(default=1, factor=4)],
            id="product"),
        pytest.param("2 * .replicas", {"replicas": 3}, [REPLICAS._replace(factor=2)],
            id="the right factor, if the left has no place"),
        pytest.param(".replicas * ((.size // 1) - 1)", {"replicas": 3, "size": 4}, [REPLICAS._replace(factor=3)],
            id="a computed factor"),
        pytest.param(".replicas | . * 2 | . * 3", {"replicas": 1}, [REPLICAS._replace(factor=6)],
            id="factors multiply"),
        pytest.param(".replicas * 0.5", {"replicas": 4}, [None], id="a fraction is not a factor"),
        pytest.param(".replicas * -1", {"replicas": 4}, [None], id="nor is a negative number"),
        pytest.param(".replicas + 1", {"replicas": 4}, [None], id="a sum is computed"),
        pytest.param("1", {}, [None], id="a literal"),
        pytest.param("1, .replicas", {}, [None, REPLICAS], id="one of two"),
        pytest.param("if .suspend then 0 else .replicas end", {"suspend": True}, [None],
            id="the branch without a place"),
        pytest.param("if .suspend then 0 else .replicas end", {}, [REPLICAS], id="the branch with a place"),
        pytest.param("[.replicas, .hosts] | min", {"replicas": 5, "hosts": 3}, [REPLICAS._replace(cap=3)], id="a cap"),
        pytest.param("[.replicas, .hosts] | max", {"replicas": 5, "hosts": 3}, [REPLICAS._replace(floor=3)],
            id="a floor"),
        pytest.param("[.replicas, .hosts] | max", {"replicas": 5}, [REPLICAS], id="null is not a floor"),
        pytest.param("[3, .replicas] | min", {"replicas": 5}, [REPLICAS._replace(cap=3)], id="a cap in front"),
        pytest.param("[3, (.replicas // empty)] | min", {"replicas": 2}, [REPLICAS._replace(cap=3)], id="of an option"),
        pytest.param("[3, (.replicas // empty)] | min", {}, [None], id="which is not taken"),
        pytest.param("[9, .replicas, 3, 7] | min", {"replicas": 5}, [REPLICAS._replace(cap=3)], id="the least cap"),
        pytest.param("[7, .replicas, 3] | max", {"replicas": 5}, [REPLICAS._replace(floor=7)], id="the largest floor"),
        pytest.param("[.replicas, .hosts] | min", {"replicas": 5}, [None], id="null is the smallest"),
        pytest.param("[.replicas, (.hosts // empty)] | min", {"replicas": 5}, [REPLICAS], id="no other"),
        pytest.param('[.["replicas", "hosts"]] | min * 2', {"replicas": 5, "hosts": 3},
            [REPLICAS._replace(factor=2, cap=6)], id="bounds are scaled"),
        pytest.param(WORKERS, {"groups": [{"replicas": 2, "min": 1, "hosts": 4}]},
            [Location(("groups", 0, "replicas"), None, 4, 4, 36)], id="worker groups"),
        pytest.param(WORKERS, {"groups": [{"suspend": True}, {}]},
            [None, Location(("groups", 1, "replicas"), 0, 1, 0, 9)], id="suspended and default groups"),
        pytest.param(".m | to_entries[] | .value.n // 1", {"m": {"b": {}, "a": {}}},
            [Location(("m", "a", "n"), 1), Location(("m", "b", "n"), 1)], id="through entries"),
        pytest.param(".m | to_entries[] | .key", {"m": {"b": {}}}, [None], id="a key is no place"),
        pytest.param(".m | map(.n) | first, last", {"m": {"b": {}, "a": {}}},
            [Location(("m", "a", "n")), Location(("m", "b", "n"))], id="through map"),
        pytest.param(".x | first.n, last.n, .[-2].n", {"x": [{}, {}]}, [Location(("x", i, "n")) for i in (0, 1, 0)],
            id="ends of a list"),
        pytest.param("first(.x[]), last(.x[])", {"x": [1, 2]}, [Location(("x", 0)), Location(("x", 1))],
            id="ends of a generator"),
        pytest.param('first(.a // (.b, error("x")))', {}, [Location(("b",))], id="what comes later is not run"),
        pytest.param(".x[-1]", {"x": []}, [None], id="no last element"),
        pytest.param(".x[1:][]", {"x": [1, 2]}, [None], id="a slice is computed"),
        pytest.param(".x[] | select(.n > 1).n", {"x": [{"n": 1}, {"n": 2}]}, [Location(("x", 1, "n"))], id="selected"),
        pytest.param(".x[] | numbers", {"x": ["a", 1]}, [Location(("x", 1))], id="selected by type"),
        pytest.param(".x[.k]", {"x": {"n": 1}, "k": "n"}, [Location(("x", "n"))], id="a key of the object"),
        pytest.param(".x[.k]", {"k": 1.5}, [Location(("x", 1))], id="an index of the object"),
        pytest.param(".x[.k]", {"k": 0}, [Location(("x", 0))], id="the first index, of a list that is not there"),
        pytest.param(".x[.k]", {"k": math.inf}, [Location(("x", int(sys.float_info.max)))],
            id="one beyond all numbers"),
        pytest.param(".x?, .y.z?", {"y": 1}, [Location(("x",))], id="optional"),
        pytest.param(".n | tonumber", {"n": "3"}, [Location(("n",), numeral=True)], id="a numeral"),
        pytest.param(".n // 1 | tonumber", {}, [Location(("n",), 1, numeral=True)], id="what may become a numeral"),
        pytest.param('(.n // "4") | tonumber * 2', {}, [Location(("n",), "4", 2, numeral=True)],
            id="a default numeral"),
        pytest.param("(.spec // {}) | .n // 1", {}, [Location(("spec", "n"), 1)], id="a default object"),
    ],
)  # fmt: skip
def test_locations(text: str, value: JSON, expected: list[Location | None]) -> None:
    assert located(text, value) == expected


@rows(
    ("location", "value", "number", "expected"),
    [
        pytest.param(REPLICAS, {}, 3, {"replicas": 3}, id="a new field"),
        pytest.param(REPLICAS._replace(default=3), {}, 3, {}, id="the default needs no field"),
        pytest.param(REPLICAS._replace(default=3), {"replicas": None}, 0, {"replicas": 0}, id="zero is not absent"),
        pytest.param(REPLICAS._replace(factor=4), {"replicas": 1}, 12, {"replicas": 3}, id="divided"),
        pytest.param(REPLICAS._replace(factor=0), {"replicas": 7}, 0, {"replicas": 7}, id="already zero"),
        pytest.param(REPLICAS._replace(cap=3), {"replicas": 5}, 3, {"replicas": 5}, id="already capped"),
        pytest.param(REPLICAS._replace(cap=3), {"replicas": 5}, 2, {"replicas": 2}, id="below the cap"),
        pytest.param(REPLICAS._replace(numeral=True), {"replicas": "5"}, 2, {"replicas": "2"}, id="text stays text"),
        pytest.param(REPLICAS, {"replicas": "5"}, 2, {"replicas": "2"}, id="even if it is not read as a number"),
        pytest.param(REPLICAS, {"replicas": "5"}, 5, {"replicas": "5"}, id="which says it already"),
        pytest.param(REPLICAS._replace(numeral=True), {"replicas": 5}, 2, {"replicas": 2}, id="a number stays one"),
        pytest.param(REPLICAS._replace(default="1", factor=3, numeral=True), {}, 6, {"replicas": "2"},
            id="as the default is"),
        pytest.param(Location(("metadata", "annotations", "n"), default=1, numeral=True), {}, 2,
            {"metadata": {"annotations": {"n": "2"}}}, id="an annotation is text"),
        pytest.param(Location(("spec", "metadata", "labels", "n")), {"spec": {}}, 0,
            {"spec": {"metadata": {"labels": {"n": "0"}}}}, id="so is a label"),
        pytest.param(Location(("labels", "n")), {}, 2, {"labels": {"n": 2}}, id="other fields of that name are not"),
        pytest.param(Location(("a", 1, "n")), {"a": [1, {"n": 1}]}, 2, {"a": [1, {"n": 2}]}, id="inside of a list"),
    ],
)  # fmt: skip
def test_write(location: Location, value: JSON, number: int, expected: JSON) -> None:
    before = copy.deepcopy(value)
    assert location.write(value, number) == expected
    assert value == before


@rows(
    ("location", "value", "message"),
    [
        pytest.param(
            REPLICAS._replace(factor=2), {"replicas": 1}, "replicas .*give 7: it is not a multiple of 2", id="odd"
        ),
        pytest.param(REPLICAS._replace(factor=0), {"replicas": 1}, "it is multiplied by 0", id="times zero"),
        pytest.param(REPLICAS._replace(cap=6), {"replicas": 1}, "at most 6", id="above the cap"),
        pytest.param(REPLICAS._replace(floor=8.5), {"replicas": 1}, "at least 8.5", id="below the floor"),
        pytest.param(Location(()), 1, "the whole object", id="the whole object"),
        pytest.param(Location(("a", 1)), {"a": [1]}, "a is a list of 1", id="behind the end of a list"),
        pytest.param(Location(("a", "b")), {"a": False}, "a is a boolean", id="inside of a boolean"),
    ],
)
def test_values_that_cannot_be_written(location: Location, value: JSON, message: str) -> None:
    with pytest.raises(QueryWriteError, match=message):
        location.write(value, 7)


@dataclass(frozen=True)
class Formula:
    """The text of an expression that can be written through, and the fields it reads."""

    text: str
    names: frozenset[str]


def _leaf(name: str, default: int | None) -> Formula:
    return Formula(f".{name}" if default is None else f"(.{name} // {default})", frozenset({name}))


def _numeral(name: str, default: int) -> Formula:
    return Formula(f'(.{name} // "{default}" | tonumber)', frozenset({name}))


def _combined(form: str, *parts: Formula) -> Formula:
    return Formula(form.format(*(part.text for part in parts)), frozenset().union(*(part.names for part in parts)))


_TEXTS = "wxyz"
_forms = st.sampled_from(
    [
        "({0}) * ({1})",
        "([({0}), ({1})] | min)",
        "([({0}), ({1})] | max)",
        "if .flag then ({0}) else ({1}) end",
        "({0} | . * 2)",
        "first({0}, {1})",
        "({0}) * (({1}) + 1)",
        "[{0}, {1}][0]",
        "({0} | select(. != 77))",
    ]
)
formulas = st.recursive(
    st.builds(_leaf, st.sampled_from("abcdefgh"), st.integers(0, 5) | st.none())
    | st.builds(_numeral, st.sampled_from(_TEXTS), st.integers(0, 5)),
    lambda inner: st.builds(_combined, _forms, inner, inner),
    max_leaves=5,
)
_numbers = st.integers(0, 6)
_groups = st.builds(
    operator.or_,
    st.dictionaries(st.sampled_from([*"abcdefgh", "flag"]), _numbers | st.none(), max_size=9),
    st.dictionaries(st.sampled_from(_TEXTS), _numbers.map(str) | st.none(), max_size=4),
)


@given(formulas, st.lists(_groups, min_size=1, max_size=3), st.data())
def test_numbers_in_reach_can_be_written(formula: Formula, groups: list[JSON], data: st.DataObject) -> None:
    node = parse(f".groups[] | {formula.text}")
    value = {"groups": groups}
    outputs = trace(node, value)
    assume(outputs is not None and len(outputs) == len(groups))
    assert outputs is not None
    index = data.draw(st.integers(0, len(outputs) - 1))
    _, location = outputs[index]
    assume(location is not None and formula.text.count(f".{location.path[-1]}") == 1)
    assert location is not None
    number = location.read(set_value(value, location.path, data.draw(_numbers)))
    before = copy.deepcopy(value)
    written = location.write(value, number)
    assert value == before
    assert [*_other(evaluate(node, written), index)] == [*_other(evaluate(node, value), index)]
    assert (evaluate(node, written) or [])[index] == number
    field = str(location.path[-1])
    assert written is value or isinstance(get(written, location.path), str) is (field in _TEXTS), "in its own form"


def _other(outputs: list[JSON] | None, index: int) -> list[JSON]:
    return [output for position, output in enumerate(outputs or []) if position != index]


@given(formulas, st.lists(_groups, min_size=1, max_size=3))
def test_complete_formula_has_no_place_without_value(formula: Formula, groups: list[JSON]) -> None:
    query, value = Query.compile(f".groups[] | {formula.text}"), {"groups": groups}
    if query.is_complete(value):
        with suppress(QueryEvaluationError):
            assert all(place is None or place.raw(value) is not None for place in query.locate_each(value))


@rows(
    ("location", "number", "written"),
    [
        pytest.param(Location(("n",), factor=2, floor=3), 3, 1, id="two is below the floor of three"),
        pytest.param(Location(("n",), factor=2, cap=3), 3, 2, id="four is above the cap of three"),
        pytest.param(Location(("n",), factor=2, floor=3), 4, 2, id="above the floor it is a multiple"),
    ],
)
def test_bound_is_reached_without_being_a_multiple(location: Location, number: int, written: int) -> None:
    document = location.write({"n": 9 if location.floor else 0}, number)
    assert document == {"n": written}
    assert location.read(document) == number


def test_absent_value_reads_as_floor() -> None:
    assert Location(("n",), factor=3, floor=6).read({}) == 6, "([.n, 2] | max) * 3"
