"""The Python functions for the half of a machine that is written in Lua.

Scripts get to none of these functions: they call functions of Lua that call them. The machine hands over each byte of a
string as one character, because a string of Lua need not be UTF-8. Such text is called Latin-1 text here.

A script gets an object as a number, and each level of the object becomes a table when the script first reads a field of
it: most scripts read a small part of their objects. The argument itself is JSON text, and a field of it is decoded
then.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.languages.lua.empty_tables import without_nulls
from karta_interpreter.languages.lua.go_numbers import json_number
from karta_interpreter.languages.lua.machine import dates
from karta_interpreter.languages.lua.machine.bytecode import as_karmada_compiles
from karta_interpreter.languages.lua.machine.formatting import sprintf
from karta_interpreter.languages.lua.results import FUNCTION, NoJson
from karta_interpreter.languages.lua.script import Own

Kube: TypeAlias = Mapping[str, Callable[..., JSON]]
"""The functions of ``require("kube")``. Each has one result, with None for nil."""

OnPrint: TypeAlias = Callable[[str], None]

_MOST_PRINTED: Final = 256 * 1024
_ESCAPED: Final = re.compile("[\udc80-\udcff]")
_NULL: Final = b"null"
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Host:
    """The functions for one machine. ``to_lua`` makes a table of JSON in Latin-1 text, without nulls."""

    def __init__(self, kube: Kube, to_lua: Callable[[JSON], Any]) -> None:
        self._kube, self._to_lua = kube, to_lua
        self.begin({}, None)

    def functions(self) -> Iterator[tuple[str, Callable[..., object]]]:
        """Yield every function, by the name that ``host`` has in Lua."""
        yield "lower", _on_text(lower)
        yield "upper", _on_text(upper)
        yield "format", _on_text(sprintf)
        yield "now", dates.now
        yield "time", dates.moment
        yield "date", _on_text(dates.formatted)
        yield "date_fields", _on_text(dates.fields)
        yield "take", self._take
        yield "names", lambda number: self._to_lua(list(map(as_latin1, self._rest(number))))
        yield "rest", self._rest_json
        yield "as_karmada_compiles", lambda code: as_karmada_compiles(code.encode("latin-1")).decode("latin-1")
        yield "print", self._print
        yield "kube_names", lambda: tuple(self._kube)
        yield "own_names", lambda: tuple(self._own)
        yield "call_kube", lambda name, *arguments: self._called(partial(self._call_kube, name), arguments)
        yield (
            "call_own",
            lambda name, *arguments: self._called(
                lambda *values: map(without_nulls, self._own[name](*values)), arguments
            ),
        )

    def _call_kube(self, name: str, *arguments: JSON) -> list[JSON]:
        return [self._kube[name](*arguments)]

    def begin(self, own: Own, on_print: OnPrint | None) -> None:
        """Begin a run."""
        self._own, self._on_print, self._printed = own, on_print, 0
        self._objects: list[bytes | Object] = []
        self._rests: dict[int, dict[str, Any]] = {}

    def give_text(self, text: bytes) -> tuple[Any, str | None]:
        """Do the same as `give`, for an argument that is JSON text."""
        if text.startswith(b"{") and text != b"{}":
            return self._register(text), "object"
        return self.give(_without_nulls_of(text))

    def give(self, value: JSON) -> tuple[Any, str | None]:
        """Return a value without nulls as Lua takes it, and its kind. An object is passed as a number."""
        kind = type(value)
        if kind is str:
            return as_latin1(value), None
        if value and kind is dict:
            return self._register(value), "object"
        # Such as items of statuses. Scripts read a few fields of each. An empty object is an empty table.
        if value and kind is list and all(item and type(item) is dict for item in value):
            return self._to_lua(list(map(self._register, value))), "objects"
        return (self._to_lua(_table_as_latin1(value)) if kind in (dict, list) else value), None

    def given_values(self, arguments: Sequence[Any], empty: JSON) -> list[JSON]:
        """Return the values that ``json.lua`` passes as kinds and values. An empty table becomes ``empty``."""
        return [
            self._given_value(kind, value, empty) for kind, value in zip(arguments[::2], arguments[1::2], strict=True)
        ]

    def _given_value(self, kind: str, value: Any, empty: JSON) -> JSON:  # noqa: ANN401 - by its kind
        match kind:
            case "table":
                return orjson.loads(decoded(value)) if value != "[]" else type(empty)()
            case "unread":
                obj = self._objects[value - 1]
                return _without_nulls_of(obj) if type(obj) is bytes else obj
            case "string":
                return decoded(value)
            case "number":
                return json_number(value)
            case "function":
                return FUNCTION
            case "problem":
                return NoJson(decoded(value))
            case _:
                return value

    def _register(self, value: bytes | Object) -> int:
        self._objects.append(value)
        return len(self._objects)

    def _rest(self, number: int) -> dict[str, Any]:
        """Return the fields of an object that are not converted, to be changed.

        The fields of an argument are not decoded.
        """
        fields = self._rests.get(number)
        if fields is None:
            obj: Any = self._objects[number - 1]
            fields = self._rests[number] = _OBJECT.decode(obj) if type(obj) is bytes else dict(obj)
        return fields

    def _take(self, number: int, name: str) -> tuple[Any, str | None] | None:
        # Taken out: from now on the table of Lua has the field, and may change it.
        field = self._rest(number).pop(name if name.isascii() else _from_latin1(name), None)
        if field is None:
            return None
        return self.give(_without_nulls_of(bytes(field)) if type(field) is msgspec.Raw else field)

    def _rest_json(self, number: int) -> str:
        fields = self._rests.get(number, self._objects[number - 1])
        text = fields if type(fields) is bytes else msgspec.json.encode(fields)
        if type(self._objects[number - 1]) is bytes and _NULL in text:
            text = orjson.dumps(_without_nulls_of(text))
        return text[1:-1].decode("latin-1")

    def _called(self, function: Callable[..., Iterable[JSON]], arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function: true and its results, or false and a message."""
        try:
            results = function(*self.given_values(arguments, {}))
        except InterpreterError as error:
            return False, as_latin1(str(error))
        return True, *chain.from_iterable(map(self.give, results))

    def _print(self, text: str) -> None:
        if self._on_print and self._printed <= _MOST_PRINTED:
            self._printed += 1 + len(text)
            self._on_print(decoded(text) if self._printed <= _MOST_PRINTED else "... and more")


def decoded(text: str) -> str:
    r"""Return the UTF-8 text in the bytes of a Latin-1 text, with U+FFFD for each invalid byte, as Go has it.

    >>> decoded("gr\u00c3\u00bcn \u00ff") == "gr\u00fcn \ufffd"
    True
    """
    return text if text.isascii() else _ESCAPED.sub("\ufffd", _from_latin1(text))


def as_latin1(text: str) -> str:
    """Return the bytes of a text, each as a character."""
    return text if text.isascii() else text.encode().decode("latin-1")


def _from_latin1(text: str) -> str:
    """Return the UTF-8 text in the bytes of a Latin-1 text, with a surrogate for each invalid byte."""
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "surrogateescape")


def _table_as_latin1(value: JSON) -> JSON:
    """Return a value with its texts as Latin-1 text. `orjson` escapes nothing beyond ASCII."""
    text = orjson.dumps(value)
    return value if text.isascii() else orjson.loads(text.decode("latin-1"))


def _without_nulls_of(text: bytes) -> JSON:
    """Return the value of JSON text without its nulls."""
    value = orjson.loads(text)
    return without_nulls(value) if _NULL in text else value


def upper(text: str) -> str:
    """Return a string in capitals, as Go has it: character by character. One without a single capital stays.

    >>> upper("straße é")
    'STRAßE É'
    """
    capitals = ((character.upper(), character.title(), character) for character in text)
    return "".join(next(form for form in several if len(form) == 1) for several in capitals)


def lower(text: str) -> str:
    """Return a string in small letters.

    >>> lower("İÉ")
    'ié'
    """
    return "".join(small if len(small := character.lower()) == 1 else small[0] for character in text)


def _on_text(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of texts as one of Latin-1 texts."""

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - by the function
        result = function(*(decoded(value) if type(value) is str else value for value in arguments))
        return as_latin1(result) if type(result) is str else result

    return call
