"""The grammar of statements; the way from a script to its tree."""

from collections.abc import Callable
from typing import Final, NoReturn

from karta_interpreter.lua.grammar.blocks import BlockParser
from karta_interpreter.lua.grammar.cursor import shortened
from karta_interpreter.lua.grammar.lexer import Kind, Token
from karta_interpreter.lua.grammar.syntax import (
    Assignment,
    Break,
    Call,
    CallStatement,
    Chunk,
    Empty,
    FunctionStatement,
    Goto,
    Group,
    Index,
    Label,
    Local,
    LocalFunction,
    MethodCall,
    Name,
    Node,
    Return,
)

_FOREIGN: Final = {
    "continue": "Lua has no `continue`; put the rest of the loop into an `if`",
    "elif": "write `elseif`",
    "elsif": "write `elseif`",
    "switch": "Lua has no `switch`; use `if` and `elseif`",
    **dict.fromkeys(("var", "let", "const"), "write `local`"),
    **dict.fromkeys(("def", "func", "fn"), "write `function`"),
}


def parse(text: str) -> Chunk:
    """Read a script.

    Raises `LuaSyntaxError` for text that gopher-lua would not read as Lua 5.1, and where a script is longer or nested
    deeper than any has to be. ``goto`` and labels are read, so that they can be named; nothing here can run them.

    >>> parse("return 1 .. x").body.statements
    (Return(values=(Concatenation(parts=(Number(text='1'), Name(name='x'))),)),)
    """
    return _Parser(text).chunk()


class _Parser(BlockParser):
    """Reads statements."""

    def chunk(self) -> Chunk:
        """Read to the end."""
        body = self.block()
        if self.next.kind is not Kind.END:
            self.fail("expected a statement", f"no block is open that `{self.next.text}` could belong to")
        return Chunk(body, text=self._text, start=body.start, end=body.end, line=1)

    def statement(self) -> Node:
        """Read one statement, with the semicolon that ends it."""
        token = self.next
        if token.text == ";":
            self.advance()
            return Empty(start=token.start, end=token.end, line=token.line)
        reader = _READERS.get(token.text)
        node = reader(self, self.advance()) if reader else self._expression_statement()
        self.accept(";")
        return node

    def local(self, opened: Token) -> Local | LocalFunction:
        """Read the rest of ``local``."""
        if function := self.accept("function"):
            token = self.name("the name of a local function")
            name = Name(token.text, start=token.start, end=token.end, line=token.line)
            body = self.function(function)
            return LocalFunction(name, body, start=opened.start, end=self.last.end, line=opened.line)
        names = self.names("a name after `local`")
        values = self.expressions() if self.accept("=") else ()
        return Local(names, values, start=opened.start, end=self.last.end, line=opened.line)

    def function_statement(self, opened: Token) -> FunctionStatement:
        """Read the rest of ``function name(...) ... end``."""
        token = self.name("the name of a function")
        target: Name | Index = Name(token.text, start=token.start, end=token.end, line=token.line)
        method = False
        while not method and self.at(".", ":"):
            sign = self.advance().text
            method = sign == ":"
            key = self.text_of_name(f"a name after `{sign}`")
            target = Index(target, key, start=token.start, end=key.end, line=token.line)
        function = self.function(opened, method=method)
        return FunctionStatement(target, function, start=opened.start, end=self.last.end, line=opened.line)

    def result(self, opened: Token) -> Return:
        """Read the rest of ``return``."""
        values = () if self.at(";") or self.at_end_of_block() else self.expressions()
        return Return(values, start=opened.start, end=self.last.end, line=opened.line)

    def escape(self, opened: Token) -> Break:
        """Check the place of ``break``."""
        if not self.in_loop():
            raise self.error("`break` stands outside of any loop", opened)
        return Break(start=opened.start, end=opened.end, line=opened.line)

    def jump(self, opened: Token) -> Goto:
        """Read the rest of ``goto label``."""
        label = self.name("a label after `goto`")
        return Goto(label.text, start=opened.start, end=label.end, line=opened.line)

    def label(self, opened: Token) -> Label:
        """Read the rest of ``::label::``."""
        name = self.name("a label after `::`")
        self.expect("::", "after the name of a label")
        return Label(name.text, start=opened.start, end=self.last.end, line=opened.line)

    def _expression_statement(self) -> Node:
        node = self.suffixed()
        if self.at("=", ","):
            return self._assignment(node)
        call = node
        while isinstance(call, Group):
            call = call.inner
        if not isinstance(node, Group | Call | MethodCall) or not isinstance(call, Call | MethodCall):
            self._refuse(node)
        return CallStatement(node, start=node.start, end=node.end, line=node.line)

    def _assignment(self, first: Node) -> Assignment:
        targets = [self._target(first)]
        while self.accept(","):
            targets.append(self._target(self.suffixed()))
        self.expect("=", "after what is assigned to")
        values = self.expressions()
        return Assignment(tuple(targets), values, start=first.start, end=self.last.end, line=first.line)

    def _target(self, node: Node) -> Name | Index:
        if not isinstance(node, Name | Index):
            raise self.error(f"`{self._written(node)}` cannot be assigned to; only names and fields can", node)
        return node

    def _refuse(self, node: Node) -> NoReturn:
        """Complain about an expression that stands where a statement should."""
        hint = _FOREIGN.get(node.name, "") if isinstance(node, Name) else ""
        self.fail(f"expected `=` or a call after `{self._written(node)}`", hint)

    def _written(self, node: Node) -> str:
        return shortened(self._text[node.start : node.end])


_READERS: Final[dict[str, Callable[[_Parser, Token], Node]]] = {
    "if": _Parser.condition,
    "while": _Parser.while_loop,
    "for": _Parser.for_loop,
    "repeat": _Parser.repeat_loop,
    "do": _Parser.do,
    "function": _Parser.function_statement,
    "local": _Parser.local,
    "return": _Parser.result,
    "break": _Parser.escape,
    "goto": _Parser.jump,
    "::": _Parser.label,
}
