"""Regular expressions: which there are, and what each function makes of what they find."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError, QueryRefusedError
from karta_interpreter.jq import Query
from karta_interpreter.jq.compiled.regex import COMPUTED_SIZE, MOST_STEPS, compile_pattern
from karta_interpreter.k8s.values import JSON

LONG = "x" * 1_000_000


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("call", "value", "outputs"),
    [
        pytest.param('test("a$")', "a\n", [False], id="$ is the very end"),
        pytest.param('test("^b")', "a\nb", [False], id="^ is the very start"),
        pytest.param('test("(?m)^b")', "a\nb", [True], id="but for the inline flag m"),
        pytest.param('test("a.b")', "a\nb", [False], id="a dot is no line break"),
        pytest.param('test("a.b"; "m")', "a\nb", [True], id="but for the flag m of gojq"),
        pytest.param(r'test("^\\w$")', "é", [False], id="letters are ASCII"),
        pytest.param(r'test("^\\d$")', "٣", [False], id="digits are ASCII"),
        pytest.param(r'test("\\s")', "\v", [False], id="a vertical tab is no space"),
        pytest.param(r'test("^\\pL$")', "é", [True], id="a class of Unicode"),
        pytest.param('test("[[:alpha:]]")', "1a", [True], id="a POSIX class"),
        pytest.param('test("WORKER"; "i")', "my-worker", [True], id="case ignored"),
        pytest.param('test("^a.c$"; null)', "a\U0001f600c", [True], id="a dot is one character"),
        pytest.param('test("(a+)+$"; "g")', "a" * 100 + "b", [False], id="what explodes in other engines does not"),
        pytest.param(r'test("^a\\\\B$")', "a\\B", [True], id="a backslash and a letter"),
        pytest.param('test("a", "b")', "b", [False, True], id="two patterns"),
        pytest.param('match("b(?<x>c)?(d)?")', "ébc", [{"offset": 1, "length": 2, "string": "bc", "captures": [
            {"name": "x", "offset": 2, "length": 1, "string": "c"},
            {"name": None, "offset": -1, "length": 0, "string": None},
        ]}], id="offsets count characters, a group that took no part is null"),
        pytest.param('match("x")', "a", [], id="no match, no output"),
        pytest.param('[match("a*"; "g") | .offset]', "baac", [[0, 1, 4]], id="no empty match where another one ends"),
        pytest.param('[match(""; "g") | .offset]', "é\U0001f600", [[0, 1, 2]], id="an empty match per character"),
        pytest.param('[match("^a"; "g") | .offset]', "aa", [[0]], id="behind a match is not the start"),
        pytest.param(
            'capture("(?<job>[a-z]+)-([0-9]+)(?<end>!)?")', "ps-12", [{"job": "ps", "end": None}], id="named groups"
        ),
        pytest.param('[scan("[0-9]+")]', "a1b22", [["1", "22"]], id="texts of all matches"),
        pytest.param('[scan("(a)(b)?")]', "aab", [[["a", None], ["a", "b"]]], id="groups of all matches"),
        pytest.param('[scan("A"; "i")]', "aA", [["a", "A"]], id="scan with flags"),
        pytest.param('[splits(", *")]', "a, b,c", [["a", "b", "c"]], id="pieces"),
        pytest.param('[splits("x")]', "", [[""]], id="an empty text is one piece, as in gojq"),
        pytest.param('split(", *"; null)', "a, b,c", [["a", "b", "c"]], id="pieces in a list"),
        pytest.param('split("")', "ab", [["a", "b"]], id="split of one argument takes no pattern"),
        pytest.param('sub("a"; "b")', "aa", ["ba"], id="the first match replaced"),
        pytest.param('sub("a"; "b"; "g")', "aa", ["bb"], id="all matches replaced"),
        pytest.param('gsub("(?<d>[0-9])"; "<\\(.d)>")', "a1b2", ["a<1>b<2>"], id="what was found in the replacement"),
        pytest.param('gsub(""; "-")', "ab", ["-a-b-"], id="a replacement of nothing"),
        pytest.param('gsub("x"; null)', "axb", ["ab"], id="null is an empty text, as in gojq"),
        pytest.param('sub("x"; error("no"))', "ab", ["ab"], id="without a match there is no replacement"),
        pytest.param('.t | test("^\\\\Q1.5\\\\E$")', {"t": "1.5"}, [True], id="quoted text"),
    ],
)  # fmt: skip
def test_what_is_found(call: str, value: JSON, outputs: list[JSON]) -> None:
    query = Query.compile(call)
    assert query.is_plain
    assert query.evaluate(value) == outputs


@pytest.mark.parametrize(
    ("call", "value", "outputs"),
    [
        pytest.param(".[] | test(ascii_downcase)", ["a", "A"], [True, False], id="of its own text"),
        pytest.param('test("a" + "b")', "ab", [True], id="computed of constants"),
        pytest.param('[match(.; "i") | .string]', "a", [["a"]], id="a pattern that matches itself"),
        pytest.param('sub(.; "b")', "a", ["b"], id="replaced"),
        pytest.param("split(.; null)", "a", [["", ""]], id="split"),
    ],
)
def test_computed_patterns(call: str, value: JSON, outputs: list[JSON]) -> None:
    query = Query.compile(call)
    assert query.is_plain
    assert query.evaluate(value) == outputs


@pytest.mark.parametrize(
    ("call", "value", "error", "message"),
    [
        pytest.param("test(.)", "a(?=b)", QueryEvaluationError, "invalid perl operator", id="a pattern Go cannot read"),
        pytest.param("test(.)", f"a{{{COMPUTED_SIZE}}}", QueryEvaluationError, "too large", id="a large pattern"),
        pytest.param("match(.)", "(a)(b)(c)", QueryEvaluationError, "too large", id="many groups"),
        pytest.param("test(1)", "a", QueryEvaluationError, "a pattern needs a string", id="a number as a pattern"),
        pytest.param('scan("a")', 1, QueryEvaluationError, "scan needs a string", id="a number has no text"),
        pytest.param('sub("a"; 1)', "a", QueryEvaluationError, "sub needs a string", id="a number as a replacement"),
        pytest.param('test("a")', "\ud800", QueryEvaluationError, "not Unicode text", id="half a character"),
        pytest.param('[scan("a")]', "\ud800", QueryEvaluationError, "not Unicode text", id="half a character in scan"),
        pytest.param('[scan(".")]', LONG, QueryLimitError, "too many matches", id="many matches in a long text"),
        pytest.param(r'test("\\pL{9}1")', LONG, QueryLimitError, "too long for its pattern", id="a long text"),
    ],
)
def test_failures(call: str, value: JSON, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Query.compile(call).evaluate(value)


def test_a_long_text_with_few_matches_is_searched_to_its_end() -> None:
    assert Query.compile('[scan("y")]').evaluate(LONG + "y") == [["y"]]
    assert len(LONG) ** 2 > MOST_STEPS


def test_a_refusal_names_the_call_and_its_place() -> None:
    with pytest.raises(QueryRefusedError, match=r"the pattern of `sub` is no regular expression: missing \): \(b"):
        Query.compile('.a | sub("(b"; "c")')


_characters = st.sampled_from(["a", "b", "-", "1", ".", r"\.", r"\d", r"\w", "[ab]", "[^a-c1]", "[a-]"])
_quantifiers = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "*?"])
_pieces = st.builds("{}{}".format, _characters, _quantifiers)
_sequences = st.lists(_pieces | st.sampled_from(["^", r"\z", "(a|b)", "(?:1|-)?"]), max_size=4).map("".join)
_patterns = st.lists(_sequences, min_size=1, max_size=2).map("|".join)


@given(_patterns, st.text("abAB1-. ", max_size=8))
def test_the_first_match_is_that_of_python(pattern: str, subject: str) -> None:
    expected = re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII).search(subject)
    found: list[Any] = Query.compile(f"match({json.dumps(pattern)})").evaluate(subject)
    assert [(each["offset"], each["string"]) for each in found] == (
        [(expected.start(), expected.group())] if expected else []
    )
