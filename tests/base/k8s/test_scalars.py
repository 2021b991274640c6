"""Plain YAML scalars, as the API server reads them (the expectations were checked with sigs.k8s.io/yaml 1.6)."""

import pytest

from karta_interpreter.base.k8s.manifest import resolve
from karta_interpreter.base.k8s.values import JSON
from tests.support.rows import rows


@rows(
    ("text", "expected"),
    [
        *[pytest.param(text, True, id=text) for text in ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON")],
        *[pytest.param(text, True, id=text) for text in ("true", "True", "TRUE")],
        *[pytest.param(text, False, id=text) for text in ("n", "N", "no", "No", "NO", "off", "Off", "OFF")],
        *[pytest.param(text, False, id=text) for text in ("false", "False", "FALSE")],
        *[pytest.param(text, None, id=f"null as {text!r}") for text in ("", "~", "null", "Null", "NULL")],
        pytest.param("yEs", "yEs", id="mixed case is a string"),
        pytest.param("0", 0, id="zero"),
        pytest.param("-0", 0, id="minus zero"),
        pytest.param("+12", 12, id="plus sign"),
        pytest.param("1_000", 1000, id="separators"),
        pytest.param("0777", 511, id="octal of YAML 1.1"),
        pytest.param("0o777", 511, id="octal of YAML 1.2"),
        pytest.param("-010", -8, id="negative octal"),
        pytest.param("08", 8, id="no octal, so a float that is whole"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("-0b11", -3, id="binary"),
        pytest.param("0b-11", -3, id="binary with the sign inside"),
        *[pytest.param(text, text, id=f"no number as {text}") for text in ("-0b-1", "+0b+1", "0B-1", "0x-1", "0o-1")],
        pytest.param("18446744073709551615", 2**64 - 1, id="the largest integer"),
        pytest.param("18446744073709551616", 2.0**64, id="a larger one is a float"),
        pytest.param("-9223372036854775809", -(2.0**63), id="a smaller one is a float"),
        pytest.param("9" * 5000, "9" * 5000, id="beyond any float"),
        pytest.param("1.5", 1.5, id="float"),
        pytest.param("1.0", 1, id="a whole float is an integer"),
        pytest.param("1e3", 1000, id="an exponent needs no point"),
        pytest.param(".5", 0.5, id="no digits before the point"),
        pytest.param("1.", 1, id="no digits behind the point"),
        pytest.param("1e400", "1e400", id="beyond the range of floats"),
        pytest.param("1:30", "1:30", id="no sexagesimal numbers"),
        pytest.param("2001-01-01", "2001-01-01", id="a date stays a string"),
        pytest.param("2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z", id="a time stays a string"),
        pytest.param("0x", "0x", id="no digits"),
        pytest.param("0o8", "0o8", id="not octal"),
        pytest.param("1.2.3", "1.2.3", id="a version"),
        pytest.param("-", "-", id="a dash"),
        pytest.param("inf", "inf", id="no infinity without the point"),
        pytest.param("<<", "<<", id="the merge key as a value"),
        pytest.param("=", "=", id="the default value key"),
    ],
)
def test_resolve(text: str, expected: JSON) -> None:
    resolved = resolve(text)
    assert resolved == expected
    assert type(resolved) is type(expected)


@rows("text", [".nan", ".NaN", ".inf", "-.inf", "+.Inf", ".INF"])
def test_numbers_that_json_does_not_have(text: str) -> None:
    with pytest.raises(ValueError, match="not a JSON number"):
        resolve(text)
