"""Finds the constructs of an expression that are not allowed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.analysis.builtins import FORBIDDEN, FORMATS, ONLY_JQ, Function, arities, closest, is_known
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.record import Argument
from karta_interpreter.jq.inprocess.regex import compile_pattern
from karta_interpreter.jq.syntax import Node, Span
from karta_interpreter.jq.syntax.traversal import children


@dataclass(frozen=True, slots=True)
class Scope:
    """The functions, variables and labels that are defined at a position."""

    functions: frozenset[Function] = frozenset()
    variables: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()

    def bind(self, patterns: Iterable[ast.Pattern]) -> "Scope":
        """The scope with the variables of patterns; those that only one alternative binds are null otherwise."""
        names = (name for pattern in patterns for name in _variables(pattern))
        return replace(self, variables=self.variables.union(names))

    def define(self, define: ast.Define) -> "Scope":
        """The scope behind a definition, which is also that of a function that calls itself."""
        return replace(self, functions=self.functions | {(define.name, len(define.params))})

    def inside(self, define: ast.Define) -> "Scope":
        """The scope of the text of a function; a value parameter can be called as well."""
        own = self.define(define)
        functions = own.functions.union((param.removeprefix("$"), 0) for param in define.params)
        values = (param[1:] for param in define.params if param.startswith("$"))
        return replace(own, functions=functions, variables=own.variables.union(values))

    def label(self, name: str) -> "Scope":
        """The scope with a label."""
        return replace(self, labels=self.labels | {name})


def keys(pattern: ast.Pattern) -> Iterator[Node]:
    """The expressions that a pattern has for keys; they see no variable of the pattern itself."""
    match pattern:
        case ast.ArrayPattern(elements):
            for element in elements:
                yield from keys(element)
        case ast.ObjectPattern(entries):
            for key, value in entries:
                if isinstance(key, Node):
                    yield key
                yield from keys(value)


def _variables(pattern: ast.Pattern) -> Iterator[str]:
    match pattern:
        case ast.VariablePattern(name):
            yield name
        case ast.ArrayPattern(elements):
            for element in elements:
                yield from _variables(element)
        case ast.ObjectPattern(entries):
            for key, value in entries:
                if isinstance(key, ast.VariablePattern):
                    yield key.name
                yield from _variables(value)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A construct that is not allowed: its text or name, its position, the reason, and what to write instead."""

    construct: str
    span: Span
    message: str
    hint: str = ""


def find_refusals(node: Node, variables: frozenset[str]) -> tuple[Refusal, ...]:
    """Return the constructs of an expression that are not allowed, in the order of the text."""
    search = _Search()
    search.visit(node, Scope(variables=variables))
    # a key that is also read, as in {"\\(.a)"}, stands in the tree twice
    return tuple(sorted(dict.fromkeys(search.found), key=lambda refusal: refusal.span.start))


class _Search:
    """Collects refusals; ``hints`` is what a node above knows about how a call was probably meant."""

    def __init__(self) -> None:
        self.found: list[Refusal] = []
        self.hints: dict[int, str] = {}

    def visit(self, node: Node, scope: Scope) -> None:
        """Check a node and all nodes below it."""
        self._guess(node)
        self._judge(node, scope)
        match node:
            case ast.Bind(source, patterns, body):
                self._visit_all(scope, source, *(key for pattern in patterns for key in keys(pattern)))
                self.visit(body, scope.bind(patterns))
            case ast.Reduce(source, pattern, init, update):
                self._visit_all(scope, source, *keys(pattern), init)
                self.visit(update, scope.bind([pattern]))
            case ast.Foreach(source, pattern, init, update, extract):
                self._visit_all(scope, source, *keys(pattern), init)
                self._visit_all(scope.bind([pattern]), update, *([extract] if extract else []))
            case ast.Define():
                self.visit(node.definition, scope.inside(node))
                self.visit(node.body, scope.define(node))
            case ast.Label(name, body):
                self.visit(body, scope.label(name))
            case _:
                self._visit_all(scope, *children(node))

    def _visit_all(self, scope: Scope, *nodes: Node) -> None:
        for node in nodes:
            self.visit(node, scope)

    def _judge(self, node: Node, scope: Scope) -> None:
        match node:
            case ast.RecursiveDescent():
                self._refuse(node, "..", "`..` is not allowed: its output may be very large", "name the path")
            case ast.Assign(operator):
                self._assignment(node, operator)
            case ast.Call():
                self._call(node, scope)
            case ast.Variable(name):
                self._variable(node, name, scope)
            case ast.Break(name) if name not in scope.labels:
                self._refuse(node, f"break ${name}", f"there is no `label ${name}` around this", "")
            case ast.Format(name) | ast.Text(format=str() as name) if name not in FORMATS:
                self._refuse(
                    node, f"@{name}", f"`@{name}` is not a format of gojq 0.12.19", _choice("@", name, FORMATS)
                )

    def _guess(self, node: Node) -> None:
        match node:
            case (
                ast.Index(target=ast.Call(name, ()) as call)
                | ast.Iterate(ast.Call(name, ()) as call)
                | ast.Slice(ast.Call(name, ()) as call)
            ):
                self.hints[id(call)] = f"a field of the input is written `.{name}`"
            case ast.Binary("-", ast.Index(key=ast.Literal(str() as start)) as left, ast.Call(rest, ()) as call):
                if call.span.start == left.span.end + 1:
                    self.hints[id(call)] = f'a name with a dash is written `["{start}-{rest}"]`'

    def _assignment(self, node: Node, operator: str) -> None:
        hint = "to compare, write `==`" if operator == "=" else ""
        self._refuse(node, operator, f"`{operator}` is not allowed: an expression only reads", hint)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        name, arity = node.name, len(node.arguments)
        if name in FORBIDDEN:
            self._refuse(node, name, f"`{name}` is not allowed: {FORBIDDEN[name]}")
        elif not is_known((name, arity), scope.functions):
            self._unknown(node, scope)
        elif error := _pattern_error(node):
            self._refuse(node, name, f"the pattern of `{name}` is no regular expression: {error}")

    def _unknown(self, node: ast.Call, scope: Scope) -> None:
        name, arity = node.name, len(node.arguments)
        known = arities(name, scope.functions)
        if known:
            takes = " or ".join(map(str, known)) + (" argument" if known == [1] else " arguments")
            self._refuse(node, name, f"`{name}` takes {takes}, not {arity}")
        elif (name, arity) in ONLY_JQ:
            self._refuse(node, name, f"`{name}` is a function of jq that gojq 0.12.19 does not have")
        else:
            self._refuse(node, name, f"there is no function `{name}`", self._meant(node, scope))

    def _meant(self, node: ast.Call, scope: Scope) -> str:
        if id(node) in self.hints:
            return self.hints[id(node)]
        if near := closest(node.name, scope.functions):
            return f"did you mean `{near}`?"
        is_path = not node.arguments and "::" not in node.name
        return f"a field of the input is written `.{node.name}`" if is_path else ""

    def _variable(self, node: Node, name: str, scope: Scope) -> None:
        if name == "ENV":
            self._refuse(node, "$ENV", "`$ENV` is not allowed: an expression has no environment")
        elif name != "__loc__" and name not in scope.variables:
            hint = _choice("$", name, scope.variables)
            self._refuse(node, f"${name}", f"there is no variable `${name}` here", hint)

    def _refuse(self, node: Node, construct: str, message: str, hint: str = "") -> None:
        self.found.append(Refusal(construct, node.span, message, hint))


def _choice(sign: str, name: str, known: frozenset[str]) -> str:
    near = get_close_matches(name, sorted(known), n=1)
    return f"did you mean `{sign}{near[0]}`?" if near else ""


def _pattern_error(node: ast.Call) -> str:
    """The error in the literal pattern or the literal flags of a call; empty if there is none."""
    function = FUNCTIONS.get((node.name, len(node.arguments)))
    kinds = function.arguments if function else ()
    texts = {
        kind: argument.value
        for kind, argument in zip(kinds, node.arguments, strict=False)
        if isinstance(argument, ast.Literal) and isinstance(argument.value, str)
    }
    try:
        compile_pattern(texts.get(Argument.PATTERN, ""), texts.get(Argument.FLAGS, ""))
    except ValueError as error:
        return str(error)
    return ""
