"""Queries: the whole way from text to results, and back into the object."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import jq
import pytest
from hypothesis import given

from karta_interpreter.base.errors import (
    QueryEvaluationError,
    QueryLimitError,
    QueryReferenceError,
    QueryRefusedError,
    QuerySyntaxError,
    QueryWriteError,
)
from karta_interpreter.base.k8s.values import JSON, Path
from karta_interpreter.base.sandbox import close_pools
from karta_interpreter.base.sandbox.deadline import deadline
from karta_interpreter.languages.jq import MOST_OUTPUTS, Execution, Query, Unresolved
from karta_interpreter.languages.jq.compiled.values import to_json
from karta_interpreter.languages.jq.query import quoted
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.printer import render
from tests.languages.jq.expressions import objects, plain_expressions
from tests.support.rows import rows

RAY = """.spec.workerGroupSpecs[]
  | if .suspend == true then 0
    else ([([(.replicas // 0), (.minReplicas // 0)] | max), (.maxReplicas // 2147483647)] | min) * (.numOfHosts // 1)
    end"""
JOB_SET = """.spec.replicatedJobs[]
  | (.replicas // 1) * ([(.template.spec.parallelism // 1), (.template.spec.completions // empty)] | min)"""
LWS = "(.spec.replicas // 1) * ((.spec.leaderWorkerTemplate.size // 1) - 1)"


@rows(
    ("text", "value", "expected"),
    [
        pytest.param(".a // 1", {}, [1], id="plain, one output"),
        pytest.param(".a[]", {"a": [1, 2]}, [1, 2], id="plain, several outputs"),
        pytest.param("reduce .a[] as $x (0; . + $x)", {"a": [1, 2]}, [3], id="bounded"),
        pytest.param("reduce .a[] as $x (0; . + $x)", {}, [0], id="bounded reads null as nothing too"),
        pytest.param(
            ". as $o | .a | keys[] as $k | $o.a[$k]", {"a": {"c": 1, "b": 2}}, [2, 1], id="bounded, sorted keys"
        ),
        pytest.param(". as $x | $x.a | tostring", {"a": 1.0}, ["1"], id="bounded, normal numbers"),
        pytest.param(".a | # a comment\n tostring", {"a": 2}, ["2"], id="a comment"),
    ],
)
def test_evaluate(text: str, value: JSON, expected: list[JSON]) -> None:
    query = Query.compile(text)
    assert query.is_plain is not text.startswith((". as", "reduce"))
    assert query.evaluate(value) == expected
    assert query.first(value) == expected[0]


def test_first_of_no_outputs_is_none() -> None:
    assert Query.compile("empty").first({}) is None


def test_query_keeps_text_tree_and_verdict() -> None:
    query = Query.compile(".a|.b")
    assert (query.text, render(query.node), query.vetting.verdict) == (".a|.b", ".a | .b", Execution.PLAIN)
    assert query == Query.compile(".a|.b")
    assert query != Query.compile(".a | .b")
    with pytest.raises(AttributeError):
        query.text = ".c"  # type: ignore[misc] # that it fails is the point


def test_expressions_of_the_same_text_are_compiled_once() -> None:
    first, second = Query.compile(".a.b.c // 7"), Query.compile(".a.b.c // 7")
    assert first._program is second._program  # noqa: SLF001 - nothing else shows it
    assert first._program is not Query.compile(".a.b.c // 8")._program  # noqa: SLF001


def test_many_threads_may_be_the_first_to_ask() -> None:
    texts = [f".items[] | select(.n > {n}) | .n * {n} + {n}" for n in range(30)]
    value = {"items": [{"n": n} for n in range(40)]}
    with ThreadPoolExecutor(8) as threads:
        for n, text in enumerate(texts):
            query = Query.compile(text)
            expected = [item * n + n for item in range(n + 1, 40)]
            assert all(found == expected for found in threads.map(query.evaluate, [value] * 16))


@rows(
    ("text", "error", "message"),
    [
        pytest.param(".a |", QuerySyntaxError, "expected", id="no jq"),
        pytest.param(".a = 1", QueryRefusedError, r"^\.a = 1: .*=", id="an assignment"),
        pytest.param("env.HOME, input", QueryRefusedError, "env.*; .*input", id="every reason is there"),
        pytest.param("lenght", QueryRefusedError, "lenght", id="an unknown function"),
    ],
)
def test_expressions_that_cannot_be_used(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Query.compile(text)


def test_field_of_a_list_leads_to_its_elements() -> None:
    with pytest.raises(
        QueryEvaluationError, match=r"^\.sets\.count: a list has no field 'count': `\[\]` gives its elements$"
    ):
        Query.compile(".sets.count").evaluate({"sets": [{"count": 1}]})


@rows(
    ("text", "message"),
    [
        pytest.param(".password.x", r"^\.password\.x: a string has no field 'x'$", id="plain"),
        pytest.param(
            ". as $x | .password + 1",
            r"^\. as \$x \| \.password \+ 1: string and number cannot be added$",
            id="bounded",
        ),
        pytest.param(".[.password].x", r"has no field 'x'$", id="a key of the object"),
    ],
)
def test_errors_have_the_expression_and_nothing_of_the_object(text: str, message: str) -> None:
    with pytest.raises(QueryEvaluationError, match=message) as caught:
        Query.compile(text).evaluate({"password": "hunter2", "hunter2": 1})
    assert "hunter2" not in str(caught.value)


def test_long_expressions_are_cut_in_messages() -> None:
    with pytest.raises(QueryEvaluationError) as caught:
        Query.compile(".a" + " | .a" * 100).evaluate({"a": 1})
    assert len(str(caught.value)) < 300


@rows("text", [".a[]", "map(.a[])[]", ". as $x | $x.a[]"])
def test_999_results_are_the_most(text: str) -> None:
    text = text.replace("map(.a[])", "[.a[]]")
    query = Query.compile(text)
    assert len(query.evaluate({"a": [0] * 999})) == 999
    with pytest.raises(QueryLimitError, match="more than 999 results"):
        query.evaluate({"a": [0] * 1000})


@rows("text", [".a[], .b[]", ". as $x | $x.a[], $x.b[]"])
def test_most_results_are_those_of_the_place(text: str) -> None:
    value: dict[str, JSON] = {"a": [0] * 6000, "b": [0] * 4000}
    query, few = Query.compile(text, most=MOST_OUTPUTS), Query.compile(text)
    assert len(query.evaluate(value)) == 10_000
    with pytest.raises(QueryLimitError, match="more than 10000 results"):
        query.evaluate({**value, "b": [0] * 4001})
    with pytest.raises(QueryLimitError, match="more than 999 results"):
        few.evaluate(value)


def test_too_deep_object_is_a_limit() -> None:
    deep: JSON = 1
    for _ in range(5000):
        deep = [deep]
    for text in ("tojson", ". < [[1]]", ". as $x | 1"):
        with pytest.raises(QueryLimitError, match="too deep"):
            Query.compile(text).evaluate(deep)


def test_text_that_is_no_unicode_is_an_error() -> None:
    with pytest.raises(QueryEvaluationError, match="not Unicode"):
        Query.compile(". as $x | 1").evaluate("\ud800")


def test_deadline_holds_for_expressions_in_workers() -> None:
    endless = Query.compile("def f: f; f")
    with deadline(0.1), pytest.raises(QueryLimitError, match=r"^def f: f; f: it takes longer than"):
        endless.evaluate(None)
    with deadline(0), pytest.raises(QueryLimitError, match="no time left"):
        endless.evaluate(None)


def test_closing_does_not_end_the_use_of_queries() -> None:
    query = Query.compile(". as $x | $x")
    assert query.evaluate(1) == [1]
    close_pools()
    assert query.evaluate(2) == [2]
    close_pools()


@rows(
    ("text", "value", "number", "index", "expected"),
    [
        pytest.param(".spec.replicas // 1", {}, 3, 0, {"spec": {"replicas": 3}}, id="default"),
        pytest.param(".a // .b // 1", {"b": 2}, 3, 0, {"b": 3}, id="second choice"),
        pytest.param("(.a // 1) * (.b // 1)", {"b": 4}, 8, 0, {"a": 2, "b": 4}, id="product"),
        pytest.param(".spec.x.replicas", {"spec": {}}, 0, 0, {"spec": {"x": {"replicas": 0}}}, id="to zero"),
        pytest.param(LWS, {"spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 4}}}, 9, 0,
            {"spec": {"replicas": 3, "leaderWorkerTemplate": {"size": 4}}}, id="workers of a LeaderWorkerSet"),
        pytest.param(JOB_SET,
            {"spec": {"replicatedJobs": [{}, {"replicas": 2, "template": {"spec": {"parallelism": 3}}}]}}, 9, 1,
            {"spec": {"replicatedJobs": [{}, {"replicas": 3, "template": {"spec": {"parallelism": 3}}}]}},
            id="pods of a JobSet"),
        pytest.param(RAY,
            {"spec": {"workerGroupSpecs": [{"suspend": True}, {"replicas": 1, "numOfHosts": 2, "maxReplicas": 5}]}}, 8,
            1, {"spec": {"workerGroupSpecs": [{"suspend": True}, {"replicas": 4, "numOfHosts": 2, "maxReplicas": 5}]}},
            id="workers of a RayCluster"),
        pytest.param(".spec.services | to_entries[] | .value.replicas // 1",
            {"spec": {"services": {"b": {}, "a": {"x": 1}}}}, 2, 0,
            {"spec": {"services": {"b": {}, "a": {"x": 1, "replicas": 2}}}}, id="a service by its name"),
    ],
)  # fmt: skip
def test_write_a_number(text: str, value: JSON, number: int, index: int, expected: JSON) -> None:
    before = copy.deepcopy(value)
    query = Query.compile(text)
    solved = written(query, value, number, index)
    assert solved == expected
    assert query.evaluate(solved)[index] == number
    assert value == before


def written(query: Query, value: JSON, number: int, index: int = 0) -> JSON:
    location = query.locate_each(value)[index]
    assert location
    return location.write(value, number)


def test_writing_the_number_that_is_there_changes_nothing() -> None:
    value = {"spec": {"replicas": 2}}
    assert written(Query.compile(".spec.replicas // 1"), value, 2) is value


@rows(
    ("text", "value", "message"),
    [
        pytest.param("1", {}, "^1: output 1 of 1 is not read from one place", id="a literal"),
        pytest.param("if .suspend then 0 else .n end", {"suspend": True}, "not read from one place", id="suspended"),
        pytest.param("label $x | .a", {}, "too complex", id="bounded"),
        pytest.param(".a[1:][]", {"a": [1, 2]}, "not read from one place", id="a slice"),
    ],
)
def test_paths_of_computed_value_are_refused(text: str, value: JSON, message: str) -> None:
    with pytest.raises(QueryWriteError, match=message):
        Query.compile(text).paths(value)


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        pytest.param(RAY, {"spec": {"workerGroupSpecs": [{"maxReplicas": 5}]}}, "at most 5", id="above the cap"),
        pytest.param(".a * .b", {"a": 1, "b": 2}, "a cannot be set to give 7: it is not a multiple of 2", id="odd"),
    ],
)
def test_impossible_write_is_refused(text: str, value: JSON, message: str) -> None:
    with pytest.raises(QueryWriteError, match=message):
        written(Query.compile(text), value, 7)


def test_paths_need_a_place_for_every_output() -> None:
    query = Query.compile(".x[] | if .n then .n else 1 end")
    value = {"x": [{"n": 1}, {}]}
    assert [location and location.path for location in query.locate_each(value)] == [("x", 0, "n"), None]
    with pytest.raises(QueryWriteError, match="output 2 of 2"):
        query.paths(value)


def test_locating_what_fails_is_an_evaluation_error() -> None:
    with pytest.raises(QueryEvaluationError, match=r"^\.a\.b: a number has no field 'b'"):
        Query.compile(".a.b").paths({"a": 1})


@rows(
    ("text", "value", "expected"),
    [
        pytest.param(".a.b", {}, [("a", "b")], id="an absent field"),
        pytest.param(".a[].b", {"a": [{}, {}]}, [("a", 0, "b"), ("a", 1, "b")], id="each"),
        pytest.param(".a[].b", {}, [], id="none"),
        pytest.param(".a // .b", {"a": None}, [("b",)], id="the right one"),
        pytest.param(".a, .b.c", None, [("a",), ("b", "c")], id="two"),
        pytest.param(".a | select(.x) | .y", {"a": {"x": 1}}, [("a", "y")], id="selected"),
        pytest.param(".", {}, [()], id="the object"),
        pytest.param(".a[-1]", {"a": [1, 2]}, [("a", 1)], id="counted from the start"),
        pytest.param(". as $x | .a", {}, [("a",)], id="beside a variable"),
        pytest.param(".a[] as $x | $x.b", {"a": [{}, {}]}, [("a", 0, "b"), ("a", 1, "b")], id="of a variable"),
        pytest.param(". as $x | .a | $x.b", {}, [("b",)], id="of an outer input"),
        pytest.param(".a as $x | (.b as $x | $x) | $x", {}, [("a",)], id="of a variable that another one hides"),
        pytest.param("reduce .k[] as $x (.; .[$x])", {"k": ["a", "b"]}, [("a", "b")], id="down a list of keys"),
    ],
)
def test_paths(text: str, value: JSON, expected: list[Path]) -> None:
    assert Query.compile(text).paths(value) == expected


@rows("text", ["1", ".a // 1", ".a * 2", "[.a, 3] | min", "{a: 1} | .a", "label $x | .a"])
def test_values_are_no_paths(text: str) -> None:
    with pytest.raises(QueryWriteError):
        Query.compile(text).paths({"a": 0} if "*" in text else {})


_PATHS = [
    ".a.b",
    ".a[]?",
    ".a[]?.b?",
    ".a // .b",
    "first(.a, .b)",
    "if .a then .b else .key end",
    ".value | select(. != null)",
]


@given(objects)
def test_paths_are_those_of_libjq(value: JSON) -> None:
    for text in _PATHS:
        try:
            expected = [tuple(path) for path in jq.compile(f"path({text})").input_text(to_json(value))]
        except ValueError:
            with pytest.raises(QueryEvaluationError):
                Query.compile(text).paths(value)
        else:
            assert Query.compile(text).paths(value) == expected


@rows(
    ("text", "value", "expected"),
    [
        pytest.param(".spec.suspend", {}, {"spec": {"suspend": True}}, id="parents are created"),
        pytest.param(".a[].b", {"a": [{}, {"b": 1}]}, {"a": [{"b": True}, {"b": True}]}, id="at all places"),
        pytest.param(".a[].b", {"x": 1}, {"x": 1}, id="at no place"),
        pytest.param(".", {"x": 1}, True, id="everything"),
    ],
)
def test_assign(text: str, value: JSON, expected: JSON) -> None:
    before = copy.deepcopy(value)
    assert Query.compile(text).assign(value, True) == expected
    assert value == before


def test_assign_refuses_what_is_no_place() -> None:
    with pytest.raises(QueryWriteError, match=r"^\.a\[2\]: cannot write a\[2\]: a is a list of 1"):
        Query.compile(".a[2]").assign({"a": [1]}, True)
    with pytest.raises(QueryWriteError, match="more than the value"):
        Query.compile(".a // 1").assign({}, True)


@given(plain_expressions, objects)
def test_expression_answers_or_error_quotes_it(node: Node, value: JSON) -> None:
    query = Query.compile(render(node))
    outcome = _outcome(query, value)
    assert (
        len(outcome) <= 999 if isinstance(outcome, list) else outcome.startswith((quoted(query.text)[:80], "refused"))
    )


def _outcome(query: Query, value: JSON) -> list[JSON] | str:
    try:
        return query.evaluate(value)
    except QueryEvaluationError as error:
        return str(error)


_RUNTIME = frozenset({"runtime"})


@rows(
    ("text", "value", "expected"),
    [
        pytest.param("$runtime.n", {}, [2], id="a field of it"),
        pytest.param(".n // $runtime.n", {"n": 7}, [7], id="not needed"),
        pytest.param("$runtime.jobs[] | .name", {}, ["a", "b"], id="its elements"),
        pytest.param("{own: .n, other: $runtime.n}", {"n": 7}, [{"own": 7, "other": 2}], id="beside the object"),
        pytest.param("reduce $runtime.jobs[] as $job (.n; . + $job.n)", {"n": 1}, [6], id="in a worker process"),
        pytest.param(".a[] | . + $runtime.n", {"a": [1, 2]}, [3, 4], id="many times, in a worker process"),
    ],
)
def test_variables_have_the_values_that_they_are_given(text: str, value: JSON, expected: list[JSON]) -> None:
    runtime = {"n": 2, "jobs": [{"name": "a", "n": 3}, {"name": "b", "n": 2}]}
    assert Query.compile(text, _RUNTIME).bound({"runtime": runtime, "other": 1}).evaluate(value) == expected


@rows(
    "text",
    [
        pytest.param("$runtime.n", id="read"),
        pytest.param("$runtime.n // 1", id="with a default"),
        pytest.param("[$runtime.n?]", id="where errors are caught"),
        pytest.param(". as $x | try $runtime catch 1", id="in a worker process"),
    ],
)
@rows(
    ("values", "reason"),
    [
        pytest.param({}, r"the reference \$runtime has no value: it was not looked up", id="nobody looked"),
        pytest.param({"runtime": Unresolved("it is secret")}, "it is secret", id="not to be known"),
    ],
)
def test_variable_without_value_is_an_error(text: str, values: dict[str, JSON], reason: str) -> None:
    with pytest.raises(QueryReferenceError, match=reason):
        Query.compile(text, _RUNTIME).bound(values).evaluate({})


def test_variable_that_is_not_read_needs_no_value() -> None:
    assert Query.compile(".n // $runtime.n", _RUNTIME).evaluate({"n": 3}) == [3]


def test_queries_with_other_values_are_others() -> None:
    query = Query.compile("$runtime", _RUNTIME)
    assert query.bound({"runtime": 1}) == query.bound({"runtime": 1}) != query.bound({"runtime": 2})
    assert Query.compile(".a", _RUNTIME).bound({"runtime": 1}) == Query.compile(".a")


def test_writing_knows_the_values_and_leaves_them_alone() -> None:
    runtime = {"n": 2, "hosts": 4}
    query = Query.compile("(.n // $runtime.n) * $runtime.hosts", _RUNTIME).bound({"runtime": runtime})
    assert query.evaluate({}) == [8]
    assert written(query, {}, 12) == {"n": 3}
    assert runtime == {"n": 2, "hosts": 4}
    with pytest.raises(QueryWriteError):
        Query.compile("$runtime.n", _RUNTIME).bound({"runtime": runtime}).paths({})


def test_undeclared_variable_is_refused() -> None:
    with pytest.raises(QueryRefusedError, match=r"there is no variable `\$runtme` here"):
        Query.compile("$runtme.n", _RUNTIME)


def test_expression_refuses_in_its_own_words() -> None:
    query = Query.compile('if .n > 3 then error("at most three") else .n end')
    assert query.is_plain
    assert query.evaluate({"n": 2}) == [2]
    with pytest.raises(QueryEvaluationError, match=r"^at most three$"):
        query.evaluate({"n": 4})
    with pytest.raises(QueryEvaluationError, match=r"^definition mill, replicasPath: at most three$"):
        replace(query, place="definition mill, replicasPath").evaluate({"n": 4})
