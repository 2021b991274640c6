"""The grammar of what has a body: functions, conditions and loops."""

from abc import abstractmethod
from typing import Final

from karta_interpreter.lua.grammar.expressions import ExpressionParser
from karta_interpreter.lua.grammar.lexer import Kind, Token
from karta_interpreter.lua.grammar.syntax import (
    Block,
    Branch,
    Do,
    Function,
    GenericFor,
    If,
    Name,
    Node,
    NumericFor,
    Repeat,
    Varargs,
    While,
)

_ENDS: Final = frozenset(("end", "else", "elseif", "until", ""))


class BlockParser(ExpressionParser):
    """Reads what has a body. ``_loops`` and ``_variadic`` are about the function around the current place."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text
        self._loops = 0
        self._variadic = True
        self._suspect: Token | None = None

    @abstractmethod
    def statement(self) -> Node:
        """Read one statement, with the semicolon that ends it."""

    def block(self) -> Block:
        """Read statements up to a token that ends a block."""
        self.descend()
        start = self.next
        statements: list[Node] = []
        while not self.at_end_of_block():
            final = self.next if self.at("return", "break") else None
            statements.append(self.statement())
            if final and not self.at_end_of_block():
                self.fail(f"expected the end of the block after `{final.text}`", "nothing behind it would ever run")
        self.ascend()
        return Block(tuple(statements), start=start.start, end=max(start.start, self.last.end), line=start.line)

    def function(self, opened: Token, *, method: bool = False) -> Function:
        """Read the parameters and the body of a function."""
        parameters, variadic = self._parameters()
        outside = self._loops, self._variadic
        self._loops, self._variadic = 0, variadic
        body = self.block()
        self._loops, self._variadic = outside
        self._end(opened)
        names = ("self", *parameters) if method else parameters
        return Function(names, variadic, body, start=opened.start, end=self.last.end, line=opened.line)

    def varargs(self, token: Token) -> Varargs:
        """``...``, where the function around it has any."""
        if not self._variadic:
            raise self.error("`...` is used in a function that has no `...` among its parameters", token)
        return Varargs(start=token.start, end=token.end, line=token.line)

    def at_end_of_block(self) -> bool:
        """Whether the next token ends a block."""
        return self.next.text in _ENDS

    def in_loop(self) -> bool:
        """Whether a loop is around the current place."""
        return self._loops > 0

    def do(self, opened: Token) -> Do:
        """Read the rest of ``do ... end``."""
        body = self.block()
        self._end(opened)
        return Do(body, start=opened.start, end=self.last.end, line=opened.line)

    def while_loop(self, opened: Token) -> While:
        """Read the rest of ``while condition do ... end``."""
        condition = self.expression()
        body = self._loop_body(opened)
        return While(condition, body, start=opened.start, end=self.last.end, line=opened.line)

    def repeat_loop(self, opened: Token) -> Repeat:
        """Read the rest of ``repeat ... until condition``."""
        self._loops += 1
        body = self.block()
        self._loops -= 1
        self._close("until", opened)
        condition = self.expression()
        return Repeat(body, condition, start=opened.start, end=self.last.end, line=opened.line)

    def condition(self, opened: Token) -> If:
        """Read the rest of ``if ... then ... end``."""
        branches = [self._branch(opened)]
        while elseif := self.accept("elseif"):
            branches.append(self._branch(elseif))
        otherwise = self.block() if self.accept("else") else None
        self._end(opened)
        return If(tuple(branches), otherwise, start=opened.start, end=self.last.end, line=opened.line)

    def for_loop(self, opened: Token) -> NumericFor | GenericFor:
        """Read the rest of ``for``, of either kind."""
        names = self.names("a name after `for`")
        if len(names) == 1 and self.accept("="):
            return self._numeric_for(opened, names[0])
        self.expect("in", "after the names of `for`" if len(names) > 1 else "or `=` after the name of `for`")
        sources = self.expressions()
        body = self._loop_body(opened)
        return GenericFor(names, sources, body, start=opened.start, end=self.last.end, line=opened.line)

    def names(self, what: str) -> tuple[Name, ...]:
        """Read names with commas between them."""
        tokens = [self.name(what)]
        while self.accept(","):
            tokens.append(self.name("a name after `,`"))
        return tuple(Name(token.text, start=token.start, end=token.end, line=token.line) for token in tokens)

    def _numeric_for(self, opened: Token, name: Name) -> NumericFor:
        bounds = [self.expression()]
        self.expect(",", "after the first value of `for`")
        bounds.append(self.expression())
        if self.accept(","):
            bounds.append(self.expression())
        body = self._loop_body(opened)
        return NumericFor(name, tuple(bounds), body, start=opened.start, end=self.last.end, line=opened.line)

    def _parameters(self) -> tuple[tuple[str, ...], bool]:
        opened = self.expect("(", "before the parameters of `function`")
        names: list[str] = []
        variadic = False
        while names or not self.at(")"):
            if variadic := self.accept("...") is not None:
                break
            names.append(self.name("the name of a parameter").text)
            if not self.accept(","):
                break
        self.close(opened)
        return tuple(names), variadic

    def _branch(self, opened: Token) -> Branch:
        condition = self.expression()
        hint = "equality is `==`" if self.at("=") else ""
        self.expect("then", f"after the condition of `{opened.text}`", hint)
        body = self.block()
        return Branch(condition, body, start=opened.start, end=body.end, line=opened.line)

    def _loop_body(self, opened: Token) -> Block:
        self.expect("do", f"before the body of `{opened.text}`")
        self._loops += 1
        body = self.block()
        self._loops -= 1
        self._end(opened)
        return body

    def _end(self, opened: Token) -> None:
        """Take the ``end`` of a block."""
        self._close("end", opened)
        if self._suspect is None and self._is_left_of(opened):
            self._suspect = opened

    def _close(self, closer: str, opened: Token) -> None:
        if self.next.kind is Kind.END:
            unclosed = self._suspect or opened
            closer = "until" if unclosed.text == "repeat" else "end"
            raise self.error(f"`{unclosed.text}` opened here is never closed with `{closer}`", unclosed)
        self.expect(closer, f"to close `{opened.text}`")

    def _is_left_of(self, opened: Token) -> bool:
        """Whether the ``end`` taken last looks like that of a block further out: it is indented less."""
        before = self._line_before(self.last)
        opening = self._line_before(opened)
        return not before.strip() and len(before) < len(opening) - len(opening.lstrip())

    def _line_before(self, token: Token) -> str:
        return self._text[self._text.rfind("\n", 0, token.start) + 1 : token.start]
