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
from karta_interpreter.jq.syntax.terms import TermParser
from karta_interpreter.jq.syntax.traversal import is_deeper

DEPTH_LIMIT = 200
"""How deep a tree may be: everything that walks over one may recurse as deep."""

_Around = Callable[[Node], Node]

_ASSIGNMENTS = ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_LEVELS = {
    "//": 1,
    **dict.fromkeys(_ASSIGNMENTS, 2),
    "or": 3,
    "and": 4,
    **dict.fromkeys(_COMPARISONS, 5),
    **dict.fromkeys("+-", 6),
    **dict.fromkeys("*/%", 7),
}
_UNCHAINED = (*_ASSIGNMENTS, *_COMPARISONS)


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
        if self.at_kind(Kind.END):
            raise self.error("the expression is empty", self.next.span, "`.` is the whole input")
        if self.accept("module"):
            self._metadata()
            self.expect(";", "after the metadata of `module`")
        around: list[_Around] = []
        while start := self.accept("import", "include"):
            around.append(self._import(start))
        node = _surrounded(self.query(), around)
        if not self.at_kind(Kind.END):
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
            return _surrounded(innermost, around)

    def expression(self, level: int = 1) -> Node:
        """Read operators that bind at least as tight as ``level``."""
        with self.nested():
            left = self._prefixed()
            while self.at(*_LEVELS) and _LEVELS[self.next.text] >= level:
                operator = self.advance().text
                own = _LEVELS[operator]
                left = _operation(operator, left, self.expression(own if operator == "//" else own + 1))
                if operator in _UNCHAINED and self.at(*_UNCHAINED) and _LEVELS[self.next.text] == own:
                    message = f"`{self.next.text}` cannot follow `{operator}`"
                    raise self.error(message, self.next.span, "put parentheses around one of the two")
            return left

    def _commas(self, around: list[_Around]) -> Node | None:
        """Read expressions and the commas between them; None if more must follow, inside of ``around``."""
        left: Node | None = None
        while True:
            item = self._item()
            if not isinstance(item, Node):
                around.extend([partial(_comma, left), item] if left else [item])
                return None
            left = _comma(left, item) if left else item
            if not self.accept(","):
                break
        if not self.accept("|"):
            return left
        around.append(partial(_pipe, left))
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
        patterns = self.patterns()
        self.expect("|", "after the pattern of `as`")
        return lambda body: ast.Bind(source, patterns, body, span=_through(source, body))

    def _definition(self, start: Token) -> _Around:
        name = self._name("the name of a function").text
        params = self._params() if self.at("(") else ()
        self.expect(":", "after the name of a function")
        definition = self.query()
        self.expect(";", f"at the end of the definition of `{name}`")
        return lambda body: ast.Define(name, params, definition, body, span=_through(start, body))

    def _params(self) -> tuple[str, ...]:
        opened = self.advance()
        params = [self._param()]
        while self.accept(";"):
            params.append(self._param())
        self.close(opened)
        return tuple(params)

    def _param(self) -> str:
        if self.at_kind(Kind.VARIABLE):
            return f"${self.variable_name()}"
        return self._name("a parameter").text

    def _name(self, what: str) -> Token:
        return self.accept_kind(Kind.NAME) or self.fail(f"expected {what}{self.after_previous()}")

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

    def _import(self, start: Token) -> _Around:
        if not self.at_string():
            self.fail(f"expected a path in double quotes after `{start.text}`")
        path = self.string()
        if not (isinstance(path, ast.Literal) and isinstance(path.value, str)):
            raise self.error("the path of a module has to be a plain string", path.span)
        text, name = path.value, self._import_name() if start.text == "import" else None
        metadata = None if self.at(";") else self._metadata()
        self.expect(";", f"at the end of `{start.text}`")
        return lambda body: ast.Import(text, name, metadata, body, span=_through(start, body))

    def _import_name(self) -> str:
        self.expect("as", "after the path of `import`")
        return self._param()

    def _metadata(self) -> Node:
        opened = self.expect("{", "before metadata")
        return self.object(opened)

    def _complain_about_rest(self) -> None:
        if self.at(")", "]", "}"):
            raise self.error(f"`{self.next.text}` closes nothing", self.next.span)
        hint = "a choice is written `if ... then ... else ... end`" if self.after("?") else ""
        self.fail(f"expected an operator{self.after_previous()}", hint)


def _surrounded(node: Node, around: list[_Around]) -> Node:
    for wrap in reversed(around):
        node = wrap(node)
    return node


def _operation(operator: str, left: Node, right: Node) -> Node:
    span = _through(left, right)
    if operator == "//":
        return ast.Alternative(left, right, span=span)
    if operator in _ASSIGNMENTS:
        return ast.Assign(operator, left, right, span=span)
    return ast.Binary(operator, left, right, span=span)


def _negated(body: Node, span: Span) -> Node:
    """A negation; of a number, the negative number."""
    match body:
        case ast.Literal(bool()):
            return ast.Negate(body, span=span)
        case ast.Literal(int() | float() as number):
            return ast.Literal(-number, span=span)
        case _:
            return ast.Negate(body, span=span)


def _comma(left: Node, right: Node) -> Node:
    return ast.Comma(left, right, span=_through(left, right))


def _pipe(left: Node, right: Node) -> Node:
    return ast.Pipe(left, right, span=_through(left, right))


def _through(start: Token | Node, end: Node) -> Span:
    return Span(start.span.start, end.span.end)
