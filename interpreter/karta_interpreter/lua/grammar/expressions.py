"""The grammar of expressions."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Final

from karta_interpreter.lua.grammar.cursor import Cursor
from karta_interpreter.lua.grammar.lexer import KEYWORDS, Kind, Token, value_of
from karta_interpreter.lua.grammar.syntax import (
    Arguments,
    Binary,
    Call,
    Concatenation,
    Constant,
    Empty,
    Entry,
    Function,
    Group,
    Index,
    MethodCall,
    Name,
    Node,
    Number,
    Table,
    Text,
    Unary,
    Varargs,
)

# How tight an operator binds to what is on its left and on its right, as in Lua 5.1's lparser.c.
_LEFT: Final = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("<", ">", "<=", ">=", "~=", "=="), 3),
    "..": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
    "^": 10,
}
_RIGHT: Final = {**_LEFT, "^": 9}
_UNARY: Final = 8
_PREFIXES: Final = frozenset(("-", "not", "#"))
_CONSTANTS: Final = {"nil": None, "true": True, "false": False}
_COLON: Final = "`:` calls a method, `object:method()`; a table is written `{key = value}`"
_UNEXPECTED: Final = {
    "=": "equality is `==`",
    "~=": "unequal takes two sides; to negate, write `not`",
    "[": "an index needs a name or `(...)` before it; a list is `{...}`",
}


class ExpressionParser(Cursor):
    """Reads expressions; a method that is given a token has had it taken already."""

    @abstractmethod
    def function(self, opened: Token, *, method: bool = False) -> Function:
        """Read the parameters and the body of a function."""

    @abstractmethod
    def varargs(self, token: Token) -> Varargs:
        """``...``, where the function around it has any."""

    def expression(self, limit: int = 0) -> Node:
        """Read operands and the operators between them that bind tighter than ``limit``."""
        self.descend()
        left = self._operand()
        while (level := _LEFT.get(self.next.text, 0)) > limit:
            if self.at(".."):
                left = self._concatenation(left, level)
                continue
            operator = self.advance().text
            right = self.expression(_RIGHT[operator])
            left = Binary(operator, left, right, start=left.start, end=right.end, line=left.line)
        self.ascend()
        return left

    def expressions(self) -> tuple[Node, ...]:
        """Read expressions with commas between them."""
        found = [self.expression()]
        while self.accept(","):
            found.append(self.expression())
        return tuple(found)

    def suffixed(self) -> Node:
        """Read a name or a group with its suffixes: ``.name``, ``[key]``, ``:method(...)`` and calls."""
        node = self._head()
        while True:
            if self.next.kind is Kind.TEXT or self.at("(", "{"):
                arguments = self._arguments()
                node = Call(node, arguments, start=node.start, end=arguments.end, line=node.line)
            elif self.accept("."):
                key = self.text_of_name("a name after `.`")
                node = Index(node, key, start=node.start, end=key.end, line=node.line)
            elif opened := self.accept("["):
                index = self.expression()
                self.close(opened)
                node = Index(node, index, start=node.start, end=self.last.end, line=node.line)
            elif self.accept(":"):
                node = self._method(node)
            else:
                return node

    def constant(self, token: Token) -> Constant:
        """``nil``, ``true`` or ``false``."""
        return Constant(_CONSTANTS[token.text], start=token.start, end=token.end, line=token.line)

    def table(self, opened: Token) -> Table:
        """Read the rest of ``{...}``; a separator may follow the last entry."""
        entries: list[Entry | Empty] = []
        while not self.at("}"):
            entries.append(self._entry())
            if not self._separator():
                break
            while token := self._separator():
                entries.append(Empty(start=token.start, end=token.end, line=token.line))
        self.close(opened)
        return Table(tuple(entries), start=opened.start, end=self.last.end, line=opened.line)

    def _operand(self) -> Node:
        if self.next.text in _PREFIXES:
            token = self.advance()
            operand = self.expression(_UNARY)
            return Unary(token.text, operand, start=token.start, end=operand.end, line=token.line)
        return self._simple()

    def _unexpected(self, token: Token) -> str:
        if token.text in KEYWORDS and self.follows("="):
            return f'`{token.text}` is a keyword; as a key, write `["{token.text}"]`'
        return _UNEXPECTED.get(token.text, "")

    def _concatenation(self, first: Node, level: int) -> Node:
        """Read the rest of ``a .. b .. c`` in one go, so that its length is no depth."""
        parts, dots = [first], []
        while operator := self.accept(".."):
            dots.append(operator.start)
            parts.append(self.expression(level))
        end = parts[-1].end
        return Concatenation(tuple(parts), dots=tuple(dots), start=first.start, end=end, line=first.line)

    def _simple(self) -> Node:
        token = self.next
        if token.kind is Kind.NAME or token.text == "(":
            return self.suffixed()
        if token.kind is Kind.TEXT:
            return self._string()
        if token.kind is Kind.NUMBER:
            self.advance()
            return Number(token.text, start=token.start, end=token.end, line=token.line)
        reader = _READERS.get(token.text)
        if reader is None:
            self.fail(f"expected an expression{self.after_last()}", self._unexpected(token))
        return reader(self, self.advance())

    def _head(self) -> Node:
        if opened := self.accept("("):
            inner = self.expression()
            self.close(opened)
            return Group(inner, start=opened.start, end=self.last.end, line=opened.line)
        if self.next.kind is not Kind.NAME:
            self.fail(f"expected a statement{self.after_last()}")
        token = self.advance()
        return Name(token.text, start=token.start, end=token.end, line=token.line)

    def _method(self, receiver: Node) -> MethodCall:
        method = self.text_of_name("a name after `:`", _COLON)
        if self.next.kind is not Kind.TEXT and not self.at("(", "{"):
            self.fail(f"expected arguments after `:{method.value}`", _COLON)
        arguments = self._arguments()
        return MethodCall(receiver, method, arguments, start=receiver.start, end=arguments.end, line=receiver.line)

    def _arguments(self) -> Arguments:
        before, start = self.last.end, self.next
        values = self._argument_list() if start.text == "(" else (self._simple(),)
        return Arguments(values, before=before, start=start.start, end=self.last.end, line=start.line)

    def _argument_list(self) -> tuple[Node, ...]:
        opened = self.advance()
        values = () if self.at(")") else self.expressions()
        self.close(opened)
        return values

    def _string(self) -> Text:
        token = self.advance()
        return Text(value_of(token), start=token.start, end=token.end, line=token.line)

    def _separator(self) -> Token | None:
        return self.accept(",") or self.accept(";")

    def _entry(self) -> Entry:
        start = self.next
        key = self._key()
        value = self.expression()
        return Entry(key, value, start=start.start, end=value.end, line=start.line)

    def _key(self) -> Node | None:
        if self.next.kind is Kind.NAME and self.follows("="):
            name = self.text_of_name("a key")
            self.advance()
            return name
        if not (opened := self.accept("[")):
            return None
        key = self.expression()
        self.close(opened)
        self.expect("=", "after the key of a table")
        return key


_READERS: Final[dict[str, Callable[[ExpressionParser, Token], Node]]] = {
    "nil": lambda parser, token: parser.constant(token),
    "true": lambda parser, token: parser.constant(token),
    "false": lambda parser, token: parser.constant(token),
    "...": lambda parser, token: parser.varargs(token),
    "{": lambda parser, token: parser.table(token),
    "function": lambda parser, token: parser.function(token),
}
