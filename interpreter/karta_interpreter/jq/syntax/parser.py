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

from collections.abc import Callable
from functools import partial

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node, Span
from karta_interpreter.jq.syntax.lexer import Kind, Token
from karta_interpreter.jq.syntax.precedence import OPERATORS, UNCHAINED, Level
from karta_interpreter.jq.syntax.terms import TermParser
from karta_interpreter.jq.syntax.traversal import is_deeper

DEPTH_LIMIT = 200
"""How deep a tree may be: everything that walks over one may recurse as deep."""

_Around = Callable[[Node], Node]


def parse(text: str) -> Node:
    """The syntax tree of an expression.

    Raises `QuerySyntaxError`, which knows the place, for text that is not jq, is longer than 64 KiB or is
    deeper than 200 steps.

    >>> parse(".spec.replicas // 1")
    Alternative(left=Index(target=Index(target=Identity(), key=Literal(value='spec')), \
key=Literal(value='replicas')), right=Literal(value=1))
    """
    return Parser(text).program()


class Parser(TermParser):
    """Reads whole queries: operators, commas, pipes and what binds names."""

    def program(self) -> Node:
        """Read the whole text."""
        if self.next.kind is Kind.END:
            raise self.error("the expression is empty", self.next.span, "`.` is the whole input")
        if self.at("import", "include", "module"):
            message = f"`{self.next.text}` is not allowed: an expression has no files and no modules"
            raise self.error(message, self.next.span)
        node = self.query()
        if not self.accept_kind(Kind.END):
            self._complain_about_rest()
        if is_deeper(node, DEPTH_LIMIT):
            raise self.error(f"the expression has more than {DEPTH_LIMIT} steps", node.span)
        return node

    def query(self) -> Node:
        """Read as far as a query goes.

        Definitions, labels, bindings and the left sides of pipes enclose everything behind them. They are put
        around it at the end, so that a long chain needs no deep recursion.
        """
        with self.nested():
            around: list[_Around] = []
            while not (innermost := self._commas(around)):
                pass
            for wrap in reversed(around):
                innermost = wrap(innermost)
            return innermost

    def expression(self, level: Level = Level.ALTERNATIVE) -> Node:
        """Read operators that bind at least as tight as ``level``."""
        with self.nested():
            left = self._prefixed()
            while self.at(*OPERATORS) and OPERATORS[self.next.text] >= level:
                operator = self.advance().text
                own = OPERATORS[operator]
                left = _operation(operator, left, self.expression(own if operator == "//" else Level(own + 1)))
                if own in UNCHAINED and self.at(*OPERATORS) and OPERATORS[self.next.text] is own:
                    message = f"`{self.next.text}` cannot follow `{operator}`"
                    raise self.error(message, self.next.span, "put parentheses around one of the two")
            return left

    def _commas(self, around: list[_Around]) -> Node | None:
        """Read expressions and the commas between them; None if more must follow, inside of ``around``."""
        left: Node | None = None
        while True:
            item = self._item()
            if not isinstance(item, Node):
                around.extend([partial(_after, ast.Comma, left), item] if left else [item])
                return None
            left = _after(ast.Comma, left, item) if left else item
            if not self.accept(","):
                break
        if not self.accept("|"):
            return left
        around.append(partial(_after, ast.Pipe, left))
        return None

    def _item(self) -> Node | _Around:
        if start := self.accept("def"):
            return self._definition(start)
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

    def _definition(self, start: Token) -> _Around:
        name = self._name("the name of a function").text
        params: tuple[str, ...] = ()
        if opened := self.accept("("):
            params = self.several(self._param, ";")
            self.close(opened)
        self.expect(":", "after the name of a function")
        definition = self.query()
        self.expect(";", f"at the end of the definition of `{name}`")
        return lambda body: ast.Define(name, params, definition, body, span=_through(start, body))

    def _param(self) -> str:
        return f"${self.variable_name()}" if self.next.kind is Kind.VARIABLE else self._name("a parameter").text

    def _name(self, what: str) -> Token:
        return self.accept_kind(Kind.NAME) or self.missing(what)

    def _prefixed(self) -> Node:
        if not self.at("-", "try"):
            return self.term()
        with self.nested():
            start = self.advance()
            body = self._prefixed()
            if start.text == "-":
                return _negated(body, self.span(start))
            handler = self._prefixed() if self.accept("catch") else None
            return ast.Try(body, handler, span=self.span(start))

    def _complain_about_rest(self) -> None:
        if self.at(")", "]", "}"):
            raise self.error(f"`{self.next.text}` closes nothing", self.next.span)
        is_choice = self.after_previous == " after `?`"
        self.missing("an operator", "a choice is written `if ... then ... else ... end`" if is_choice else "")


def _operation(operator: str, left: Node, right: Node) -> Node:
    span = _through(left, right)
    if operator == "//":
        return ast.Alternative(left, right, span=span)
    if OPERATORS[operator] is Level.ASSIGNMENT:
        return ast.Assign(operator, left, right, span=span)
    return ast.Binary(operator, left, right, span=span)


def _negated(body: Node, span: Span) -> Node:
    """A negation; of a number, the negative number."""
    match body:
        case ast.Literal(int() | float() as number) if not isinstance(number, bool):
            return ast.Literal(-number, span=span)
    return ast.Negate(body, span=span)


def _after(kind: type[ast.Comma | ast.Pipe], left: Node, right: Node) -> Node:
    return kind(left, right, span=_through(left, right))


def _through(start: Token | Node, end: Node) -> Span:
    return Span(start.span.start, end.span.end)
