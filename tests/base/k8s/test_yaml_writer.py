"""YAML that is written reads as the value that was written."""

from collections.abc import Callable
from contextlib import suppress

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.base.k8s.yaml_writer import to_authored_yaml, to_ordered_yaml, to_yaml
from tests.support.examples import EXAMPLES
from tests.support.rows import rows

# What `sigs.k8s.io/yaml` writes: block style, lists not indented, double quotes for what would read as another type,
# single quotes for what plain text may not begin with, and no anchors.
_VALUES = [
    pytest.param(None, "null\n", id="null"),
    pytest.param(3, "3\n", id="a number"),
    pytest.param(True, "true\n", id="a boolean"),
    pytest.param("x", "x\n", id="text"),
    pytest.param("100m", "100m\n", id="a quantity"),
    pytest.param("2", '"2"\n', id="text like a number"),
    pytest.param("1e3", '"1e3"\n', id="text like a number with an exponent"),
    pytest.param("08", '"08"\n', id="text like a number with a leading zero"),
    pytest.param("true", '"true"\n', id="text like a boolean"),
    pytest.param("on", '"on"\n', id="text like a boolean of YAML 1.1"),
    pytest.param("y", '"y"\n', id="text like a short boolean of YAML 1.1"),
    pytest.param("null", '"null"\n', id="text like null"),
    pytest.param("", '""\n', id="empty text"),
    pytest.param("2024-01-01T00:00:00Z", '"2024-01-01T00:00:00Z"\n', id="text like a time"),
    pytest.param("a: b", "'a: b'\n", id="text like a mapping"),
    pytest.param("*", "'*'\n", id="text like an alias"),
    pytest.param("a\nb\n", "|\n  a\n  b\n", id="several lines"),
    pytest.param("Waiting...", "Waiting...\n", id="a lone text that ends in dots"),
    pytest.param({"a": "Waiting..."}, "a: Waiting...\n", id="a last text that ends in dots"),
    pytest.param(["a\nb...\n"], "- |\n  a\n  b...\n", id="a last line that ends in dots"),
    pytest.param({"a": "a\n...\n"}, "a: |\n  a\n  ...\n", id="a last line of dots"),
    pytest.param([], "[]\n", id="an empty list"),
    pytest.param({}, "{}\n", id="an empty object"),
    pytest.param({"b": [1, {"c": 2, "a": []}], "a": {}}, "a: {}\nb:\n- 1\n- a: []\n  c: 2\n", id="nested"),
]


@rows(("value", "text"), _VALUES)
def test_yaml_as_kubernetes_writes_it(value: JSON, text: str) -> None:
    assert to_yaml(value) == text
    assert yaml.safe_load(text) == value


def test_shared_parts_are_written_out() -> None:
    part = {"x": 1}

    assert to_yaml({"a": part, "b": part}) == "a:\n  x: 1\nb:\n  x: 1\n"


_AMBIGUOUS = (
    *("1e3", "-1E+3", "0o7", "+0o7", "08", "1_000", "0x1F", "0b1", "12:30", "1.", ".5", "+1", "-.inf", ".nan", "NaN"),
    *("y", "n", "N", "on", "Off", "yes", "TRUE", "~", "null", "", "=", "<<", "2001-01-01", "a: b", "- a", "# a", "*"),
    *("a\nb", "a\n\n  b\n", " a\nb", "a \nb\n\n", "\t", "é", "\x85", "\u2028"),
)
"""Texts that a reader of YAML 1.1, or the Go library, can take for another value."""


@rows("write", [to_yaml, to_authored_yaml, to_ordered_yaml])
def test_ambiguous_texts_are_read_as_written(write: Callable[[JSON], str]) -> None:
    value = {"texts": [*_AMBIGUOUS], "keys": dict.fromkeys(_AMBIGUOUS, 1), "numbers": [1, 1.5, True, None]}
    (document,) = read_documents(write(value), "written")
    assert document.value == value


@pytest.mark.parametrize("write", [to_authored_yaml, to_ordered_yaml])
def test_keys_keep_their_order_and_shared_parts_are_written_out(write: Callable[[JSON], str]) -> None:
    part = {"x": 1}
    assert write({"b": part, "a": part}) == "b:\n  x: 1\na:\n  x: 1\n"


def test_lists_of_an_author_are_indented() -> None:
    assert to_authored_yaml({"a": [1]}) == "a:\n  - 1\n"


_NUMBERS = ("1.5e3", "6.02e23", ".5e3", "+.5", "-.5E-3", "1_5e3", "+_1", "0X1F", "0O17", "0B11", "-0B1", "0b-1", "0_0")
_LETTERS = "0127+-._eExXoObBaF"


def _is_number_of_go(text: str) -> bool:
    """Return whether Go reads a number of any base. Python has the same grammar of numbers.

    Only a digit, a sign or a point begins a number.
    """
    digits = "" if text.startswith("_") else text.replace("_", "")
    for read in (float, lambda number: int(number, 0)):
        with suppress(ValueError):
            read(digits)
            return True
    return False


@pytest.mark.parametrize("write", [to_yaml, to_authored_yaml, to_ordered_yaml])
@settings(max_examples=EXAMPLES * 25, deadline=None)
@given(st.sampled_from(_NUMBERS) | st.text(_LETTERS, min_size=1, max_size=6))
def test_text_like_a_number_is_quoted(write: Callable[[JSON], str], text: str) -> None:
    """The reader of an API server takes more numbers than PyYAML, and refuses a number for a text."""
    if _is_number_of_go(text) or text == "0b-1":
        assert write({"a": text}) == f'a: "{text}"\n'
    (document,) = read_documents(write({"a": text, text: 1}), "written")
    assert document.value == {"a": text, text: 1}


@rows("text", ["1.2.3", "100m", "10.0.0.1", "0x", "0xG", "0o8", "v1", "1e3a", "2xlarge"])
def test_text_that_no_reader_takes_for_a_number_is_plain(text: str) -> None:
    assert to_yaml(text) == f"{text}\n"


_TEXT = st.lists(
    st.sampled_from(
        ["##[error]x", "::error::x", "::", "##[", " ", "\n", "\t", "a", "word " * 30, "#", "\\", '"', "'", ": "]
    )
).map("".join)
_VALUE = st.recursive(_TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3))


@pytest.mark.parametrize("write", [to_yaml, to_authored_yaml, to_ordered_yaml])
@settings(max_examples=EXAMPLES * 25, deadline=None)
@example({"a": "word " * 30 + "::error::x", "::b": ["a\n##[error]x\n::error::y"]})
@given(_VALUE)
def test_text_is_no_command_of_a_log(write: Callable[[JSON], str], value: JSON) -> None:
    """GitHub takes a line that begins with ``::``, and ``##[`` anywhere, for commands."""
    text = write(value)
    assert "##[" not in text
    assert not [line for line in text.splitlines() if line.strip().startswith("::")]
    assert yaml.safe_load(text) == value
