"""Plain expressions against libjq, and where they differ on purpose."""

from itertools import islice

import pytest
from hypothesis import given, reject

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.jq.compiled.compiler import Outputs, compile_list, compile_one
from karta_interpreter.jq.compiled.values import order_key
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.parser import parse
from karta_interpreter.k8s.values import JSON
from tests.jq.expressions import objects, plain_expressions
from tests.jq.oracle import compile_many, libjq

JOB_SET = {
    "spec": {
        "suspend": False,
        "replicatedJobs": [
            {"name": "driver", "template": {"spec": {"parallelism": 1}}},
            {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 4, "completions": 3}}},
        ],
        "services": {"b": {"replicas": 3}, "a": {"multinode": {"nodeCount": 2}}},
    },
    "status": {"conditions": [{"type": "Completed", "status": "True"}, {"type": "Suspended"}]},
}


def run(node: Node, value: JSON) -> list[JSON] | None:
    try:
        return list(islice(compile_many(node)(value), 1000))
    except QueryLimitError:
        reject()  # to libjq every piece may be repeated in a text
    except QueryEvaluationError:
        return None


def comparable(outputs: list[JSON] | None) -> list[JSON] | None:
    return None if outputs is None else [order_key(output) for output in outputs]


@given(plain_expressions, objects)
def test_every_plain_expression_gives_what_libjq_gives(node: Node, value: JSON) -> None:
    assert comparable(run(node, value)) == comparable(libjq(node, value))


@given(plain_expressions, objects)
def test_a_list_and_the_only_output_are_what_the_generator_gives(node: Node, value: JSON) -> None:
    expected, only = run(node, value), compile_one(node)
    assert comparable(attempted(compile_list(node), value)) == comparable(expected)
    if only:
        assert comparable(attempted(lambda here: [only(here)], value)) == comparable(expected)


def attempted(outputs: Outputs, value: JSON) -> list[JSON] | None:
    try:
        return outputs(value)
    except QueryEvaluationError:
        return None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(".[]", [0] * 1000, id="one for each element"),
        pytest.param(".[], .[]", [0] * 500, id="in two loops"),
        pytest.param(".[] | .a, .b", [{}] * 500, id="several for each element"),
        pytest.param(".[] | .a", [{}] * 1000 + [1], id="before anything fails"),
    ],
)
def test_a_list_has_at_most_999_outputs(text: str, value: list[JSON]) -> None:
    outputs = compile_list(parse(text))
    assert len(outputs(value[:400])) >= 400
    with pytest.raises(QueryLimitError, match="it gives more than 999 results"):
        outputs(value)


@pytest.mark.parametrize(
    ("repeated", "expected"),
    [
        pytest.param("é" * 256, ["é" * 256 + "-1"], id="a text"),
        pytest.param(7, ["7-1"], id="a number"),
        pytest.param(None, ["null-1"], id="null"),
        pytest.param("x" * 257, None, id="a long text"),
        pytest.param([1], None, id="a list"),
        pytest.param({}, None, id="an object"),
    ],
)
@pytest.mark.parametrize("text", ['"\\(.a)-\\(.b[])"', '"\\(.a)-\\(.b[])\\("", empty)"'])
def test_repeated_piece_of_text_is_short(text: str, repeated: JSON, expected: list[JSON] | None) -> None:
    outputs = compile_list(parse(text))
    assert outputs({"a": repeated}) == []
    if expected is None:
        with pytest.raises(QueryLimitError, match=r"is repeated in several texts; a text of 256 characters can be"):
            outputs({"a": repeated, "b": [1]})
    else:
        assert outputs({"a": repeated, "b": [1]}) == expected


@pytest.mark.parametrize("text", [".[] | .a", ".[].a", ".[] | [.a, 1] | .[0]", ".[] | .a // .b", ".[] | .a?, .a"])
def test_an_error_before_there_are_too_many_outputs_is_that_error(text: str) -> None:
    with pytest.raises(QueryEvaluationError, match="a number has no field 'a'"):
        compile_list(parse(text))([{"a": 0}] * 400 + [1] + [{"a": 0}] * 2000)


def test_outputs_are_computed_when_they_are_asked_for() -> None:
    outputs = compile_many(parse(".[] | .a"))([{"a": 1}, {"a": 2}, 3])
    assert [next(outputs), next(outputs)] == [1, 2]
    with pytest.raises(QueryEvaluationError, match="a number has no field 'a'"):
        next(outputs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(".spec.replicatedJobs[].name", ["driver", "workers"], id="names"),
        pytest.param(".spec.replicatedJobs[] | .replicas // 1", [1, 2], id="a default for each element"),
        pytest.param(".spec.replicatedJobs[].replicas // 1", [2], id="one default for a generator"),
        pytest.param(".spec.nothing[].replicas // 7", [7], id="the default of a generator without output"),
        pytest.param(
            ".spec.replicatedJobs[] | (.replicas // 1)"
            " * ([(.template.spec.parallelism // 1), (.template.spec.completions // empty)] | min)",
            [1, 6],
            id="pods of a JobSet",
        ),
        pytest.param(".spec.services | to_entries[] | .key", ["a", "b"], id="objects in the order of keys"),
        pytest.param(".spec.services[] | (.replicas // 1) * (.multinode.nodeCount // 1)", [2, 3], id="a product"),
        pytest.param('.status.conditions[] | select(.status == "True").type', ["Completed"], id="selected"),
        pytest.param("if .spec.suspend then 0 else 5 end", [5], id="a choice"),
        pytest.param(".spec | {suspend, n: (.replicatedJobs | length)}", [{"suspend": False, "n": 2}], id="an object"),
        pytest.param(
            '"\\(.spec.suspend)-\\(.spec.replicatedJobs[].name)"', ["false-driver", "false-workers"], id="text"
        ),
        pytest.param(
            '.spec.replicatedJobs[] | "\\(.name)-\\(.template | .spec | keys[])"',
            ["driver-parallelism", "workers-completions", "workers-parallelism"],
            id="text of lists within a list",
        ),
        pytest.param(
            '"\\(1, 2)-\\(.spec.replicatedJobs[].name)-\\(.spec.suspend)"',
            ["1-driver-false", "2-driver-false", "1-workers-false", "2-workers-false"],
            id="the first piece of a text is the inner loop",
        ),
        pytest.param(".spec.replicatedJobs[-1:][0].name", ["workers"], id="from the end"),
        pytest.param('.status.conditions | any(.type == "Suspended")', [True], id="any"),
    ],
)
def test_expressions_as_definitions_use_them(text: str, expected: list[JSON]) -> None:
    node = parse(text)
    assert run(node, JOB_SET) == expected
    assert comparable(libjq(node, JOB_SET)) == comparable(expected)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        pytest.param(".a[]", {}, [], id="iterating over null gives nothing"),
        pytest.param("[.a[].b]", {"a": None}, [[]], id="inside of an array too"),
        pytest.param("null | .[] // 1", None, [1], id="so a default applies"),
        pytest.param(".a", {"a": 2**53 + 1}, [2**53 + 1], id="a number that is passed on keeps its digits"),
        pytest.param(".a + 0", {"a": 2**53 + 1}, [2**53], id="a computed one is a double"),
        pytest.param("-0 | tostring", None, ["0"], id="one zero"),
        pytest.param("1e17 | tostring", None, ["100000000000000000"], id="numbers printed as gojq prints them"),
        pytest.param('"a\\n" | test("a$")', None, [False], id="$ is the end of the text"),
    ],
)
def test_differences_to_libjq(text: str, value: JSON, expected: list[JSON]) -> None:
    assert run(parse(text), value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("first((1, error) // 2)", [1], id="an error behind the first output is never reached"),
        pytest.param("[(1, error, 2)?]", [[1]], id="outputs before an error are kept"),
        pytest.param(".a?", [], id="a wrong type"),
        pytest.param('"x" | (.a | .b)?', [], id="an error anywhere inside"),
        pytest.param("error + empty", [], id="the right operand comes first"),
        pytest.param("false and error, (true or error)", [False, True], id="the left side decides"),
        pytest.param("empty | error", [], id="nothing to fail on"),
        pytest.param("{a: empty, b: error}", [], id="no entry, no object"),
    ],
)
def test_laziness(text: str, expected: list[JSON]) -> None:
    text = text.replace("error", '("" | .x)')
    assert run(parse(text), 1) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("1, .a", "a number has no field 'a'", id="an error discards earlier outputs"),
        pytest.param(".[]", "cannot iterate over a number", id="iterating over a number"),
        pytest.param(".a // 1", "a number has no field 'a'", id="a default does not hide an error"),
        pytest.param("{(.): 1}", "a number cannot be the key of an object", id="a key that is no string"),
        pytest.param('.["a", 0]', "a number has no field|cannot be indexed", id="computed keys"),
        pytest.param(".[1:]", "a number cannot be sliced", id="a slice of a number"),
        pytest.param('"ab" | .["x":]', "a string cannot be the bound of a slice", id="a bound that is no number"),
        pytest.param("-true", "a boolean cannot be negated", id="negation"),
    ],
)
def test_errors_name_types(text: str, message: str) -> None:
    with pytest.raises(QueryEvaluationError, match=message):
        list(compile_many(parse(text))(1))


def test_a_limit_cannot_be_caught() -> None:
    with pytest.raises(QueryLimitError, match="more than 10000 elements"):
        list(compile_many(parse("[.[]?]"))([0] * 10_001))


def test_results_are_shared_with_the_object_not_copied() -> None:
    (job,) = compile_many(parse(".spec.replicatedJobs[0]"))(JOB_SET)
    assert job is JOB_SET["spec"]["replicatedJobs"][0]  # type: ignore[index] # the literal above has it


@pytest.mark.parametrize(
    "text", ["try error catch .", "@base64", '@uri "\\(.)"', ". as $x | $x", "range(3)", 'test("a"; .b)', "def f: 1; f"]
)
def test_what_is_not_plain_is_not_compiled(text: str) -> None:
    with pytest.raises(ValueError, match="is not plain"):
        compile_many(parse(text))
