"""The grammar of destructuring: what stands between ``as`` and ``|``."""

from abc import ABC, abstractmethod

from karta_interpreter.jq.grammar.cursor import Cursor
from karta_interpreter.jq.grammar.lexer import Kind, Token
from karta_interpreter.jq.grammar.syntax import (
    ArrayPattern,
    Literal,
    Node,
    ObjectPattern,
    Pattern,
    VariablePattern,
)


class PatternParser(Cursor, ABC):
    """Reads patterns; whole queries and strings may stand in them as keys."""

    @abstractmethod
    def query(self) -> Node:
        """Read a whole query, as far as it goes."""

    @abstractmethod
    def string(self) -> Node:
        """Read a string, the opening quote or the format of which is next."""

    def patterns(self) -> tuple[Pattern, ...]:
        """Read one pattern or several alternatives, ``p ?// q``."""
        found = [self.pattern()]
        while self.accept("?//"):
            found.append(self.pattern())
        return tuple(found)

    def pattern(self) -> Pattern:
        """Read ``$name``, ``[p, q]`` or ``{key: p}``."""
        with self.nested():
            if opened := self.accept("["):
                return ArrayPattern(self._elements(opened))
            if opened := self.accept("{"):
                return ObjectPattern(self._entries(opened))
            return VariablePattern(self.variable_name("a pattern: `$name`, `[...]` or `{...}`"))

    def variable_name(self, expected: str = "a variable") -> str:
        """Read the name of a variable that is being defined."""
        if not self.at_kind(Kind.VARIABLE):
            self.fail(f"expected {expected}{self.after_previous()}")
        if self.next.text == "__loc__":
            raise self.error("`$__loc__` is built in and cannot be defined", self.next.span)
        return self.advance().text

    def parenthesised_key(self, opened: Token) -> Node:
        """Read the rest of ``(expression)`` as a key of an object or of a pattern."""
        key = self.query()
        self.close(opened)
        if isinstance(key, Literal) and not isinstance(key.value, str):
            raise self.error("the key of an object has to be a string", key.span)
        return key

    def at_string(self) -> bool:
        """Whether a string is next, plain or formatted."""
        return self.at_kind(Kind.OPEN_TEXT) or (self.at_kind(Kind.FORMAT) and self.follows(Kind.OPEN_TEXT))

    def accept_plain_key(self) -> Literal | None:
        """Take a name or a keyword as a key."""
        token = self.accept_kind(Kind.NAME) or self.accept_kind(Kind.KEYWORD)
        return Literal(token.text, span=token.span) if token else None

    def _elements(self, opened: Token) -> tuple[Pattern, ...]:
        elements = [self.pattern()]
        while self.accept(","):
            elements.append(self.pattern())
        self.close(opened)
        return tuple(elements)

    def _entries(self, opened: Token) -> tuple[tuple[Node | VariablePattern, Pattern], ...]:
        entries = [self._entry()]
        while self.accept(","):
            entries.append(self._entry())
        self.close(opened)
        return tuple(entries)

    def _entry(self) -> tuple[Node | VariablePattern, Pattern]:
        if self.at_kind(Kind.VARIABLE):
            span = self.next.span
            variable = VariablePattern(self.variable_name())
            if self.accept(":"):
                return variable, self.pattern()
            return Literal(variable.name, span=span), variable
        key = self._key()
        self.expect(":", "after the key of an object pattern")
        return key, self.pattern()

    def _key(self) -> Node:
        if opened := self.accept("("):
            return self.parenthesised_key(opened)
        if self.at_string():
            return self.string()
        return self.accept_plain_key() or self.fail(f"expected a key{self.after_previous()}")
