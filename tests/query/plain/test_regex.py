"""Patterns that mean the same everywhere."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.query.grammar.syntax import Call, Literal
from interpreter.query.plain.regex import compile_pattern, simple_pattern
from tests.query.oracle import libjq


@pytest.mark.parametrize(
    ("pattern", "flags", "simple"),
    [
        pytest.param("", "", True, id="empty"),
        pytest.param("Running|Succeeded", "", True, id="alternatives"),
        pytest.param("^(Running|Succeeded)?$", "i", True, id="an optional group"),
        pytest.param(r"^[a-z0-9]([-a-z0-9]*)$", "", True, id="a class with a leading dash"),
        pytest.param(r"worker-\d+$", "", True, id="one repeat anywhere"),
        pytest.param(r"^.*-[0-9]+$", "", True, id="two repeats from the start"),
        pytest.param(r"a{2,4}", "g", True, id="a counted repeat"),
        pytest.param(r"[^\s.]", "", True, id="a named class in a class"),
        pytest.param(r"\.\/\-\$", "", True, id="escaped punctuation"),
        pytest.param(r"\bpod\b", "", True, id="word boundaries"),
        pytest.param("(a+)+", "", False, id="a repeat of a repeat"),
        pytest.param("(a|b)*", "", False, id="a repeat of more than one character"),
        pytest.param(".*a.*b", "", False, id="two repeats from anywhere"),
        pytest.param("^.*a.*b.*c", "", False, id="three repeats"),
        pytest.param("a?" * 30 + "a" * 30, "", False, id="exponential choices"),
        pytest.param("^(a|b)(a|b)(a|b)(a|b)(a|b).*x.*$", "", False, id="many choices before repeats"),
        pytest.param("a**", "", False, id="a repeat of a repeat of a character"),
        pytest.param("a*+", "", False, id="possessive"),
        pytest.param("(?=a)", "", False, id="look-ahead"),
        pytest.param("(?i)a", "", False, id="inline flags"),
        pytest.param("(?<n>a)", "", False, id="a named group"),
        pytest.param(r"(a)\1", "", False, id="a back reference"),
        pytest.param(r"\p{L}", "", False, id="a Unicode class"),
        pytest.param("[[:alpha:]]", "", False, id="a POSIX class"),
        pytest.param("[a", "", False, id="an open class"),
        pytest.param("[]a]", "", False, id="a class that starts with its end"),
        pytest.param(r"[\W]", "", False, id="a complement inside of a class"),
        pytest.param("[z-a]", "", False, id="a range backwards"),
        pytest.param("(a", "", False, id="an open group"),
        pytest.param("a)", "", False, id="a group never opened"),
        pytest.param("a{", "", False, id="a bare brace"),
        pytest.param("a{,3}", "", False, id="no lower bound, a literal for RE2"),
        pytest.param("a{2,1}", "", False, id="bounds backwards"),
        pytest.param("a{1001}", "", False, id="more than RE2 counts"),
        pytest.param("*a", "", False, id="a repeat of nothing"),
        pytest.param("^*", "", False, id="a repeat of an anchor"),
        pytest.param("a\\", "", False, id="an escape of nothing"),
        pytest.param("a", "x", False, id="extended flag"),
        pytest.param("a", "s", False, id="a flag the engines disagree about"),
    ],
)
def test_simple_pattern(pattern: str, flags: str, simple: bool) -> None:
    assert simple_pattern(pattern, flags) is simple


@pytest.mark.parametrize(
    ("pattern", "flags", "subject", "expected"),
    [
        pytest.param("a$", "", "a\n", False, id="$ is the very end, as in RE2"),
        pytest.param("^b", "", "a\nb", False, id="^ is the very start"),
        pytest.param("a.b", "", "a\nb", False, id="a dot is no line break"),
        pytest.param(r"^\w$", "", "é", False, id="letters are ASCII"),
        pytest.param(r"^\d$", "", "٣", False, id="digits are ASCII"),
        pytest.param(r"\s", "", "\v", False, id="a vertical tab is no space in RE2"),
        pytest.param("WORKER", "i", "my-worker", True, id="case ignored"),
        pytest.param("a-z", "", "a-z", True, id="a dash is a dash outside of classes"),
        pytest.param("^a.c$", "", "a\U0001f600c", True, id="a dot is one character"),
        pytest.param("a{2}b", "", "aab", True, id="exact count"),
        pytest.param("^(a|b?c)d*?$", "", "cdd", True, id="lazy repeat"),
    ],
)
def test_meaning(pattern: str, flags: str, subject: str, expected: bool) -> None:
    assert bool(compile_pattern(pattern, flags).search(subject)) is expected


_characters = st.sampled_from(["a", "b", "-", "1", ".", r"\.", r"\d", r"\w", "[ab]", "[^a-c1]", "[a-]"])
_quantifiers = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "*?"])
_pieces = st.builds("{}{}".format, _characters, _quantifiers)
_sequences = st.lists(_pieces | st.sampled_from(["^", "$", "(a|b)", "(?:1|-)?"]), max_size=4).map("".join)
_patterns = st.lists(_sequences, min_size=1, max_size=2).map("|".join)


@settings(max_examples=150, deadline=None)
@given(_patterns, st.sampled_from(["", "i"]), st.text("abAB1-. ", max_size=8))
def test_simple_patterns_mean_what_libjq_means(pattern: str, flags: str, subject: str) -> None:
    if simple_pattern(pattern, flags):
        found = compile_pattern(pattern, flags).search(subject) is not None
        assert libjq(Call("test", (Literal(pattern), Literal(flags))), subject) == [found]


@given(st.text(r"ab()[]{}|*+?^$\.-,1d", max_size=12))
@settings(max_examples=200, deadline=None)
def test_whatever_is_simple_compiles(pattern: str) -> None:
    assert not simple_pattern(pattern) or isinstance(compile_pattern(pattern), re.Pattern)


@pytest.mark.parametrize("pattern", ["a*[bc]", "^a*?a*?[bc]", "^(a|a|a|a)a*a*[bc]", "a?" * 12 + "[bc]", "a{0,900}[bc]"])
def test_the_worst_subject_takes_a_fraction_of_a_second(pattern: str) -> None:
    start = time.process_time()
    assert not compile_pattern(pattern).search("a" * 4096)
    assert time.process_time() - start < 1
