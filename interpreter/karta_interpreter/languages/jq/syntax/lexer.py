r"""The tokens of a jq expression.

A string is not one token: it may hold whole expressions, ``"a\(.b)c"``, so it becomes a quote, pieces of text,
interpolations and a closing quote. Everything here follows jq 1.7 and gojq 0.12.19 where the two agree.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from sys import intern
from typing import NamedTuple

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.base.findings import Span

SIZE_LIMIT = 64 * 1024
"""The longest accepted expression, in bytes of UTF-8."""

KEYWORDS = frozenset(
    (
        *("def", "as", "if", "then", "elif", "else", "end", "and", "or", "try", "catch", "reduce", "foreach"),
        *("label", "break", "import", "include", "module"),
    )
)


class Kind(StrEnum):
    """The kind of a token. ``SYMBOL`` covers every operator and bracket."""

    NAME = "name"
    KEYWORD = "keyword"
    FIELD = "field"
    VARIABLE = "variable"
    NUMBER = "number"
    FORMAT = "format"
    SYMBOL = "symbol"
    OPEN_TEXT = "string"
    TEXT = "text"
    OPEN_INTERPOLATION = "interpolation"
    CLOSE_INTERPOLATION = "end of interpolation"
    CLOSE_TEXT = "end of string"
    END = "end of the expression"


class Token(NamedTuple):
    """One token: ``text`` as written, except that ``FIELD``, ``VARIABLE`` and ``FORMAT`` lose their sign.

    A ``TEXT`` token has its escapes replaced by characters.
    """

    kind: Kind
    text: str
    span: Span


_CODE = re.compile(
    r"""
      (?P<blank> [ \t\r\n]+ | \#(?: \\\\ | \\\r?\n | [^\n] )* )   # jq 1.7: a backslash continues a comment
    | (?P<number> (?: [0-9]+ (?:\.[0-9]*)? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | \.(?P<field> [A-Za-z_][A-Za-z_0-9]* )
    | (?P<name> (?: [A-Za-z_][A-Za-z_0-9]*:: )* [A-Za-z_][A-Za-z_0-9]* )
    | \$(?P<variable> (?: [A-Za-z_][A-Za-z_0-9]*:: )* [A-Za-z_][A-Za-z_0-9]* )
    | @(?P<format> [A-Za-z_0-9]+ )
    | (?P<quote> " )
    | (?P<symbol> \?// | //= | == | != | <= | >= | // | \|= | \+= | -= | \*= | /= | %= | \.\.
        | [][(){}.,:;|=<>+*/%?-] )
    """,
    re.VERBOSE,
)
_TEXT = re.compile(r'(?P<plain>[^"\\]+)|(?P<escapes>(?:\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})+)')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPES = 'a string knows \\" \\\\ \\/ \\b \\f \\n \\r \\t, \\u and four hexadecimal digits, and \\(expression)'
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def tokenize(text: str) -> list[Token]:
    """Split an expression into its tokens. The last token is the end.

    Raises `QuerySyntaxError` for text that no token starts with, an endless string or too long an expression.

    >>> [token.text for token in tokenize(".spec | .replicas // 1")]
    ['spec', '|', 'replicas', '//', '1', '']
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as err:
        raise QuerySyntaxError("this character is half of a surrogate pair", start=err.start, end=err.end) from err
    if size > SIZE_LIMIT:
        message = f"the expression is {size} bytes long; at most {SIZE_LIMIT} are allowed"
        raise QuerySyntaxError(message, start=0, end=len(text))
    return list(_Lexer(text).tokens())


class _Lexer:
    """Walks over the text once.

    ``open_quotes`` holds the positions of the opening quotes around the current place. ``brackets`` counts the open
    parentheses inside of each interpolation around it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.brackets: list[int] = []
        self.open_quotes: list[int] = []

    def tokens(self) -> Iterator[Token]:
        while self.place < len(self.text):
            yield from self._code()
        if self.open_quotes:
            raise self._endless_string()
        yield Token(Kind.END, "", Span(self.place, self.place))

    def _code(self) -> Iterator[Token]:
        lexeme = _CODE.match(self.text, self.place)
        if not lexeme:
            character = self.text[self.place]
            shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
            raise QuerySyntaxError(f"unexpected character {shown}", start=self.place, end=self.place + 1)
        match lexeme.lastgroup:
            case "blank":
                self.place = lexeme.end()
            case "quote":
                self.open_quotes.append(self.place)
                yield self._token(Kind.OPEN_TEXT, lexeme.end())
                yield from self._string()
            case "symbol" if self.brackets and lexeme[0] == ")" and not self.brackets[-1]:
                self.brackets.pop()
                yield self._token(Kind.CLOSE_INTERPOLATION, lexeme.end())
                yield from self._string()
            case "symbol":
                if self.brackets and lexeme[0] in "()":
                    self.brackets[-1] += 1 if lexeme[0] == "(" else -1
                yield self._token(Kind.SYMBOL, lexeme.end())
            case "name" if lexeme[0] in KEYWORDS:
                yield self._token(Kind.KEYWORD, lexeme.end())
            case group:
                yield self._token(Kind(str(group)), lexeme.end(), lexeme[str(group)])

    def _string(self) -> Iterator[Token]:
        """Read on inside a string, up to its end or to the start of an interpolation."""
        while piece := _TEXT.match(self.text, self.place):
            yield self._token(Kind.TEXT, piece.end(), piece["plain"] or self._unescape(piece["escapes"]))
        if self.text.startswith('"', self.place):
            self.open_quotes.pop()
            yield self._token(Kind.CLOSE_TEXT, self.place + 1)
        elif self.text.startswith("\\(", self.place):
            self.brackets.append(0)
            yield self._token(Kind.OPEN_INTERPOLATION, self.place + 2)
        elif self.place + 1 < len(self.text):
            escape = self.text[self.place : self.place + 2]
            raise QuerySyntaxError(f"`{escape}` is not an escape", start=self.place, end=self.place + 2, hint=_ESCAPES)
        else:
            raise self._endless_string()

    def _unescape(self, escapes: str) -> str:
        units = [chr(int(code, 16)) if code else _ESCAPED.get(sign, sign) for code, sign in _ESCAPE.findall(escapes)]
        try:
            # UTF-16 joins two escapes that are the halves of one character.
            return "".join(units).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as err:
            raise QuerySyntaxError(
                "this escape is half of a surrogate pair", start=self.place, end=self.place + len(escapes)
            ) from err

    def _token(self, kind: Kind, end: int, text: str | None = None) -> Token:
        span = Span(self.place, end)
        self.place = end
        # Definitions repeat the same words and keep them, so each is kept once.
        return Token(kind, intern(self.text[span.start : end] if text is None else text), span)

    def _endless_string(self) -> QuerySyntaxError:
        return QuerySyntaxError(
            "the string that starts here never ends", start=self.open_quotes[-1], end=self.open_quotes[-1] + 1
        )
