"""A place in the tokens of an expression, and the errors for what is found there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from karta_interpreter.errors import QuerySyntaxError
from karta_interpreter.jq.grammar.lexer import Kind, Token, tokenize
from karta_interpreter.jq.grammar.syntax import Node, Span

NESTING_LIMIT = 128
"""How deep the parser may recurse into itself; about 40 brackets inside of each other."""

_HINTS = {
    "?//": "`?//` separates patterns; to give a default, write `? //` with a space",
    "as": "a binding, `... as $name | ...`, needs parentheses here",
    "+": "jq has no sign for positive numbers",
}
_CLOSERS = {"(": ")", "[": "]", "{": "}", "\\(": ")"}
_CLOSING_KINDS = {Kind.SYMBOL: Kind.SYMBOL, Kind.OPEN_INTERPOLATION: Kind.CLOSE_INTERPOLATION}
_SIGNS = {Kind.FIELD: ".", Kind.VARIABLE: "$", Kind.FORMAT: "@"}


class Cursor:
    """Reads tokens one after the other; ``next`` is the one in front."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._place = 0
        self._depth = 0
        self.next = self._tokens[0]

    def advance(self) -> Token:
        """Take the next token."""
        token = self.next
        if token.kind is not Kind.END:
            self._place += 1
            self.next = self._tokens[self._place]
        return token

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these symbols or keywords."""
        return self.next.text in texts and self.next.kind in (Kind.SYMBOL, Kind.KEYWORD)

    def at_kind(self, kind: Kind) -> bool:
        """Whether the next token is of this kind."""
        return self.next.kind is kind

    def follows(self, kind: Kind) -> bool:
        """Whether the token after the next one is of this kind."""
        return self._tokens[min(self._place + 1, len(self._tokens) - 1)].kind is kind

    def after(self, text: str) -> bool:
        """Whether the token taken last is this one."""
        return bool(self._place) and self._tokens[self._place - 1].text == text

    def accept(self, *texts: str) -> Token | None:
        """Take the next token if it is one of these symbols or keywords."""
        return self.advance() if self.at(*texts) else None

    def accept_kind(self, kind: Kind) -> Token | None:
        """Take the next token if it is of this kind."""
        return self.advance() if self.next.kind is kind else None

    def expect(self, text: str, what: str) -> Token:
        """Take this symbol or keyword; ``what`` says where it belongs: "after the condition of `if`"."""
        return self.accept(text) or self.fail(f"expected `{text}` {what}")

    def close(self, opened: Token) -> Token:
        """Take the bracket that closes ``opened``."""
        closer = _CLOSERS[opened.text]
        if self.next.text == closer and self.next.kind is _CLOSING_KINDS[opened.kind]:
            return self.advance()
        if self.next.kind is Kind.END:
            raise self.error(f"`{opened.text}` opened here is never closed", opened.span)
        return self.fail(f"expected `{closer}`")

    def span(self, start: Token | Node) -> Span:
        """From the start of something to the end of the token taken last."""
        return Span(start.span.start, self._tokens[self._place - 1].span.end)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Go one level deeper."""
        if self._depth >= NESTING_LIMIT:
            raise self.error("the expression is nested too deeply here", self.next.span)
        self._depth += 1
        yield
        self._depth -= 1

    def fail(self, message: str, hint: str = "") -> NoReturn:
        """Complain about the next token."""
        found = "the expression ends here" if self.next.kind is Kind.END else f"found `{_written(self.next)}`"
        usual = _HINTS[self.next.text] if self.at(*_HINTS) else ""
        raise self.error(f"{message}, but {found}", self.next.span, hint or usual)

    def after_previous(self) -> str:
        """The token taken last, for a message: "after `//`"."""
        return f" after `{_written(self._tokens[self._place - 1])}`" if self._place else ""

    @staticmethod
    def error(message: str, span: Span, hint: str = "") -> QuerySyntaxError:
        """An error at a place of the expression."""
        return QuerySyntaxError(message, start=span.start, end=span.end, hint=hint)


def _written(token: Token) -> str:
    return _SIGNS.get(token.kind, "") + token.text
