"""Regular expressions: which there are, and what each function makes of what they find."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError, QueryRefusedError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.compiled.regex import COMPUTED_SIZE, MOST_STEPS, compile_pattern
from tests.support.rows import rows

LONG = "x" * 1_000_000


@rows(
    ("pattern", "flags", "reason"),
    [
        pytest.param("(a", "", "missing ): (a", id="an open group"),
        pytest.param("a)", "", "unexpected ): a)", id="a group never opened"),
        pytest.param("[a", "", "missing ]: [a", id="an open class"),
        pytest.param("a\\", "", "trailing \\", id="an escape of nothing"),
        pytest.param("*a", "", "no argument for repetition operator: *", id="a repeat of nothing"),
        pytest.param("a*+", "", "bad repetition operator: *+", id="a possessive repeat"),
        pytest.param("a{1001}", "", "invalid repetition size: {1001}", id="more than 1000 repeats"),
        pytest.param("(?=a)", "", "invalid perl operator: (?=", id="look-ahead"),
        pytest.param("(?<=a)", "", "invalid perl operator: (?<", id="look-behind"),
        pytest.param("(?>a)", "", "invalid perl operator: (?>", id="an atomic group"),
        pytest.param("(?x)a", "", "invalid perl operator: (?x", id="an inline flag of another engine"),
        pytest.param(r"(a)\1", "", r"invalid escape sequence: \1", id="a back reference"),
        pytest.param(r"\h", "", r"invalid escape sequence: \h", id="an escape of another engine"),
        pytest.param(r"a\C", "", r"invalid escape sequence: \C", id="a byte, which only RE2 has"),
        pytest.param(r"\B", "", r"invalid escape sequence: \B", id="RE2 finds it between the bytes of a character"),
        pytest.param(r"\p{Letter}", "", r"invalid character class range: \p{Letter}", id="a name that only Go knows"),
        pytest.param("(?<n>a)(?P<n>b)", "", "invalid or repeated name of a group: n", id="a name twice"),
        pytest.param("(?<é>a)", "", "invalid or repeated name of a group: é", id="a name that Go does not read"),
        pytest.param(r"\pL{100}", "", "pattern too large - compile failed", id="a large program"),
        pytest.param("\ud800", "", "it is not Unicode text", id="half a character"),
        *(pytest.param("a", flag, f"there is no flag {flag}, only g, i and m", id=f"flag {flag}") for flag in "nxslp"),
    ],
)
def test_patterns_that_go_does_not_read_are_refused(pattern: str, flags: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}"):
        compile_pattern(pattern, flags)


@rows(
    ("call", "value", "error", "message"),
    [
        pytest.param("test(.)", f"a{{{COMPUTED_SIZE}}}", QueryEvaluationError, "too large", id="a large pattern"),
        pytest.param('test("a")', "\ud800", QueryEvaluationError, "not Unicode text", id="half a character"),
        pytest.param('[scan("a")]', "\ud800", QueryEvaluationError, "not Unicode text", id="half a character in scan"),
        pytest.param('[scan(".")]', LONG, QueryLimitError, "too many matches", id="many matches in a long text"),
        pytest.param(r'test("\\pL{9}1")', LONG, QueryLimitError, "too long for its pattern", id="a long text"),
    ],
)
def test_failures(call: str, value: JSON, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Query.compile(call).evaluate(value)


def test_long_text_with_few_matches_is_searched_to_its_end() -> None:
    assert Query.compile('[scan("y")]').evaluate(LONG + "y") == [["y"]]
    assert len(LONG) ** 2 > MOST_STEPS


def test_refusal_of_pattern_names_call_and_place() -> None:
    with pytest.raises(QueryRefusedError, match=r"the pattern of `sub` is not a regular expression: missing \): \(b"):
        Query.compile('.a | sub("(b"; "c")')


_characters = st.sampled_from(["a", "b", "-", "1", ".", r"\.", r"\d", r"\w", "[ab]", "[^a-c1]", "[a-]"])
_quantifiers = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "*?"])
_pieces = st.builds("{}{}".format, _characters, _quantifiers)
_sequences = st.lists(_pieces | st.sampled_from(["^", r"\z", "(a|b)", "(?:1|-)?"]), max_size=4).map("".join)
_patterns = st.lists(_sequences, min_size=1, max_size=2).map("|".join)


@given(_patterns, st.text("abAB1-. ", max_size=8))
def test_first_match_is_that_of_python(pattern: str, subject: str) -> None:
    expected = re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII).search(subject)
    found: list[Any] = Query.compile(f"match({json.dumps(pattern)})").evaluate(subject)
    assert [(each["offset"], each["string"]) for each in found] == (
        [(expected.start(), expected.group())] if expected else []
    )
