"""Regular expressions that are made up: which of them Go reads, and what they find."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import yaml

from karta_interpreter.base.errors import QueryRefusedError
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.asking import FAILED, Answer, answer
from tests.proofs.conformance.gojq.peer import Gojq
from tests.proofs.conformance.gojq.tally import Tally

_PIECES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_ATOMS, _RARE, _REPEATS, _FLAGS, _TEXTS, _PROGRAMS = (
    _PIECES[name] for name in ("atoms", "rare", "repeats", "flags", "texts", "programs")
)
_COMMON = 0.8
_REFUSED = {
    "invalid or repeated name of a group": "a name for two groups is refused",
    r"invalid escape sequence: \B": r"`\B` is refused, which RE2 finds inside of characters",
    r"invalid character class range: \p{": "a name of a Unicode class that RE2 does not know is refused",
}
"""Why Go may take a pattern, by the words with which it is refused here."""


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
