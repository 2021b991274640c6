import pytest

from karta_interpreter.engine.evaluation.attribution import go_text
from tests.support.rows import rows


@rows(
    ("value", "text"),
    [
        # What Go 1.24 prints for fmt.Sprintf("%v", float64(...)).
        pytest.param(8080, "8080", id="a port"),
        pytest.param(100000, "100000", id="six digits are the most"),
        pytest.param(999999, "999999", id="the largest without an exponent"),
        pytest.param(1000000, "1e+06", id="seven digits are written with an exponent"),
        pytest.param(1234567, "1.234567e+06", id="which keeps every digit"),
        pytest.param(-1234567.5, "-1.2345675e+06", id="as of negative numbers"),
        pytest.param(1e100, "1e+100", id="three digits of exponent"),
        pytest.param(2**53 + 1, "9.007199254740992e+15", id="digits for which a double has no room are lost"),
        pytest.param(2.5, "2.5", id="a fraction"),
        pytest.param(1234.5678901, "1234.5678901", id="digits after the point do not count"),
        pytest.param(0.0001, "0.0001", id="the smallest without an exponent"),
        pytest.param(0.00001, "1e-05", id="an exponent has two digits at least"),
        pytest.param(0, "0", id="zero"),
        pytest.param(3.0, "3", id="a whole number as JSON has it"),
        pytest.param(True, "true", id="a boolean is not 1"),
        pytest.param(False, "false", id="nor 0"),
        pytest.param("worker", "worker", id="text as it is"),
    ],
)
def test_values_of_an_object(value: str | bool | float, text: str) -> None:
    assert go_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(1000000, "1000000", id="an integer of jq is one of Go"),
        pytest.param(1000000.5, "1.0000005e+06", id="what has a fraction is a float in both"),
    ],
)
def test_computed_values(value: float, text: str) -> None:
    assert go_text(value, of_object=False) == text
