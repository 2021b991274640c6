"""What the half of a machine that is written in Lua calls in Python.

Scripts get to none of these functions: they call functions of Lua that call them. The machine hands over each byte of a
string as one character, for a string of Lua need not be UTF-8; such text is called `spelled` here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

from karta_interpreter.errors import InterpreterError
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.machine import dates
from karta_interpreter.lua.machine.formatting import sprintf
from karta_interpreter.lua.machine.numbers import written
from karta_interpreter.lua.results import FUNCTION, NoJson

Own: TypeAlias = Mapping[str, Callable[..., tuple[JSON, ...]]]
"""What ``require("karta")`` offers: functions from JSON arguments to JSON results."""

Kube: TypeAlias = Mapping[str, Callable[..., JSON]]
"""What ``require("kube")`` offers: functions with one result, None for nil."""

Say: TypeAlias = Callable[[str], None]
ToLua: TypeAlias = Callable[[JSON], Any]

_MOST_SAID: Final = 256 * 1024
_ESCAPED: Final = re.compile("[\udc80-\udcff]")


class Host:
    """The functions for one machine; ``to_lua`` makes a table of spelled JSON without nulls."""

    def __init__(self, kube: Kube, to_lua: ToLua) -> None:
        self.own: Own = {}
        self.say: Say | None = None
        self._kube, self._to_lua = kube, to_lua
        self._said, self._is_ascii = 0, True
        self._lent: list[Object] = []
        self._rests: dict[int, dict[str, JSON]] = {}

    def functions(self) -> Iterator[tuple[str, Callable[..., object]]]:
        """Every function, by the name that ``host`` has in Lua."""
        yield "lower", _on_text(lower)
        yield "upper", _on_text(upper)
        yield "format", _on_text(sprintf)
        yield "now", dates.now
        yield "time", dates.moment
        yield "date", _on_text(dates.formatted)
        yield "date_fields", _on_text(dates.fields)
        yield "take", self._take
        yield "names", self._names
        yield "rest", self._rest_json
        yield "say", self._print
        yield "kube_names", lambda: tuple(self._kube)
        yield "own_names", lambda: tuple(self.own)
        yield "call_kube", lambda name, *given: self._call(lambda *values: (self._kube[name](*values),), given)
        yield "call_own", lambda name, *given: self._call(self.own[name], given)

    def begin(self, own: Own, say: Say | None, *, is_ascii: bool) -> None:
        """Begin a run; ``is_ascii`` is false where texts of its arguments are spelled."""
        self.own, self.say, self._is_ascii = own, say, is_ascii
        self._lent, self._rests, self._said = [], {}, 0

    def give(self, value: JSON) -> tuple[Any, str | None]:
        """A value as Lua takes it, and its kind, for objects are given as numbers."""
        if type(value) is dict:
            return (self._lend(value), "object") if value else (self._to_lua(value), None)
        if type(value) is list:
            if value and all(type(item) is dict and item for item in value):
                return self._to_lua(list(map(self._lend, value))), "objects"
            return self._to_lua(value), None
        return value, None

    def given_values(self, given: Sequence[Any], empty: JSON) -> list[JSON]:
        """The values that ``json.lua`` gives as kinds and values; ``empty`` stands for an empty table."""
        return [self._given_value(kind, value, empty) for kind, value in zip(given[::2], given[1::2], strict=True)]

    def _given_value(self, kind: str, value: Any, empty: JSON) -> JSON:  # noqa: ANN401 - by its kind
        if kind == "table":
            return orjson.loads(decoded(value)) if value != "[]" else type(empty)()
        if kind == "lent":
            lent = self._lent[value - 1]
            return lent if self._is_ascii else orjson.loads(orjson.dumps(lent).decode().encode("latin-1"))
        if kind == "string":
            return decoded(value)
        if kind == "number":
            return written(value)
        if kind == "function":
            return FUNCTION
        return NoJson(decoded(value)) if kind == "problem" else value

    def _lend(self, value: Object) -> int:
        self._lent.append(value)
        return len(self._lent)

    def _rest(self, number: int) -> dict[str, JSON]:
        """The fields of an object that are not converted, to be changed."""
        rest = self._rests.get(number)
        if rest is None:
            rest = self._rests[number] = dict(self._lent[number - 1])
        return rest

    def _take(self, number: int, name: str) -> tuple[Any, str | None]:
        return self.give(self._rest(number).pop(name, None))

    def _names(self, number: int) -> Any:  # noqa: ANN401 - a table of the machine's
        return self._to_lua([*self._rest(number)])

    def _rest_json(self, number: int) -> str:
        return orjson.dumps(self._rests.get(number, self._lent[number - 1])).decode()[1:-1]

    def _call(self, function: Callable[..., Sequence[JSON]], given: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function: true and its results, or false and a message."""
        try:
            results = function(*self.given_values(given, {}))
        except InterpreterError as error:
            return False, spelled(str(error))
        values = spelled_values(results, orjson.dumps(results))
        return True, *(part for value in values for part in self.give(value))

    def _print(self, text: str) -> None:
        """Pass on what a script prints, up to a length."""
        if self.say and self._said <= _MOST_SAID:
            self._said += 1 + len(text)
            self.say(decoded(text) if self._said <= _MOST_SAID else "... and more")


def decoded(text: str) -> str:
    r"""The text that spelled bytes are, with U+FFFD for each one that is no part of UTF-8, as Go has it.

    >>> decoded("gr\u00c3\u00bcn \u00ff") == "gr\u00fcn \ufffd"
    True
    """
    if text.isascii():
        return text
    return _ESCAPED.sub("\ufffd", text.encode("latin-1").decode("utf-8", "surrogateescape"))


def spelled(text: str) -> str:
    """The bytes of a text, each as a character."""
    return text if text.isascii() else text.encode().decode("latin-1")


def spelled_values(values: Sequence[JSON], text: bytes) -> Sequence[JSON]:
    """JSON values spelled and without nulls inside of them; ``text`` is what they are in, as `orjson` writes it.

    That has no escapes but those of control characters, quotes and backslashes, so its bytes can be read one by one.
    """
    if not text.isascii():
        values = orjson.loads(orjson.dumps(values).decode("latin-1"))
    return list(map(without_nulls, values)) if b"null" in text else values


def without_nulls(value: JSON) -> JSON:
    """A value without the fields and elements that are null, as Lua has it."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


def upper(text: str) -> str:
    """A string in capitals, as Go has it: character by character, one that has no single capital stays.

    >>> upper("straße é")
    'STRAßE É'
    """
    return "".join(map(_upper, text))


def lower(text: str) -> str:
    """A string in small letters.

    >>> lower("İÉ")
    'ié'
    """
    return "".join(small if len(small := character.lower()) == 1 else small[0] for character in text)


def _upper(character: str) -> str:
    for capital in (character.upper(), character.title()):
        if len(capital) == 1:
            return capital
    return character


def _on_text(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of texts as one of spelled texts."""

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - by the function
        result = function(*(decoded(value) if type(value) is str else value for value in arguments))
        return spelled(result) if type(result) is str else result

    return call
