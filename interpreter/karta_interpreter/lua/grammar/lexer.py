r"""The tokens of a script.

As gopher-lua's ``parse/lexer.go`` has them, except for numbers and bytes that it takes where Lua 5.1 complains: ``3e``,
which it reads as NaN, ``3...x`` and ``"\300"``.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from karta_interpreter.errors import LuaSyntaxError

SIZE_LIMIT: Final = 256 * 1024
"""The longest accepted script, in bytes of UTF-8."""

KEYWORDS: Final = frozenset(
    (
        *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local"),
        *("nil", "not", "or", "repeat", "return", "then", "true", "until", "while"),
    )
)


class Kind(StrEnum):
    """What a token is; ``SYMBOL`` covers every operator, bracket and keyword."""

    NAME = "name"
    NUMBER = "number"
    TEXT = "string"
    SYMBOL = "symbol"
    COMMENT = "comment"
    END = "end of the script"


class Token(NamedTuple):
    """One token as written: a string keeps its quotes; ``line`` is the one that it starts on."""

    kind: Kind
    text: str
    start: int
    end: int
    line: int


_TOKEN = re.compile(
    r"""
      (?P<blank> [ \t\r\n]+ )
    | (?P<name> [A-Za-z_][A-Za-z_0-9]* )
    | (?P<number> 0[xX][0-9a-fA-F]+
        | (?!0[xX]) (?> [0-9]+ (?:\.[0-9]*)? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ | (?![.eE]) ) )
    | (?P<comment> -- (?: \[(?P<depth>=*)\[ (?s:.*?) \](?P=depth)\] | (?!\[[=[]) [^\r\n]* ) )
    | (?P<string> "(?: [^"\\\r\n]++ | \\(?: \r\n | \n\r | (?s:.) ) )*"
        | '(?: [^'\\\r\n]++ | \\(?: \r\n | \n\r | (?s:.) ) )*'
        | \[(?P<level>=*)\[ (?s:.*?) \](?P=level)\] )
    | (?P<symbol> \.\.\. | \.\. | == | ~= | <= | >= | :: | \[(?![=[]) | -(?!-) | \.(?![0-9]) | [+*/%^\#()=<>{}\];:,] )
    """,
    re.VERBOSE,
)
_NEWLINE = re.compile(r"\r\n|\n\r|\r|\n")
_KINDS = {
    "name": Kind.NAME,
    "number": Kind.NUMBER,
    "comment": Kind.COMMENT,
    "string": Kind.TEXT,
    "symbol": Kind.SYMBOL,
}
_ESCAPE = re.compile(rb"\\(?:([0-9]{1,3})|(\r\n|\n\r|.))", re.DOTALL)
_ESCAPED = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    **dict.fromkeys((b"\r", b"\r\n", b"\n\r"), b"\n"),
}
_BYTE_MAX = 255
_MISTAKES = {
    "!=": "`!=` is not Lua; write `~=`",
    "!": "`!` is not Lua; write `not`",
    "~": "`~` is not Lua; unequal is `~=`",
    "&&": "`&&` is not Lua; write `and`",
    "||": "`||` is not Lua; write `or`",
    "\ufeff": "the script starts with a byte order mark; remove it",
}
_BAD_NUMBER = re.compile(r"\.?[0-9][0-9A-Za-z_.]*")


def tokenize(text: str) -> list[Token]:
    """Split a script into its tokens, the last of which is the end; comments are left out.

    Raises `LuaSyntaxError` for text that no token starts with, an endless string or too long a script.

    >>> [token.text for token in tokenize("return a.b -- c")]
    ['return', 'a', '.', 'b', '']
    """
    return [token for token in scan(text) if token.kind is not Kind.COMMENT]


def scan(text: str) -> Iterator[Token]:
    """The tokens of a script, comments among them."""
    _check_size(text)
    place, line = 0, 1
    while found := _TOKEN.match(text, place):
        start, place = place, found.end()
        written, group = found.group(), found.lastgroup
        if group == "blank":
            line += count_newlines(written)
            continue
        kind = Kind.SYMBOL if written in KEYWORDS else _KINDS[group or ""]
        yield Token(kind, written, start, place, line)
        if kind in (Kind.TEXT, Kind.COMMENT):
            line += count_newlines(written)
    if place < len(text):
        raise LuaSyntaxError(_complaint(text, place), line=line)
    yield Token(Kind.END, "", place, place, line)


def count_newlines(text: str) -> int:
    """How many lines end in a text; CR LF and LF CR are one newline."""
    return len(_NEWLINE.findall(text)) if "\r" in text else text.count("\n")


def value_of(token: Token) -> str:
    r"""What a string token stands for.

    Raises `LuaSyntaxError` for an escape that is no byte.

    >>> value_of(Token(Kind.TEXT, r"'a\65\n'", 0, 8, 1))
    'aA\n'
    """
    if token.text[0] == "[":
        width = token.text.index("[", 1) + 1
        inside = _NEWLINE.sub("\n", token.text[width:-width])
        return inside.removeprefix("\n")
    inside = token.text[1:-1]
    if "\\" not in inside:
        return inside
    return _ESCAPE.sub(lambda escape: _unescaped(escape, token), inside.encode()).decode(errors="surrogateescape")


def _unescaped(escape: re.Match[bytes], token: Token) -> bytes:
    digits, character = escape.groups()
    if not digits:
        return _ESCAPED.get(character, character)
    if int(digits) > _BYTE_MAX:
        raise LuaSyntaxError(f"`\\{digits.decode()}` is not a byte; the largest is `\\255`", line=token.line)
    return bytes((int(digits),))


def _check_size(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as err:
        line = 1 + count_newlines(text[: err.start])
        raise LuaSyntaxError("this character is half of a surrogate pair", line=line) from err
    if size > SIZE_LIMIT:
        raise LuaSyntaxError(f"the script is {size} bytes long; at most {SIZE_LIMIT} are allowed", line=1)


def _complaint(text: str, place: int) -> str:
    rest = text[place : place + 3]
    if rest[0] in "\"'":
        return f"the string that starts here has no closing `{rest[0]}` on its line"
    if rest[0] == "[" or rest.startswith("--"):
        return _bracket_complaint(text, place)
    if number := _BAD_NUMBER.match(text, place):
        return f"`{number.group()}` is not a number"
    if mistake := next((_MISTAKES[rest[:size]] for size in (2, 1) if rest[:size] in _MISTAKES), ""):
        return mistake
    return f"`{rest[0]}` means nothing in Lua" if rest[0].isprintable() else f"{rest[0]!r} means nothing in Lua"


def _bracket_complaint(text: str, place: int) -> str:
    what = "comment" if text[place] == "-" else "string"
    opened = re.compile(r"(?:--)?\[(=*)(\[?)").match(text, place)
    depth, complete = opened.groups() if opened else ("", "")
    if complete:
        return f"the {what} opened with `{'--' * (what == 'comment')}[{depth}[` is never closed with `]{depth}]`"
    return f"`[{depth}` starts a long {what}, but has no second `[`"
