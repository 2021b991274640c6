"""What the half of a machine that is written in Lua calls in Python.

Scripts get to none of these functions: they call functions of Lua that call them.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

import orjson

from karta_interpreter.errors import InterpreterError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine import dates, letters
from karta_interpreter.lua.machine.exchange import Exchange, Token, Tokens
from karta_interpreter.lua.machine.formatting import sprintf
from karta_interpreter.lua.machine.spelling import decoded

Own: TypeAlias = Mapping[str, Callable[..., tuple[JSON, ...]]]
"""What ``require("karta")`` offers: functions from JSON arguments to JSON results."""

Kube: TypeAlias = Mapping[str, Callable[..., JSON]]
"""What ``require("kube")`` offers: functions with one result, None for nil; objects they get may have nulls in them."""

Say: TypeAlias = Callable[[str], None]

_LATE: Final = "late"
_LONGEST: Final = 16 * 2**20
_MOST_SAID: Final = 256 * 1024
_NOTHING_ASKED: Final[tuple[str, JSON, Tokens]] = "", None, ()
_FUNCTIONS: Final[Mapping[str, Callable[..., object]]] = {
    "lower": letters.lower,
    "upper": letters.upper,
    "now": dates.now,
    "time": dates.moment,
    "date": dates.formatted,
    "fields": dates.fields,
}


class Host:
    """The functions for one machine; it must know nothing of the machine, which could not be freed at once else."""

    def __init__(self, exchange: Exchange, kube: Kube) -> None:
        self.own: Own = {}
        self.say: Say | None = None
        self.end = math.inf
        self._exchange = exchange
        self._kube = kube
        self._sent: list[Token] = []
        self._said = 0
        self._last = _NOTHING_ASKED

    def functions(self) -> Iterator[tuple[str, Callable[..., object]]]:
        """Every function, by the name that ``host`` has in Lua."""
        for name, function in _FUNCTIONS.items():
            yield name, _with_decoded(function)
        yield "format", _with_decoded(partial(sprintf, longest=min(self._exchange.longest, _LONGEST)))
        yield "fetch", self._exchange.content
        yield "fetch_more", self._exchange.more
        yield "send", self._receive
        yield "names", self._names
        yield "own", self._call_own
        yield "say", self._print

    def kube(self) -> Iterator[tuple[str, Callable[..., Tokens], Callable[[int], Tokens]]]:
        """The functions of ``require("kube")`` by name: called with tokens, and with the number of one lent object."""
        for name, function in self._kube.items():
            call = _with_one_result(function)
            yield name, partial(self._answer, call), partial(self._answer_about, name, call)

    def clear(self) -> None:
        """Forget everything of the last run."""
        self.own, self.say, self._sent, self._said = {}, None, [], 0
        self._last = _NOTHING_ASKED
        self._exchange.clear()

    def _receive(self, *tokens: Token) -> None:
        self._sent += tokens

    def _names(self) -> Tokens:
        return tuple(self.own)

    def _call_own(self, name: str, *tokens: Token) -> Tokens:
        """Call a function of the Karta, which may wait for another process: None when that took too long."""
        answer = self._answer(self.own[name], *tokens)
        return answer if answer[0] != _LATE else (None,)

    def _answer(self, function: Callable[..., Sequence[JSON]], *tokens: Token) -> Tokens:
        """Call a function with arguments that are given as tokens."""
        if self._sent:
            tokens, self._sent = (*self._sent, *tokens), []
        return self._ask(function, *self._exchange.read(tokens, dict))

    def _answer_about(self, name: str, function: Callable[..., Sequence[JSON]], number: int) -> Tokens:
        """Call a function with an untouched object, once for all in a row that are the same: there may be many."""
        value = self._exchange.lent(number)
        asked, about, answer = self._last
        if asked != name or not _is_same(value, about):
            answer = self._ask(function, value)
            complete = answer[:2] == (True, 0)  # and no error
            self._last = (name, value, answer) if complete else _NOTHING_ASKED
        return answer

    def _ask(self, function: Callable[..., Sequence[JSON]], *arguments: JSON) -> Tokens:
        """Call a function: True, or that it is late, with the tokens of its results; or False with a message."""
        try:
            results = function(*arguments)
        except InterpreterError as error:
            return False, str(error)
        return _LATE if time.monotonic() > self.end else True, *self._exchange.lend(results)

    def _print(self, spelled: str) -> None:
        """Pass on what a script says, up to a length: who listens has to remember it."""
        if self.say and self._said <= _MOST_SAID:
            self._said += 1 + len(spelled)
            self.say(decoded(spelled) if self._said <= _MOST_SAID else "... and more")


def _is_same(one: JSON, other: JSON) -> bool:
    """Whether two values are the same JSON: to Python 1, 1.0 and True are equal."""
    try:
        return bool(one == other and orjson.dumps(one) == orjson.dumps(other))
    except TypeError:  # something that is no JSON of 64 bits
        return False


def _with_decoded(function: Callable[..., object]) -> Callable[..., object]:
    """A function whose strings are spelled."""
    return lambda *arguments: function(*(decoded(value) if type(value) is str else value for value in arguments))


def _with_one_result(function: Callable[..., JSON]) -> Callable[..., tuple[JSON]]:
    return lambda *arguments: (function(*arguments),)
