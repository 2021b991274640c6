"""Patterns that mean the same everywhere."""

import re
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

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
        pytest.param(r"worker-\d+$", "", True, id="a repeat that stops where another match could begin"),
        pytest.param(r"^.*-[0-9]+$", "", True, id="such a repeat behind a repeat from the start"),
        pytest.param(r"worker-\w+$", "", False, id="a repeat that goes over the beginnings of other matches"),
        pytest.param("x[a-w]*y", "", True, id="x is no letter from a to w"),
        pytest.param("X[a-z]*y", "", True, id="nor is a capital"),
        pytest.param("X[a-z]*y", "i", False, id="unless case is ignored"),
        pytest.param("a.*b", "", False, id="a repeat anywhere, a square of steps"),
        pytest.param(".*Failed.*", "", True, id="repeats at the ends decide nothing"),
        pytest.param(".*a|b+", "", True, id="nor do they at the ends of alternatives"),
        pytest.param("(.*a.*)", "", False, id="in a group they are not seen to be at the ends"),
        pytest.param("^-a+a*b", "", False, id="a repeat in a repeat, though the first one stops early"),
        pytest.param("[ab]" * 7, "", True, id="seven classes at each place"),
        pytest.param("[ab]" * 8, "", False, id="more classes at each place"),
        pytest.param("[ab]" * 60, "", False, id="many classes at each place"),
        pytest.param("^" + "[ab]" * 60, "", True, id="many classes at one place"),
        pytest.param("a{1000}b", "", False, id="a thousand steps at each place"),
        pytest.param("Running|Succeeded|Failed|Unknown|Pending", "", True, id="a few words anywhere"),
        pytest.param("colou?r", "", True, id="one choice"),
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
        pytest.param("^(a|bc)d*?$", "", "bcdd", True, id="lazy repeat"),
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


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("[ab][ab][ab][ab][ab]c", id="classes"),
        pytest.param("a?[bc]", id="a repeat at the start"),
        pytest.param("[ab]{3}c", id="a counted repeat"),
        pytest.param("(a|[ab])c", id="a choice"),
        pytest.param("^.*[ab]c", id="a loop"),
        pytest.param("^a?a+[cd]", id="a choice in front of a loop"),
        pytest.param("-a+a-a|ac", id="a loop anywhere"),
    ],
)
def test_two_megabytes_take_no_time(pattern: str) -> None:
    subject = "a" * 1_900_000
    start = time.process_time()
    assert not compile_pattern(pattern).search(subject)
    assert time.process_time() - start < 2


class _Engine:
    """Counts the steps of a backtracking search, as textbooks have it."""

    def __init__(self, pattern: re.Pattern[str], subject: str) -> None:
        self.steps = 0
        self._subject = subject
        self._flags = pattern.flags & re.IGNORECASE | re.ASCII
        tree = import_module("re._parser").parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        self.found = any(self._match(list(tree), start, lambda _: True) for start in range(len(subject) + 1))

    def _match(self, parts: list[Any], at: int, then: Callable[[int], bool]) -> bool:
        if not parts:
            return then(at)
        (operator, argument), rest = parts[0], parts[1:]
        self.steps += 1

        def on(place: int) -> bool:
            return self._match(rest, place, then)

        match str(operator):
            case "AT":
                return self._is_at(str(argument), at) and on(at)
            case "BRANCH":
                return any(self._match(list(branch), at, on) for branch in argument[1])
            case "SUBPATTERN":
                return self._match(list(argument[-1]), at, on)
            case "MAX_REPEAT" | "MIN_REPEAT" as repeat:
                return self._repeat(argument, at, on, lazy=repeat == "MIN_REPEAT")
            case _:
                return self._fits(operator, argument, at) and on(at + 1)

    def _is_at(self, place: str, at: int) -> bool:
        edges = [
            0 <= index < len(self._subject) and bool(re.match(r"\w", self._subject[index], re.ASCII))
            for index in (at - 1, at)
        ]
        return {"AT_BEGINNING": at == 0, "AT_END_STRING": at == len(self._subject)}.get(place, edges[0] != edges[1])

    def _repeat(self, argument: Any, at: int, then: Callable[[int], bool], *, lazy: bool) -> bool:
        least, most, body = argument
        if most == 1:
            if lazy and least == 0 and then(at):
                return True
            return self._match(list(body), at, then) or (not lazy and least == 0 and then(at))
        ((operator, single),) = body
        count = 0
        while count < most and self._fits(operator, single, at + count):
            count += 1
        counts = range(least, count + 1)
        return any(then(at + times) for times in (counts if lazy else reversed(counts)))

    def _fits(self, operator: Any, argument: Any, at: int) -> bool:
        self.steps += 1
        if at >= len(self._subject):
            return False
        character = self._subject[at]
        match str(operator):
            case "LITERAL":
                return chr(argument) == character
            case "NOT_LITERAL":
                return chr(argument) != character
            case "ANY":
                return character != "\n"
            case _:
                return self._is_in(argument, ord(character))

    @staticmethod
    def _is_in(members: Any, code: int) -> bool:
        negated = str(members[0][0]) == "NEGATE"
        ranges = [(first, first) if str(kind) == "LITERAL" else first for kind, first in members[negated:]]
        return any(low <= code <= high for low, high in ranges) is not negated


@settings(max_examples=300, deadline=None)
@given(
    _patterns,
    st.lists(st.sampled_from(["a", "b", "-", "1", "ab", "-a", "aab"]), min_size=1, max_size=3),
    st.sampled_from(["", "c", "-", "1"]),
)
def test_the_steps_of_a_simple_pattern_are_a_multiple_of_the_length(pattern: str, period: list[str], end: str) -> None:
    if simple_pattern(pattern):
        compiled = compile_pattern(pattern)
        subject = "".join(period) * 40 + end
        engine = _Engine(compiled, subject)
        assert engine.found is (compiled.search(subject) is not None)
        assert engine.steps <= 20 * (len(subject) + 1) + 256


def test_the_engine_counts_a_square() -> None:
    short, long = (_Engine(re.compile("a.*b"), "a" * length).steps for length in (50, 200))
    assert long > 12 * short
