"""Regular expressions that are made up: which of them Go reads, and what they find."""

import json
from collections.abc import Iterator
from functools import partial
from random import Random

from karta_interpreter.base.errors import QueryRefusedError
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.asking import FAILED, Answer, answer
from tests.proofs.conformance.gojq.peer import Gojq
from tests.proofs.conformance.gojq.tally import Tally

_ATOMS = (
    *(
        "a",
        "b",
        "B",
        "é",
        "ß",
        "\u017f",
        "K",
        "-",
        "_",
        " ",
        ".",
        "1",
        "٣",
        "\U0001f600",
        r"\.",
        r"\-",
        r"\_",
        r"\/",
        r"\n",
    ),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\A", r"\z", "^", "$", r"\pL", r"\PN", r"\p{Greek}"),
    *("[ab]", "[^a-c1]", "[a-]", "[]a]", "[^]a]", r"[\d\-]", r"[^\W]", "[[:alpha:]]", "[[:^space:]]", "[a-é]", "[^é]"),
    *("(a|b)", "(?:1|-)", "(?i)k", "(?i:S)", "(?s).", "(?m)^", "(?m)a$", "(?U)a+", "(?-i)a", "(?P<n>a|b)", "(?<m>1)?"),
    *(r"\Qa.b\E", r"\x41", r"\x{e9}", r"\101", r"\t", r"\v", r"\f", r"\a", "a{2}", "a{1,3}", "(ab){2,}", "{", "a{,2}"),
    *(
        "",
        "(?:)",
        "()",
        "(a*)*",
        "(a|)+",
        "((a)|b)*",
        "x*",
        r"\0",
        "(?i)\u017f",
        "(?i)ß",
        "(?i)\u03a3",
        r"(?i)\pL",
        r"(?i)[k-s]",
    ),
)
_RARE = (
    *(
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?>a)",
        r"\1",
        r"\h",
        r"\R",
        r"\Z",
        r"\C",
        r"\X",
        r"\K",
        "(?#c)",
        "(?x) a",
        "a{1001}",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "\\",
        "(?<n>b)",
        "(?P<é>a)",
        "[[:nope:]]",
        r"\p{Nope}",
        r"\p{Letter}",
        r"\e",
        r"\cA",
        r"\u0041",
        "(?P=n)",
    ),
    *("[z-a]", "(?:a{100}){11}", r"\8", r"[a-\d]", r"[\b]", "a**", "a*+", "a++", "^*", "$+", "(?i", "(?z)a", "a{2}{3}"),
)
_REPEATS = ("", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{2,}?")
_FLAGS = ("", "", "", "", "g", "g", "g", "i", "gi", "m", "gm", "gg", "x", "s")
_TEXTS = (
    *(
        "",
        "a",
        "b",
        "ab",
        "aab",
        "ba",
        "abab",
        "a\nb",
        "a\n",
        "\na",
        "a-1",
        "b1b",
        "A_b",
        "a.b",
        "K\u212a\u017fs",
        "éa",
        "aéb",
    ),
    *(
        "1٣2",
        "\U0001f600a\U0001f600",
        " a b ",
        "a\tb\v",
        "\u0391\u0392ab",
        "straße STRASSE",
        "aaaa",
        "xa1-b2",
        "\r\n",
        "a\u2028b",
    ),
)
_COMMON = 0.8
_REFUSED = {
    "invalid or repeated name of a group": "a name for two groups is refused",
    r"invalid escape sequence: \B": r"`\B` is refused, which RE2 finds inside of characters",
    r"invalid character class range: \p{": "a name of a Unicode class that RE2 does not know is refused",
}
"""Why Go may take a pattern, by the words with which it is refused here."""
_PROGRAMS = (
    "[match({pattern}; {flags})]",
    "[test({pattern}; {flags})]",
    "[capture({pattern}; {flags})]",
    "[scan({pattern}; {flags})]",
    "[splits({pattern}; {flags})]",
    "split({pattern}; {flags})",
    'gsub({pattern}; "<>"; {flags})',
    'sub({pattern}; "<\\(.n)>"; {flags})',
)


def compare(gojq: Gojq, count: int, tally: Tally) -> None:
    """Compare so many patterns, each in a call of some function and on some text."""
    for text, value in _questions(count):
        (outcome,) = gojq.run([text], value)
        theirs: Answer = FAILED if outcome.outputs is None else list(outcome.outputs)
        try:
            query = Query.compile(text)
        except QueryRefusedError as error:
            ours, reason = FAILED, next((each for words, each in _REFUSED.items() if words in str(error)), "")
        else:
            ours = answer(partial(query.evaluate, value))
            reason = "" if query.is_plain else "jq answers what is bounded"
        tally.errors += ours == FAILED
        tally.count(text, value, ours, theirs, reason)


def _questions(count: int) -> Iterator[tuple[str, str]]:
    chance = Random("patterns")  # noqa: S311 - the same patterns every time is what is wanted
    for _ in range(count):
        pieces = chance.choices(
            _ATOMS if chance.random() < _COMMON else _ATOMS + _RARE, k=chance.choice((1, 1, 2, 2, 3, 4))
        )
        pattern = chance.choice(("", "", "", "|")).join(piece + chance.choice(_REPEATS) for piece in pieces)
        program = chance.choice(_PROGRAMS).format(pattern=json.dumps(pattern), flags=json.dumps(chance.choice(_FLAGS)))
        yield program, chance.choice(_TEXTS)
