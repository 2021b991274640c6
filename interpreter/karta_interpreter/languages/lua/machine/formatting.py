"""``string.format`` of gopher-lua: Go's ``fmt.Sprintf``, with values that format themselves."""

import json
import math
import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.lua.go_numbers import FIRST_BEYOND, SMALLEST, number_text, shortest

_VERB: Final = re.compile(r"%([-+# 0]*)(\*|\d*)(?:\.(\d*))?(.)?", re.DOTALL | re.ASCII)
_GO_TYPES: Final = {
    "nil": "*lua.LNilType",
    "boolean": "lua.LBool",
    "number": "lua.LNumber",
    "string": "lua.LString",
    "table": "*lua.LTable",
    "function": "*lua.LFunction",
}
# The most digits of a width or a precision that Go's `fmt` takes (`parsenum` in fmt/print.go).
_MOST_DIGITS: Final = 7
_INTEGER_BASES: Final = {"b": "b", "d": "d", "i": "d", "o": "o", "x": "x", "X": "X"}


class _Directive(Struct, frozen=True):
    """A directive, from its percent sign to its verb."""

    flags: str
    width: int
    precision: int | None
    verb: str

    def padded(self, text: str, *, zeros: bool = False) -> str:
        """Return a text in the width. Zeros come before it only if they are allowed."""
        if "-" in self.flags:
            return text.ljust(self.width)
        if not zeros or "0" not in self.flags:
            return text.rjust(self.width)
        sign = text[:1] if text[:1] in "+- " else ""
        return sign + text[len(sign) :].rjust(self.width - len(sign), "0")

    def signed(self, text: str) -> str:
        """Return a number with the sign that the flags ask for."""
        if text.startswith(("-", "+")):
            return text
        return ("+" if "+" in self.flags else " " if " " in self.flags else "") + text


def sprintf(form: str, *arguments: JSON) -> str:
    """Return a form with its values filled in. ``arguments`` are pairs of a Lua type's name and a value.

    >>> sprintf("%s-%03d %.1f%% %s", "string", "a", "number", 7.9, "number", 2.25, "nil", None)
    'a-007 2.2% nil'
    >>> sprintf("%d %d", "boolean", True)
    '%!d(lua.LBool=true) %!d(MISSING)'
    """
    values = list(zip(arguments[::2], arguments[1::2], strict=True))
    # `strFormat` hands no more values on to Go (string_safe.go). It counts signs and does not parse.
    values = values[: max(form.count("%") - form.count("%%"), 0)]
    pieces: list[str] = []
    position = used = 0
    while (directive := _VERB.search(form, position)) is not None:
        pieces.append(form[position : directive.start()])
        position, verb = directive.end(), directive[4]
        if directive[2] == "*":
            pieces.append("%!(BADWIDTH)")  # no number of Lua is one of Go's integers
            used += 1
        if verb is None or max(len(directive[2]), len((directive[3] or "").lstrip("0"))) > _MOST_DIGITS:
            pieces.append("%!(NOVERB)")
            position = len(form)
        elif verb == "%":
            pieces.append("%")
        elif used >= len(values):
            pieces.append(f"%!{verb}(MISSING)")
        else:
            width = int(directive[2]) if directive[2].isdecimal() else 0
            precision = None if directive[3] is None else int(directive[3] or 0)
            pieces.append(_value(_Directive(directive[1], width, precision, verb), *values[used]))
            used += 1
    extra = ", ".join(f"{_GO_TYPES[kind]}={_text(kind, value)}" for kind, value in values[used:])
    return "".join((*pieces, form[position:], f"%!(EXTRA {extra})" if extra else ""))


def _value(directive: _Directive, kind: str, value: JSON) -> str:
    verb = directive.verb
    if verb == "T":
        return directive.padded(_GO_TYPES[kind])
    if verb == "w":
        return f"%!w({_GO_TYPES[kind]}={_text(kind, value)})"
    if kind == "number":
        return _number(directive, float(value))
    if kind == "string":
        if verb not in "di":
            return _string(directive, value, "string")
        return _string(directive, value, "string", "s") if _is_number(value) else _integer(directive, 0, "d")
    text = _text(kind, value)
    if verb in "vsxXq":
        return _string(directive, text, _GO_TYPES[kind])
    if kind == "boolean" and verb == "t":
        return directive.padded(text)
    return f"%!{verb}({_GO_TYPES[kind]}={text})" if kind == "boolean" else "&{}"


def _text(kind: str, value: JSON) -> str:
    if kind == "number":
        return number_text(value)
    return "nil" if value is None else str(value).lower() if kind == "boolean" else str(value)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(directive: _Directive, value: float) -> str:
    verb = directive.verb
    if verb in "sq":
        return _string(directive, number_text(value), "string")
    if verb in "eEfFgG":
        return _float(directive, value, "f" if verb == "F" else verb)
    is_small = abs(value) < FIRST_BEYOND
    if verb in "bcdioxXU":
        return _integer(directive, int(value) if is_small else SMALLEST, verb)
    is_integral = is_small and value.is_integer()
    if verb != "v":
        return f"%!{verb}({'int64' if is_integral else 'float64'}={number_text(value)})"
    directive = replace(directive, flags=directive.flags.replace("+", ""))
    return _integer(directive, int(value), "d") if is_integral else _float(directive, value, "g")


def _integer(directive: _Directive, value: int, verb: str) -> str:
    if verb == "c":
        # Go writes no half of a surrogate pair either.
        is_character = 0 <= value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF  # noqa: PLR2004 - of Unicode
        return directive.padded(chr(value) if is_character else "\ufffd")
    if verb == "U":
        return directive.padded(f"U+{value & 0xFFFFFFFFFFFFFFFF:04X}")
    base = _INTEGER_BASES[verb]
    prefix = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}.get(base, "") if "#" in directive.flags else ""
    digits, precision = format(abs(value), base), directive.precision
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    return directive.padded(directive.signed(("-" if value < 0 else "") + prefix + digits), zeros=precision is None)


def _float(directive: _Directive, value: float, verb: str) -> str:
    if not math.isfinite(value):
        return directive.padded(shortest(value))
    if verb in "gG" and directive.precision is None:
        text = shortest(value)
        return directive.padded(directive.signed(text.upper() if verb == "G" else text), zeros=True)
    precision = 6 if directive.precision is None else directive.precision
    sharp = "#" if "#" in directive.flags else ""
    return directive.padded(directive.signed(format(value, f"{sharp}.{precision}{verb}")), zeros=True)


def _string(directive: _Directive, text: str, go_type: str, verb: str = "") -> str:
    verb = verb or directive.verb
    if directive.precision is not None and verb in "svq":
        text = text[: directive.precision]
    if verb == "q" or (verb == "v" and "#" in directive.flags):
        return directive.padded(json.dumps(text, ensure_ascii=False), zeros=True)
    if verb in "sv":
        return directive.padded(text, zeros=True)
    if verb in "xX":
        digits = text.encode().hex(*" " if " " in directive.flags else "")
        return directive.padded(digits if verb == "x" else digits.upper())
    return f"%!{verb}({go_type}={text})"
