"""Text of a jq expression to its syntax tree: the grammar of jq 1.7 as gojq 0.12.19 and jq 1.8 read it.

From loosest to tightest::

    |                             right
    def ...; label $x | as p |    everything behind them is their body
    ,                             left
    //                            right
    = |= += -= *= /= %= //=       cannot be chained
    or                            left
    and                           left
    == != < <= > >=               cannot be chained
    + -                           left
    * / %                         left
    - try                         prefix
    .a [..] ?                     suffix
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import Final, NoReturn, TypeVar

from msgspec.structs import replace

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.base.findings import Span
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax.lexer import Kind, Token, tokenize
from karta_interpreter.languages.jq.syntax.precedence import OPERATORS, UNCHAINED, Precedence, Step, optional_step
from karta_interpreter.languages.jq.syntax.traversal import is_deeper

DEPTH_LIMIT: Final = 200
"""How deep a tree may be: everything that walks over one may recurse as deep."""

NESTING_LIMIT: Final = 128
"""How deep the parser may recurse into itself: about 40 brackets inside of each other."""

_CONSTANTS: Final = {"null": None, "true": True, "false": False}
_EXACT_INTEGERS: Final = 2**53
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}", "\\(": ")"}
_SIGNS: Final = {Kind.FIELD: ".", Kind.VARIABLE: "$", Kind.FORMAT: "@"}

T = TypeVar("T")
_Around = Callable[[ast.Node], ast.Node]


def parse(text: str) -> ast.Node:
    """Return the syntax tree of an expression.

    Raises `QuerySyntaxError`, which knows the place, for text that is not jq, is longer than 64 KiB or is deeper than
    200 steps.

    >>> parse(".spec.replicas // 1")
    Alternative(left=Index(target=Index(target=Identity(), key=Literal(value='spec')), \
key=Literal(value='replicas')), right=Literal(value=1))
    """
    return _Parser(text).program()


class _Parser:
    """Reads an expression by recursive descent, from whole queries down to terms, strings and patterns, then tokens.

    ``next`` is the token in front. The method of a block gets the token that opened the block, already taken.
    """

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._place = 0
        self._depth = 0
        self.next = self._tokens[0]

    def program(self) -> ast.Node:
        """Read the whole text."""
        if self.next.kind is Kind.END:
            raise self.error("the expression is empty", self.next.span)
        if self.at("import", "include", "module"):
            message = f"`{self.next.text}` is not allowed: an expression has no files and no modules"
            raise self.error(message, self.next.span)
        node = self.query()
        if not self.accept_kind(Kind.END):
            self.refuse_rest()
        if is_deeper(node, DEPTH_LIMIT):
            raise self.error(f"the expression has more than {DEPTH_LIMIT} steps", node.span)
        return node

    def refuse_rest(self) -> None:
        if self.at(")", "]", "}"):
            raise self.error(f"`{self.next.text}` closes nothing", self.next.span)
        self.missing("an operator")

    def query(self) -> ast.Node:
        """Read as far as a query goes.

        Definitions, labels, bindings and the left sides of pipes enclose everything after them. They are put
        around it at the end, so that a long chain needs no deep recursion.
        """
        with self.nested():
            around: list[_Around] = []
            while not (innermost := self.commas(around)):
                pass
            for wrap in reversed(around):
                innermost = wrap(innermost)
            return innermost

    def commas(self, around: list[_Around]) -> ast.Node | None:
        """Read expressions and the commas between them. Return None if more must follow, inside of ``around``."""
        left: ast.Node | None = None
        while True:
            item = self.item()
            if not isinstance(item, ast.Node):
                around.extend([partial(_after, ast.Comma, left), item] if left else [item])
                return None
            left = _after(ast.Comma, left, item) if left else item
            if not self.accept(","):
                break
        if not self.accept("|"):
            return left
        around.append(partial(_after, ast.Pipe, left))
        return None

    def item(self) -> ast.Node | _Around:
        if start := self.accept("def"):
            return self.definition(start)
        if start := self.accept("label"):
            name = self.variable_name("the `$name` of the label")
            self.expect("|", "after the name of a label")
            return lambda body: ast.Label(name, body, span=_through(start, body))
        source = self.expression()
        if not self.accept("as"):
            return source
        patterns = self.several(self.pattern, "?//")
        self.expect("|", "after the pattern of `as`")
        return lambda body: ast.Bind(source, patterns, body, span=_through(source, body))

    def definition(self, start: Token) -> _Around:
        name = self.name("the name of a function").text
        params: tuple[str, ...] = ()
        if opened := self.accept("("):
            params = self.several(self.parameter, ";")
            self.close(opened)
        self.expect(":", "after the name of a function")
        definition = self.query()
        self.expect(";", f"at the end of the definition of `{name}`")
        return lambda body: ast.Define(name, params, definition, body, span=_through(start, body))

    def parameter(self) -> str:
        return f"${self.variable_name()}" if self.next.kind is Kind.VARIABLE else self.name("a parameter").text

    def name(self, what: str) -> Token:
        return self.accept_kind(Kind.NAME) or self.missing(what)

    def expression(self, level: Precedence = Precedence.ALTERNATIVE) -> ast.Node:
        """Read operators that bind at least as tight as ``level``."""
        with self.nested():
            left = self.prefixed()
            while self.at(*OPERATORS) and OPERATORS[self.next.text] >= level:
                operator = self.advance().text
                own_level = OPERATORS[operator]
                left = _operation(
                    operator, left, self.expression(own_level if operator == "//" else Precedence(own_level + 1))
                )
                if own_level in UNCHAINED and self.at(*OPERATORS) and OPERATORS[self.next.text] is own_level:
                    message = f"`{self.next.text}` cannot follow `{operator}`"
                    raise self.error(message, self.next.span)
            return left

    def prefixed(self) -> ast.Node:
        if not self.at("-", "try"):
            return self.term()
        with self.nested():
            start = self.advance()
            body = self.prefixed()
            if start.text == "-":
                match body:  # a negated number is the negative number
                    case ast.Literal(int() | float() as number) if not isinstance(number, bool):
                        return ast.Literal(-number, span=self.span(start))
                return ast.Negate(body, span=self.span(start))
            handler = self.prefixed() if self.accept("catch") else None
            return ast.Try(body, handler, span=self.span(start))

    def term(self) -> ast.Node:
        """Read a term and its suffixes: ``.a``, ``[...]``, ``?``."""
        with self.nested():
            start = self.next
            node = self.start()
            while suffixed := self.suffix(start, node):
                node = suffixed
            return node

    def suffix(self, start: Token, target: ast.Node) -> ast.Node | None:
        """Return the target with the suffix that comes next, or None if there is no suffix."""
        if field := self.accept_kind(Kind.FIELD):
            return self.suffixed(ast.Index(target, ast.Literal(field.text, span=field.span), span=self.span(start)))
        if self.accept("?"):
            return ast.Try(target, span=self.span(start))
        dot = self.accept(".")
        if opened := self.accept("["):
            return self.bracket(start, target, opened)
        if not dot:
            return None
        if not self.at_string():
            self.fail("expected a name, a string or `[` after `.`")
        return self.suffixed(ast.Index(target, self.string(), span=self.span(start)))

    def suffixed(self, node: Step) -> ast.Node:
        """Take a ``?`` that belongs to this one suffix."""
        return optional_step(node, self.span(node)) if self.accept("?") else node

    def bracket(self, start: Token, target: ast.Node, opened: Token) -> ast.Node:
        if self.accept("]"):
            return self.suffixed(ast.Iterate(target, span=self.span(start)))
        key = None if self.at(":") else self.query()
        if key and not self.at(":"):
            self.close(opened)
            return self.suffixed(ast.Index(target, key, span=self.span(start)))
        self.advance()
        stop = None if key and self.at("]") else self.query()
        self.close(opened)
        return self.suffixed(ast.Slice(target, key, stop, span=self.span(start)))

    def start(self) -> ast.Node:
        token = self.next
        if self.at_string():
            return self.string()
        match token.kind:
            case Kind.FIELD:  # `.a` is a suffix of an identity that is not written
                return ast.Identity(span=token.span)
            case Kind.VARIABLE:
                return ast.Variable(self.advance().text, span=token.span)
            case Kind.NUMBER:
                # A double as in gojq, kept as an integer if it is one. Python reads 1e1000 as infinity. In jq and gojq
                # it is the largest double.
                value = min(float(self.advance().text), sys.float_info.max)
                is_exact = value.is_integer() and value <= _EXACT_INTEGERS
                return ast.Literal(int(value) if is_exact else value, span=token.span)
            case Kind.FORMAT:
                return ast.Format(self.advance().text, span=token.span)
            case Kind.NAME:
                return self.call()
            case _:
                return self.block()

    def block(self) -> ast.Node:
        readers: dict[str, Callable[[Token], ast.Node]] = {
            ".": self.identity,
            "..": lambda token: ast.RecursiveDescent(span=token.span),
            "(": self.group,
            "[": self.array,
            "{": self.object,
            "if": self.condition,
            "reduce": self.loop,
            "foreach": self.loop,
            "break": lambda token: ast.Break(self.variable_name("the `$name` of a label"), span=self.span(token)),
        }
        if self.at(*readers):
            return readers[self.next.text](self.advance())
        if self.at("def", "label"):
            message = f"`{self.next.text}` cannot stand{self.after_previous}"
            raise self.error(message, self.next.span)
        return self.missing("an expression")

    def identity(self, dot: Token) -> ast.Node:
        identity = ast.Identity(span=dot.span)
        if self.at_string():
            return self.suffixed(ast.Index(identity, self.string(), span=self.span(dot)))
        if self.next.kind is Kind.NAME:
            self.fail("expected an operator after `.`")
        return identity

    def call(self) -> ast.Node:
        name = self.advance()
        if opened := self.accept("("):
            arguments = self.several(self.query, ";")
            self.close(opened)
            return ast.FunctionCall(name.text, arguments, span=self.span(name))
        if name.text in _CONSTANTS:
            return ast.Literal(_CONSTANTS[name.text], span=name.span)
        return ast.FunctionCall(name.text, span=name.span)

    def group(self, opened: Token) -> ast.Node:
        """Read the rest of ``(query)``. Its parentheses belong to its place."""
        inner = self.query()
        self.close(opened)
        return replace(inner, span=self.span(opened))

    def array(self, opened: Token) -> ast.Node:
        body = None if self.at("]") else self.query()
        self.close(opened)
        return ast.Array(body, span=self.span(opened))

    def object(self, opened: Token) -> ast.Node:
        """Read the rest of ``{key: value, ...}``. A comma may follow the last entry."""
        entries: list[ast.Entry] = []
        while not self.at("}"):
            entries.append(self.object_entry())
            if not self.accept(","):
                break
        self.close(opened)
        return ast.Object(tuple(entries), span=self.span(opened))

    def object_entry(self) -> ast.Entry:
        start = self.next
        if variable := self.accept_kind(Kind.VARIABLE):
            read = ast.Variable(variable.text, span=start.span)
            if variable.text != "__loc__" and self.accept(":"):
                return ast.Entry(read, self.object_value())
            return ast.Entry(ast.Literal(variable.text, span=start.span), read)
        key = self.key()
        if start.text == "(":
            self.expect(":", "after the key of an object")
        elif not self.accept(":"):
            return ast.Entry(key, ast.Index(ast.Identity(span=key.span), key, span=key.span))
        return ast.Entry(key, self.object_value())

    def object_value(self) -> ast.Node:
        """Read pipes, but no comma: that one ends the entry."""
        *steps, value = self.several(self.expression, "|")
        for step in reversed(steps):
            value = ast.Pipe(step, value, span=self.span(step))
        return value

    def key(self) -> ast.Node:
        """Read a key of an object or of a pattern: a name, a string or an expression in parentheses."""
        if opened := self.accept("("):
            key = self.query()
            self.close(opened)
            if isinstance(key, ast.Literal) and not isinstance(key.value, str):
                raise self.error("the key of an object has to be a string", key.span)
            return key
        if self.at_string():
            return self.string()
        token = self.accept_kind(Kind.NAME) or self.accept_kind(Kind.KEYWORD) or self.missing("a key")
        return ast.Literal(token.text, span=token.span)

    def condition(self, opened: Token) -> ast.Node:
        branches = [self.branch("if")]
        while self.accept("elif"):
            branches.append(self.branch("elif"))
        otherwise = self.query() if self.accept("else") else None
        if self.next.kind is Kind.END:
            raise self.error("`if` opened here is never closed with `end`", opened.span)
        self.expect("end", "to close `if`")
        return ast.If(tuple(branches), otherwise, span=self.span(opened))

    def branch(self, keyword: str) -> ast.Branch:
        condition = self.query()
        self.expect("then", f"after the condition of `{keyword}`")
        return condition, self.query()

    def loop(self, opened: Token) -> ast.Node:
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

    def at_string(self) -> bool:
        """Return whether a string is next, plain or formatted."""
        return self._tokens[self._place + (self.next.kind is Kind.FORMAT)].kind is Kind.OPEN_TEXT

    def string(self) -> ast.Node:
        """Read a string, plain or formatted, with its interpolations."""
        start = self.next
        name = self.accept_kind(Kind.FORMAT)
        self.advance()
        pieces: list[str | ast.Node] = []
        while not self.accept_kind(Kind.CLOSE_TEXT):
            pieces.append(self.string_part())
        if name or any(isinstance(piece, ast.Node) for piece in pieces):
            return ast.Text(tuple(_joined(pieces)), name.text if name else None, span=self.span(start))
        return ast.Literal("".join(map(str, pieces)), span=self.span(start))

    def string_part(self) -> str | ast.Node:
        opened = self.accept_kind(Kind.OPEN_INTERPOLATION)
        if not opened:
            return self.advance().text
        inner = self.query()
        self.close(opened)
        return inner

    def pattern(self) -> ast.Pattern:
        """Read ``$name``, ``[p, q]`` or ``{key: p}``."""
        with self.nested():
            pattern: ast.Pattern
            if opened := self.accept("["):
                pattern = ast.ArrayPattern(self.several(self.pattern, ","))
            elif opened := self.accept("{"):
                pattern = ast.ObjectPattern(self.several(self.pattern_entry, ","))
            else:
                return ast.VariablePattern(self.variable_name("a pattern: `$name`, `[...]` or `{...}`"))
            self.close(opened)
            return pattern

    def pattern_entry(self) -> tuple[ast.Node | ast.VariablePattern, ast.Pattern]:
        if self.next.kind is Kind.VARIABLE:
            span = self.next.span
            variable = ast.VariablePattern(self.variable_name())
            if self.accept(":"):
                return variable, self.pattern()
            return ast.Literal(variable.name, span=span), variable
        key = self.key()
        self.expect(":", "after the key of an object pattern")
        return key, self.pattern()

    def variable_name(self, expected: str = "a variable") -> str:
        """Read the name of a variable that is being defined."""
        if self.next.kind is not Kind.VARIABLE:
            self.missing(expected)
        if self.next.text == "__loc__":
            raise self.error("`$__loc__` is built in and cannot be defined", self.next.span)
        return self.advance().text

    def advance(self) -> Token:
        """Take the next token."""
        token = self.next
        if token.kind is not Kind.END:
            self._place += 1
            self.next = self._tokens[self._place]
        return token

    def at(self, *texts: str) -> bool:
        """Return whether the next token is one of these symbols or keywords."""
        return self.next.text in texts and self.next.kind in (Kind.SYMBOL, Kind.KEYWORD)

    def accept(self, *texts: str) -> Token | None:
        """Take the next token if it is one of these symbols or keywords."""
        return self.advance() if self.at(*texts) else None

    def accept_kind(self, kind: Kind) -> Token | None:
        """Take the next token if it is of this kind."""
        return self.advance() if self.next.kind is kind else None

    def expect(self, text: str, what: str) -> Token:
        """Take this symbol or keyword. ``what`` says where it belongs: "after the condition of `if`"."""
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

    def several(self, parse_one: Callable[[], T], separator: str) -> tuple[T, ...]:
        """Read one or more of something, with a separator between them."""
        nodes = [parse_one()]
        while self.accept(separator):
            nodes.append(parse_one())
        return tuple(nodes)

    def span(self, start: Token | ast.Node) -> Span:
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

    def fail(self, message: str) -> NoReturn:
        """Complain about the next token."""
        text = self.written(self.next)
        actual = "the expression ends here" if self.next.kind is Kind.END else f"found `{text}`"
        raise self.error(f"{message}, but {actual}", self.next.span)

    def missing(self, what: str) -> NoReturn:
        """Complain that something else has to be next: "expected `)` after `1`"."""
        self.fail(f"expected {what}{self.after_previous}")

    @property
    def after_previous(self) -> str:
        """Return the token taken last, for a message: "after `//`"."""
        return f" after `{self.written(self._tokens[self._place - 1])}`" if self._place else ""

    @staticmethod
    def error(message: str, span: Span) -> QuerySyntaxError:
        """Return an error at a place of the expression."""
        return QuerySyntaxError(message, start=span.start, end=span.end)

    @staticmethod
    def written(token: Token) -> str:
        return _SIGNS.get(token.kind, "") + token.text


def _operation(operator: str, left: ast.Node, right: ast.Node) -> ast.Node:
    span = _through(left, right)
    if operator == "//":
        return ast.Alternative(left, right, span=span)
    if OPERATORS[operator] is Precedence.ASSIGNMENT:
        return ast.Assign(operator, left, right, span=span)
    return ast.Binary(operator, left, right, span=span)


def _after(kind: type[ast.Comma | ast.Pipe], left: ast.Node, right: ast.Node) -> ast.Node:
    return kind(left, right, span=_through(left, right))


def _through(start: Token | ast.Node, end: ast.Node) -> Span:
    return Span(start.span.start, end.span.end)


def _joined(pieces: list[str | ast.Node]) -> Iterator[str | ast.Node]:
    """Yield the parts of a string with neighbouring pieces of text put together."""
    for is_text, run in groupby(pieces, key=lambda piece: isinstance(piece, str)):
        if is_text:
            yield "".join(map(str, run))
        else:
            yield from run
