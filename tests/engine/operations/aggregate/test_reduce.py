"""The rules of the aggregate annotation."""

import math
import sys
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.annotations import AggregateRule
from karta_interpreter.engine.operations.aggregate.reduce import is_end, is_time, reduce_values
from tests.support.rows import rows

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:30:00+00:00"


@rows(
    ("rule", "values", "expected"),
    [
        pytest.param("sum", [1, 2, 3], 6, id="counters stay integers"),
        pytest.param("sum", ["500m", "1"], "1500m", id="quantities add exactly"),
        pytest.param("sum", ["1Gi", "512Mi"], "1536Mi", id="binary quantities stay binary"),
        pytest.param("sum", ["2", 1], "3", id="a quantity may be a number"),
        pytest.param("max", [1, 7, 3], 7, id="largest number"),
        pytest.param("max", ["1Gi", "900Mi"], "1Gi", id="largest quantity, as it was written"),
        pytest.param("min", ["1Gi", "900Mi"], "900Mi", id="smallest quantity"),
        pytest.param("max", ["59m0s", "1h0m0s", "12.5s"], "1h0m0s", id="longest duration, as it was written"),
        pytest.param("min", ["1.5s", "1500ms", "2m0s"], "1.5s", id="shortest duration"),
        pytest.param("max", ["5m", "4"], "4", id="5m is five thousandths, for Go ends durations with s"),
        pytest.param("sum", ["", "2", ""], "2", id="empty text is not a quantity"),
        pytest.param("max", ["", "2"], "2", id="nor the largest"),
        pytest.param("latest", ["", EARLY], EARLY, id="nor a time"),
        pytest.param("any", [False, True], True, id="one true is enough"),
        pytest.param("any", [False, False], False, id="none is true"),
        pytest.param("all", [True, False], False, id="one false is too many"),
        pytest.param("all", [True, True], True, id="all true"),
        pytest.param("first", ["b", "a"], "b", id="the first cluster's, whatever it is"),
        pytest.param("concat", [[1], [1, 2]], [1, 1, 2], id="lists keep their duplicates"),
        pytest.param(
            "worst", [{"waiting": {}}, {"running": {}}], {"waiting": {}}, id="the worst cluster's, as a whole"
        ),
        pytest.param("union", [{"a": 1}, {"b": "x"}], {"a": 1, "b": "x"}, id="the keys of all"),
        pytest.param("union", [{"a": "Failed"}, {"a": "Done"}], {"a": "Failed"}, id="of one key the worst cluster's"),
        pytest.param("latest", [LATE, EARLY], LATE, id="instants are compared, not texts"),
        pytest.param("earliest", [LATE, EARLY], EARLY, id="the earliest"),
        pytest.param("earliest", ["2026-01-01T01:00:00+02:00", EARLY], "2026-01-01T01:00:00+02:00", id="offsets count"),
    ],
)
def test_reduction(rule: str, values: list[Any], expected: Any) -> None:
    reduced = reduce_values(AggregateRule(rule), values)
    assert reduced == expected
    assert type(reduced) is type(expected)


@rows("rule", ["sum", "counter", "min", "earliest"])
def test_empty_text_alone_is_nothing(rule: str) -> None:
    assert reduce_values(AggregateRule(rule), ["", ""]) is None


@rows(
    ("rule", "values", "words"),
    [
        pytest.param("sum", [[1]], "neither a number nor a quantity", id="a list has no sum"),
        pytest.param("sum", ["many"], "a string is not a quantity", id="text that is not a quantity"),
        pytest.param("sum", [math.nan, 1], "too large for a number", id="NaN is not JSON"),
        pytest.param("sum", [1e308, 1e308], "too large for a number", id="a sum beyond all doubles"),
        pytest.param("sum", [10**400, 0.5], "too large for a number", id="an int beyond all doubles"),
        pytest.param("counter", [2**63, 2**63], "too large for a number", id="more than 64 bits"),
        pytest.param("sum", [-(2**63), -1], "too large for a number", id="less than 64 bits with a sign"),
        pytest.param("sum", ["1m0s", "2s"], "not a quantity", id="durations are compared, not added"),
        pytest.param("max", [math.inf, "1"], "not a quantity", id="infinity is not a quantity"),
        pytest.param("sum", [True], "neither a number", id="a truth value is not a number"),
        pytest.param("any", [1], "neither true nor false", id="one is not true"),
        pytest.param("concat", ["ab"], "not a list", id="text is not a list"),
        pytest.param("union", [{}, []], "not an object", id="a list has no keys"),
        pytest.param("latest", ["yesterday"], "not a time", id="a word is not a time"),
    ],
)
def test_values_that_a_rule_cannot_take(rule: str, values: list[Any], words: str) -> None:
    with pytest.raises(InterpretationError, match=words):
        reduce_values(AggregateRule(rule), values)


@pytest.mark.parametrize("rule", ["sum", "max", "any", "union", "concat", "latest"])
@pytest.mark.parametrize("value", [{"password": "hunter2"}, ["hunter2"], "hunter2"], ids=["object", "list", "text"])
def test_error_does_not_repeat_values(rule: str, value: Any) -> None:
    other: Any = [] if isinstance(value, dict) else {}
    with pytest.raises(InterpretationError) as caught:
        reduce_values(AggregateRule(rule), [value, other])
    assert "hunter2" not in str(caught.value)
    assert "password" not in str(caught.value)


@rows(
    ("value", "expected"),
    [
        pytest.param(EARLY, True, id="as Kubernetes writes it"),
        pytest.param("2026-01-01T00:00:00.123456Z", True, id="MicroTime"),
        pytest.param("2026-01-01T00:00:00.123456789+00:00", True, id="with as much as RFC 3339 allows Go to write"),
        pytest.param("2026-01-01", False, id="a date is a word"),
        pytest.param("20260101T000000Z-abcdef", False, id="a name that starts like a time"),
        pytest.param(20260101, False, id="a number"),
    ],
)
def test_reduce_recognises_times(value: Any, expected: bool) -> None:
    assert is_time(value) is expected


def test_long_text_is_not_cached() -> None:
    message = "".join(["2026-01-01T", *map(str, range(1000))])
    before = sys.getrefcount(message)
    assert not is_time(message)
    assert sys.getrefcount(message) == before


@rows(
    ("field", "expected"),
    [
        pytest.param("completionTime", True, id="of a Job"),
        pytest.param("finishedAt", True, id="of a Workflow"),
        pytest.param("endTime", True, id="of a RayJob"),
        pytest.param("terminationTime", True, id="of a SparkApplication"),
        pytest.param("lastTransitionTime", False, id="of a condition"),
    ],
)
def test_reduce_recognises_times_of_ends(field: str, expected: bool) -> None:
    assert is_end(field) is expected
