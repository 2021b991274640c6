"""The grammar of terms: everything that binds tighter than an operator, with its suffixes."""

import sys
from abc import abstractmethod
from collections.abc import Callable

from msgspec.structs import replace

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.cursor import Cursor
from karta_interpreter.jq.syntax.lexer import Kind, Token
from karta_interpreter.jq.syntax.precedence import Step, optional_step

_CONSTANTS = {"null": None, "true": True, "false": False}
_EXACT_INTEGERS = 2**53


class TermParser(Cursor):
    """Reads terms: paths, literals, calls, strings and blocks.

    The method of a block gets the token that opened the block, already taken.
    """

    @abstractmethod
    def expression(self) -> Node:
        """Read as far as operators go: up to a comma, a pipe or ``as``."""

    def _group(self, opened: Token) -> Node:
        """Read the rest of ``(query)``; its parentheses belong to its place."""
        inner = self.query()
        self.close(opened)
        return replace(inner, span=self.span(opened))

    def _array(self, opened: Token) -> Node:
        body = None if self.at("]") else self.query()
        self.close(opened)
        return ast.Array(body, span=self.span(opened))

    def _object(self, opened: Token) -> Node:
        """Read the rest of ``{key: value, ...}``; a comma may follow the last entry."""
        entries: list[ast.Entry] = []
        while not self.at("}"):
            entries.append(self._entry_of_object())
            if not self.accept(","):
                break
        self.close(opened)
        return ast.Object(tuple(entries), span=self.span(opened))

    def _condition(self, opened: Token) -> Node:
        branches = [self._branch("if")]
        while self.accept("elif"):
            branches.append(self._branch("elif"))
        otherwise = self.query() if self.accept("else") else None
        if self.next.kind is Kind.END:
            raise self.error("`if` opened here is never closed with `end`", opened.span)
        self.expect("end", "to close `if`")
        return ast.If(tuple(branches), otherwise, span=self.span(opened))

    def _loop(self, opened: Token) -> Node:
        """Read the rest of ``reduce source as p (init; update)``, or of ``foreach``, which may have a third part."""
        source = self.expression()
        self.expect("as", f"after the source of `{opened.text}`")
        pattern = self.pattern()
        parenthesis = self.expect("(", f"after the pattern of `{opened.text}`")
        init = self.query()
        self.expect(";", f"between the parts of `{opened.text}`")
        update = self.query()
        is_reduction = opened.text == "reduce"
        extract = self.query() if not is_reduction and self.accept(";") else None
        self.close(parenthesis)
        if is_reduction:
            return ast.Reduce(source, pattern, init, update, span=self.span(opened))
        return ast.Foreach(source, pattern, init, update, extract, span=self.span(opened))

    def _escape(self, opened: Token) -> Node:
        name = self.variable_name("the `$name` of a label")
        return ast.Break(name, span=self.span(opened))

    def _branch(self, keyword: str) -> tuple[Node, Node]:
        condition = self.query()
        self.expect("then", f"after the condition of `{keyword}`")
        return condition, self.query()

    def _entry_of_object(self) -> ast.Entry:
        start = self.next
        if variable := self.accept_kind(Kind.VARIABLE):
            read = ast.Variable(variable.text, span=start.span)
            if variable.text != "__loc__" and self.accept(":"):
                return ast.Entry(read, self._value())
            return ast.Entry(ast.Literal(variable.text, span=start.span), read)
        key = self.key('a key is a name, a "string", a $variable or an (expression)')
        if start.text == "(":
            self.expect(":", "after the key of an object")
        elif not self.accept(":"):
            return ast.Entry(key, ast.Index(ast.Identity(span=key.span), key, span=key.span))
        return ast.Entry(key, self._value())

    def _value(self) -> Node:
        """Read pipes, but no comma: that one ends the entry."""
        steps = [self.expression()]
        while self.accept("|"):
            steps.append(self.expression())
        value = steps.pop()
        while steps:
            step = steps.pop()
            value = ast.Pipe(step, value, span=self.span(step))
        return value

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
            return ast.Text(joined, name.text if name else None, span=self.span(start))
        return ast.Literal("".join(map(str, joined)), span=self.span(start))

    def _start(self) -> Node:
        token = self.next
        if self.at_string():
            return self.string()
        match token.kind:
            case Kind.FIELD:  # `.a` is a suffix of an identity that is not written
                return ast.Identity(span=token.span)
            case Kind.VARIABLE:
                return ast.Variable(self.advance().text, span=token.span)
            case Kind.NUMBER:
                return ast.Literal(_number(self.advance().text), span=token.span)
            case Kind.FORMAT:
                return ast.Format(self.advance().text, span=token.span)
            case Kind.NAME:
                return self._call()
            case _:
                return self._block()

    def _block(self) -> Node:
        readers: dict[str, Callable[[Token], Node]] = {
            ".": self._identity,
            "..": lambda token: ast.RecursiveDescent(span=token.span),
            "(": self._group,
            "[": self._array,
            "{": self._object,
            "if": self._condition,
            "reduce": self._loop,
            "foreach": self._loop,
            "break": self._escape,
        }
        if self.at(*readers):
            return readers[self.next.text](self.advance())
        if self.at("def", "label"):
            message = f"`{self.next.text}` cannot stand{self.after_previous}"
            raise self.error(message, self.next.span, "put parentheses around it and what it is for")
        return self.missing("an expression")

    def _call(self) -> Node:
        name = self.advance()
        if opened := self.accept("("):
            arguments = self.several(self.query, ";")
            self.close(opened)
            return ast.Call(name.text, arguments, span=self.span(name))
        if name.text in _CONSTANTS:
            return ast.Literal(_CONSTANTS[name.text], span=name.span)
        return ast.Call(name.text, span=name.span)

    def _identity(self, dot: Token) -> Node:
        identity = ast.Identity(span=dot.span)
        if self.at_string():
            return self._suffixed(ast.Index(identity, self.string(), span=self.span(dot)))
        if self.next.kind is Kind.NAME:
            self.fail("expected an operator after `.`", f"write `.{self.next.text}` without a space")
        return identity

    def _suffix(self, start: Token, target: Node) -> Node | None:
        """The target with the suffix that comes next; None where no suffix does."""
        if field := self.accept_kind(Kind.FIELD):
            key = ast.Literal(field.text, span=field.span)
            return self._suffixed(ast.Index(target, key, span=self.span(start)))
        if self.accept("?"):
            return ast.Try(target, span=self.span(start))
        dot = self.accept(".")
        if opened := self.accept("["):
            return self._bracket(start, target, opened)
        if not dot:
            return None
        if not self.at_string():
            self.fail("expected a name, a string or `[` after `.`", 'write an unusual name as `.["..."]`')
        return self._suffixed(ast.Index(target, self.string(), span=self.span(start)))

    def _bracket(self, start: Token, target: Node, opened: Token) -> Node:
        if self.accept("]"):
            return self._suffixed(ast.Iterate(target, span=self.span(start)))
        key = None if self.at(":") else self.query()
        if key and not self.at(":"):
            self.close(opened)
            return self._suffixed(ast.Index(target, key, span=self.span(start)))
        self.advance()
        stop = None if key and self.at("]") else self.query()
        self.close(opened)
        return self._suffixed(ast.Slice(target, key, stop, span=self.span(start)))

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
    # Python reads 1e1000 as infinity; to jq and gojq it is the largest double.
    value = min(float(text), sys.float_info.max)
    return int(value) if value.is_integer() and value <= _EXACT_INTEGERS else value
