"""The grammar of terms: everything that binds tighter than an operator, with its suffixes."""

import sys
from collections.abc import Callable

from karta_interpreter.jq.grammar.blocks import BlockParser
from karta_interpreter.jq.grammar.lexer import Kind, Token
from karta_interpreter.jq.grammar.steps import Step, optional_step
from karta_interpreter.jq.grammar.syntax import (
    Call,
    Format,
    Identity,
    Index,
    Iterate,
    Literal,
    Node,
    RecursiveDescent,
    Slice,
    Text,
    Try,
    Variable,
)

_CONSTANTS = {"null": None, "true": True, "false": False}
_EXACT_INTEGERS = 2**53


class TermParser(BlockParser):
    """Reads terms: paths, literals, calls, strings and blocks."""

    def term(self) -> Node:
        """Read a term and the suffixes behind it: ``.a``, ``[...]``, ``?``."""
        with self.nested():
            start = self.next
            node = self._start()
            while suffixed := self._suffix(start, node):
                node = suffixed
            return node

    def string(self) -> Node:
        """Read a string, plain or formatted, with its interpolations."""
        start = self.next
        name = self.accept_kind(Kind.FORMAT)
        self.advance()
        parts: list[str | Node] = []
        while not self.accept_kind(Kind.CLOSE_TEXT):
            parts.append(self._part())
        joined = _joined(parts)
        if name or any(isinstance(part, Node) for part in joined):
            return Text(joined, name.text if name else None, span=self.span(start))
        return Literal("".join(map(str, joined)), span=self.span(start))

    def _start(self) -> Node:
        token = self.next
        if self.at_string():
            return self.string()
        match token.kind:
            case Kind.FIELD:  # `.a` is a suffix of an identity that is not written
                return Identity(span=token.span)
            case Kind.VARIABLE:
                return Variable(self.advance().text, span=token.span)
            case Kind.NUMBER:
                return Literal(_number(self.advance().text), span=token.span)
            case Kind.FORMAT:
                return Format(self.advance().text, span=token.span)
            case Kind.NAME:
                return self._call()
            case _:
                return self._block()

    def _block(self) -> Node:
        readers: dict[str, Callable[[Token], Node]] = {
            ".": self._identity,
            "..": lambda token: RecursiveDescent(span=token.span),
            "(": self.group,
            "[": self.array,
            "{": self.object,
            "if": self.condition,
            "reduce": self.reduction,
            "foreach": self.loop,
            "break": self.escape,
        }
        if self.at(*readers):
            return readers[self.next.text](self.advance())
        if self.at("def", "label"):
            message = f"`{self.next.text}` cannot stand{self.after_previous()}"
            raise self.error(message, self.next.span, "put parentheses around it and what it is for")
        return self.fail(f"expected an expression{self.after_previous()}")

    def _call(self) -> Node:
        name = self.advance()
        if opened := self.accept("("):
            arguments = [self.query()]
            while self.accept(";"):
                arguments.append(self.query())
            self.close(opened)
            return Call(name.text, tuple(arguments), span=self.span(name))
        if name.text in _CONSTANTS:
            return Literal(_CONSTANTS[name.text], span=name.span)
        return Call(name.text, span=name.span)

    def _identity(self, dot: Token) -> Node:
        identity = Identity(span=dot.span)
        if self.at_string():
            return self._suffixed(Index(identity, self.string(), span=self.span(dot)))
        if self.at_kind(Kind.NAME):
            self.fail("expected an operator after `.`", f"write `.{self.next.text}` without a space")
        return identity

    def _suffix(self, start: Token, target: Node) -> Node | None:
        """The target with the suffix that comes next; None where no suffix does."""
        if field := self.accept_kind(Kind.FIELD):
            key = Literal(field.text, span=field.span)
            return self._suffixed(Index(target, key, span=self.span(start)))
        if self.accept("?"):
            return Try(target, span=self.span(start))
        dot = self.accept(".")
        if opened := self.accept("["):
            return self._bracket(start, target, opened)
        if not dot:
            return None
        if not self.at_string():
            self.fail("expected a name, a string or `[` after `.`", 'write an unusual name as `.["..."]`')
        return self._suffixed(Index(target, self.string(), span=self.span(start)))

    def _bracket(self, start: Token, target: Node, opened: Token) -> Node:
        if self.accept("]"):
            return self._suffixed(Iterate(target, span=self.span(start)))
        key = None if self.at(":") else self.query()
        if key and not self.at(":"):
            self.close(opened)
            return self._suffixed(Index(target, key, span=self.span(start)))
        self.advance()
        stop = None if key and self.at("]") else self.query()
        self.close(opened)
        return self._suffixed(Slice(target, key, stop, span=self.span(start)))

    def _suffixed(self, node: Step) -> Node:
        """Take a ``?`` that belongs to this one suffix."""
        return optional_step(node, self.span(node)) if self.accept("?") else node

    def _part(self) -> str | Node:
        opened = self.accept_kind(Kind.OPEN_INTERPOLATION)
        if not opened:
            return self.advance().text
        inner = self.query()
        self.close(opened)
        return inner


def _joined(parts: list[str | Node]) -> tuple[str | Node, ...]:
    """The parts of a string with neighbouring pieces of text put together."""
    joined: list[str | Node] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _number(text: str) -> int | float:
    """The value of a number literal: a double as in gojq, kept as an integer where it is one."""
    value = min(float(text), sys.float_info.max)
    return int(value) if value.is_integer() and value <= _EXACT_INTEGERS else value
