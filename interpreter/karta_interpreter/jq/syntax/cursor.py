"""A place in the tokens of an expression, and the errors for what is found there."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from karta_interpreter.errors import QuerySyntaxError
from karta_interpreter.jq.syntax import ArrayPattern, Literal, Node, ObjectPattern, Pattern, Span, VariablePattern
from karta_interpreter.jq.syntax.lexer import Kind, Token, tokenize

NESTING_LIMIT = 128
"""How deep the parser may recurse into itself; about 40 brackets inside of each other."""

_HINTS = {
    "?//": "`?//` separates patterns; to give a default, write `? //` with a space",
    "as": "a binding, `... as $name | ...`, needs parentheses here",
    "+": "jq has no sign for positive numbers",
}
_CLOSERS = {"(": ")", "[": "]", "{": "}", "\\(": ")"}
_SIGNS = {Kind.FIELD: ".", Kind.VARIABLE: "$", Kind.FORMAT: "@"}

T = TypeVar("T")


class Cursor(ABC):
    """Reads tokens, of which ``next`` is the one in front, and patterns, which may contain whole queries."""

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

    def accept(self, *texts: str) -> Token | None:
        """Take the next token if it is one of these symbols or keywords."""
        return self.advance() if self.at(*texts) else None

    def accept_kind(self, kind: Kind) -> Token | None:
        """Take the next token if it is of this kind."""
        return self.advance() if self.next.kind is kind else None

    def expect(self, text: str, what: str) -> Token:
        """Take this symbol or keyword; ``what`` is where it belongs: "after the condition of `if`"."""
        return self.accept(text) or self.fail(f"expected `{text}` {what}")

    def close(self, opened: Token) -> Token:
        """Take the bracket that closes ``opened``."""
        closer = _CLOSERS[opened.text]
        kind = Kind.SYMBOL if opened.kind is Kind.SYMBOL else Kind.CLOSE_INTERPOLATION
        if self.next.text == closer and self.next.kind is kind:
            return self.advance()
        if self.next.kind is Kind.END:
            raise self.error(f"`{opened.text}` opened here is never closed", opened.span)
        return self.fail(f"expected `{closer}`")

    def several(self, read: Callable[[], T], separator: str) -> tuple[T, ...]:
        """Read one or more of something, with a separator between them."""
        found = [read()]
        while self.accept(separator):
            found.append(read())
        return tuple(found)

    def span(self, start: Token | Node) -> Span:
        """From the start of something to the end of the token taken last."""
        return Span(start.span.start, self._tokens[self._place - 1].span.end)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Go one level deeper."""
        if self._depth >= NESTING_LIMIT:
            raise self.error("the expression is nested too deeply here", self.next.span)
        # No `finally`: an error ends the whole parse.
        self._depth += 1
        yield
        self._depth -= 1

    def fail(self, message: str, hint: str = "") -> NoReturn:
        """Complain about the next token."""
        found = "the expression ends here" if self.next.kind is Kind.END else f"found `{self._written(self.next)}`"
        usual = _HINTS[self.next.text] if self.at(*_HINTS) else ""
        raise self.error(f"{message}, but {found}", self.next.span, hint or usual)

    def missing(self, what: str, hint: str = "") -> NoReturn:
        """Complain that something else has to be next: "expected `)` after `1`"."""
        self.fail(f"expected {what}{self.after_previous}", hint)

    @property
    def after_previous(self) -> str:
        """The token taken last, for a message: "after `//`"."""
        return f" after `{self._written(self._tokens[self._place - 1])}`" if self._place else ""

    @staticmethod
    def error(message: str, span: Span, hint: str = "") -> QuerySyntaxError:
        """An error at a place of the expression."""
        return QuerySyntaxError(message, start=span.start, end=span.end, hint=hint)

    @staticmethod
    def _written(token: Token) -> str:
        return _SIGNS.get(token.kind, "") + token.text

    @abstractmethod
    def query(self) -> Node:
        """Read a whole query, as far as it goes."""

    @abstractmethod
    def string(self) -> Node:
        """Read a string, the opening quote or the format of which is next."""

    def pattern(self) -> Pattern:
        """Read ``$name``, ``[p, q]`` or ``{key: p}``."""
        with self.nested():
            pattern: Pattern
            if opened := self.accept("["):
                pattern = ArrayPattern(self.several(self.pattern, ","))
            elif opened := self.accept("{"):
                pattern = ObjectPattern(self.several(self._entry, ","))
            else:
                return VariablePattern(self.variable_name("a pattern: `$name`, `[...]` or `{...}`"))
            self.close(opened)
            return pattern

    def variable_name(self, expected: str = "a variable") -> str:
        """Read the name of a variable that is being defined."""
        if self.next.kind is not Kind.VARIABLE:
            self.missing(expected)
        if self.next.text == "__loc__":
            raise self.error("`$__loc__` is built in and cannot be defined", self.next.span)
        return self.advance().text

    def key(self, hint: str = "") -> Node:
        """Read a key of an object or of a pattern: a name, a string or an expression in parentheses."""
        if opened := self.accept("("):
            key = self.query()
            self.close(opened)
            if isinstance(key, Literal) and not isinstance(key.value, str):
                raise self.error("the key of an object has to be a string", key.span)
            return key
        if self.at_string():
            return self.string()
        token = self.accept_kind(Kind.NAME) or self.accept_kind(Kind.KEYWORD) or self.missing("a key", hint)
        return Literal(token.text, span=token.span)

    def at_string(self) -> bool:
        """Whether a string is next, plain or formatted."""
        return self._tokens[self._place + (self.next.kind is Kind.FORMAT)].kind is Kind.OPEN_TEXT

    def _entry(self) -> tuple[Node | VariablePattern, Pattern]:
        if self.next.kind is Kind.VARIABLE:
            span = self.next.span
            variable = VariablePattern(self.variable_name())
            if self.accept(":"):
                return variable, self.pattern()
            return Literal(variable.name, span=span), variable
        key = self.key()
        self.expect(":", "after the key of an object pattern")
        return key, self.pattern()
