import math
from datetime import UTC, date, datetime
from typing import Any

import pytest

from karta_interpreter import WorkloadError
from karta_interpreter.engine.workload.document import check_json
from tests.support.rows import rows


def nested(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = {"in": value}
    return value


@rows(
    ("value", "message"),
    [
        pytest.param({"a": [{"b": date(2024, 1, 1)}]}, r"a\[0\]\.b is of type date.*timestamps as text", id="a date"),
        pytest.param({"a": datetime(2024, 1, 1, tzinfo=UTC)}, "a is of type datetime", id="a time"),
        pytest.param({"a": (1, 2)}, "a is of type tuple", id="a tuple"),
        pytest.param({"a": {1, 2}}, "a is of type set", id="a set"),
        pytest.param({"a": b"x"}, "a is of type bytes", id="bytes"),
        pytest.param({"a": {1: 2}}, "a has the key 1", id="a key that is a number"),
        pytest.param({"a": {None: 2}}, "a has the key None", id="a key that is null"),
        pytest.param({"a": math.nan}, "a is nan", id="no number"),
        pytest.param({"a": -math.inf}, "a is -inf", id="infinity"),
        pytest.param({"a": ["ü\ud800"]}, r"a\[0\] has text with half of a surr", id="a text that cannot be stored"),
        pytest.param({"a": {"\udfff": 1}}, "a has text with half of a surrogate", id="a key that cannot be stored"),
        pytest.param(nested(201), "in.in.in is nested more than 200 levels deep", id="too deep"),
        pytest.param(nested(100_000), "nested more than", id="much too deep"),
    ],
)
def test_value_that_is_not_json_is_named(value: Any, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        check_json(value)


def test_value_that_contains_itself_is_refused() -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    with pytest.raises(WorkloadError, match="nested more than"):
        check_json(value)


def test_json_passes() -> None:
    check_json({"a": [None, True, 1, 1.5, "x", "ü\U0001f642", {}], "b": nested(190)})
