"""JSON values on their way into Lua and out of it; ``lua/lending.lua`` and ``lua/encoding.lua`` describe the tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.machine.numbers import written
from karta_interpreter.lua.typed import Requirements
from karta_interpreter.lua.values import FUNCTION, NoJson

Token: TypeAlias = Any
"""None, bool, int, float or str: nothing else ever crosses the border of the virtual machine."""

Tokens: TypeAlias = tuple[Token, ...]

_AT_ONCE: Final = 1000
_TOO_LARGE: Final[Tokens] = (-1,)
_SHORT: Final = 1024
_NO_JSON: Final = 0.25
_MOST_JSON: Final = 64 * 2**20


class TooLargeError(Exception):
    """A value that a machine with its limits does not take, or that is too much for those behind it."""


class Exchange:
    """What one run has lent to Lua, and how its values are written as tokens.

    ``longest`` is the most characters of a string, at least 1024, and ``most`` the most tokens of all values together.
    """

    __slots__ = ("_given", "_json", "_lent", "_most", "_pending", "_room", "_typed", "longest")

    def __init__(self, longest: float, most: float) -> None:
        self.longest, self._most = longest, most
        self._typed = False
        self._given: set[int] = set()
        self._json = 0
        self.clear()

    def clear(self) -> None:
        """Forget everything of the last run."""
        self._room = self._most
        self._lent: list[Object] = []
        self._pending: list[Token] = []

    def lend(self, values: Sequence[JSON]) -> Tokens:
        """The tokens of some values, behind the number of those that have to be fetched with `more`."""
        if len(values) == 1 and isinstance(values[0], dict) and values[0]:
            self._lent.append(values[0])
            return 0, None, len(self._lent)
        tokens: list[Token] = [0]
        try:
            for value in values:
                if value is None:
                    tokens += (None, False)
                else:
                    self._write(value, tokens)
        except TooLargeError:
            return _TOO_LARGE
        return self._first(tokens)

    def content(self, number: int) -> Tokens:
        """The keys and values of an object that was lent, in the same form."""
        tokens: list[Token] = [0]
        append, lent = tokens.append, self._lent
        content = lent[number - 1]
        try:
            self._make_room(len(content))
            for key, value in content.items():
                if value is None:
                    continue
                append(key)
                kind = type(value)
                if (kind is str and len(value) <= _SHORT) or kind is int or kind is bool:
                    append(value)
                elif kind is dict and value:
                    lent.append(value)
                    append(None)
                    append(len(lent))
                else:
                    self._write(value, tokens)
        except TooLargeError:
            return _TOO_LARGE
        return self._first(tokens)

    def more(self) -> Tokens:
        """The tokens that were left over, behind the number of those that still are."""
        piece, self._pending = self._pending[:_AT_ONCE], self._pending[_AT_ONCE:]
        return (len(self._pending), *piece)

    def read(self, tokens: Sequence[Token], empty: Callable[[], JSON], *, typed: bool = False) -> list[JSON]:
        """The values of tokens that Lua gave; ``empty`` makes what stands for an empty table.

        `Requirements` are kept as such for those who read the values as Go's types: ``typed``. Raises TooLargeError
        for values that are little to Python and much as JSON: one large object, many times.
        """
        self._typed = typed
        self._json = 0
        self._given.clear()
        if len(tokens) == 2 and tokens[0] is False and tokens[1] >= 1:  # noqa: PLR2004 - one untouched object
            return [self._object(tokens[1])]
        left = iter(tokens)
        return [self._read(token, left, empty) for token in left]

    def lent(self, number: int) -> JSON:
        """An object that was lent."""
        return self._lent[number - 1]

    def _object(self, number: int) -> JSON:
        """An untouched object as it comes back from Lua, without nulls; its JSON is counted."""
        value = self._lent[number - 1]
        if type(value) is Requirements:
            self._count_again(number, value)
            return value if self._typed else dict(value)
        try:
            text = orjson.dumps(value)
        except TypeError:  # something that is no JSON of 64 bits
            self._count_again(number, None)
            return without_nulls(value)
        self._count(len(text))
        return value if b"null" not in text else without_nulls(value)

    def _count_again(self, number: int, value: JSON) -> None:
        """Count an object whose text takes long to write, or cannot be written, when it comes a second time."""
        if number in self._given:
            self._count(len(orjson.dumps(value)) if value else _MOST_JSON >> 4)
        else:
            self._given.add(number)

    def _count(self, length: int) -> None:
        self._json += length
        if self._json > _MOST_JSON:
            raise TooLargeError

    def _first(self, tokens: list[Token]) -> Tokens:
        if len(tokens) <= _AT_ONCE:
            return tuple(tokens)
        self._pending = tokens[_AT_ONCE:]
        return (len(self._pending), *tokens[1:_AT_ONCE])

    def _make_room(self, tokens: int) -> None:
        self._room -= tokens
        if self._room < 0:
            raise TooLargeError

    def _write(self, value: JSON, tokens: list[Token]) -> None:
        if isinstance(value, str):
            if len(value) > self.longest:
                raise TooLargeError
            tokens.append(value)
        elif isinstance(value, Mapping):
            if value:
                self._lent.append(value)
            tokens += (None, len(self._lent) if value else 0)
        elif isinstance(value, list | tuple):
            self._write_array(value, tokens)
        elif isinstance(value, int | float):
            tokens.append(value)
        else:
            raise TypeError(f"{type(value).__name__} is not JSON")

    def _write_array(self, array: Sequence[JSON], tokens: list[Token]) -> None:
        self._make_room(len(array))
        items = [item for item in array if item is not None]
        tokens += (None, -len(items))
        for item in items:
            if type(item) is dict and item:
                self._lent.append(item)
                tokens += (None, len(self._lent))
            else:
                self._write(item, tokens)

    def _read(self, token: Token, tokens: Iterator[Token], empty: Callable[[], JSON]) -> JSON:
        if token is False:
            return self._read_marked(next(tokens), tokens, empty)
        return written(token) if type(token) is int or type(token) is float else token

    def _read_marked(self, number: float, tokens: Iterator[Token], empty: Callable[[], JSON]) -> JSON:
        """What a number behind false stands for."""
        if number >= 1:
            return self._object(int(number))
        if number == -1:
            return empty()
        if number == _NO_JSON:
            return NoJson(next(tokens))
        if number >= 0:
            return FUNCTION if number else False
        size, is_object = divmod(-int(number), 2)
        if not is_object:
            return [self._read(next(tokens), tokens, empty) for _ in range(size)]
        fields = {}
        for _ in range(size):
            key, value = next(tokens), next(tokens)
            if value is False:
                value = self._read_marked(next(tokens), tokens, empty)
            elif type(value) is not str:
                value = self._read(value, tokens, empty)
            fields[key] = value
        return fields


def without_nulls(value: JSON) -> JSON:
    """A value without the fields and elements that are null, as Lua has it."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(item) for item in value if item is not None]
    return value
