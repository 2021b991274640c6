"""Finds the constructs of an expression that are not allowed."""

from collections.abc import Iterator, Set as AbstractSet
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.findings import closest
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.analysis.notes import Reason
from karta_interpreter.languages.jq.compiled.functions import BUILTINS, FORBIDDEN, ONLY_JQ, Argument, Key, function_of
from karta_interpreter.languages.jq.compiled.regex import compile_pattern
from karta_interpreter.languages.jq.syntax.traversal import children, nodes_in

FORMATS: Final = frozenset(("text", "json", "html", "uri", "urid", "csv", "tsv", "sh", "base64", "base64d"))
"""The formats, without their ``@``, of both gojq and jq."""


class Scope(Struct, frozen=True):
    """The functions, variables and labels that are defined at a position."""

    functions: frozenset[Key] = frozenset()
    variables: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()

    def bind(self, *patterns: ast.Pattern) -> "Scope":
        """Return the scope with the variables of patterns.

        Variables that only one alternative binds are otherwise null.
        """
        return replace(self, variables=self.variables.union(_variables(patterns)))

    def define(self, define: ast.Define) -> "Scope":
        """Return the scope after a definition. A function that calls itself has the same scope."""
        return replace(self, functions=self.functions | {(define.name, len(define.params))})

    def inside(self, define: ast.Define) -> "Scope":
        """Return the scope of the text of a function. A value parameter can be called as well."""
        scope = self.define(define)
        functions = scope.functions.union((param.removeprefix("$"), 0) for param in define.params)
        values = (param[1:] for param in define.params if param.startswith("$"))
        return replace(scope, functions=functions, variables=scope.variables.union(values))


def _variables(part: object) -> Iterator[str]:
    """Yield the names that a pattern binds, or that the parts of one bind."""
    match part:
        case ast.VariablePattern(name):
            yield name
        case ast.ArrayPattern(parts) | ast.ObjectPattern(parts) | (tuple() as parts):
            for pattern in parts:
                yield from _variables(pattern)


def find_refusals(node: ast.Node, variables: frozenset[str]) -> tuple[Reason, ...]:
    """Return the constructs of an expression that are not allowed."""
    search = _Search()
    search.visit(node, Scope(variables=variables))
    return Reason.in_order(search.found)


class _Search:
    """Collects refusals."""

    def __init__(self) -> None:
        self.found: list[Reason] = []

    def visit(self, node: ast.Node, scope: Scope) -> None:
        """Check a node and all nodes below it."""
        if isinstance(node, ast.Identity | ast.Literal):
            return  # more than half of all nodes
        self._judge(node, scope)
        match node:
            case ast.Bind(source, patterns, body):
                self._visit_all(scope, source, *nodes_in(patterns))
                self.visit(body, scope.bind(*patterns))
            case ast.Reduce(source, pattern, init, update) | ast.Foreach(source, pattern, init, update, None):
                self._visit_all(scope, source, *nodes_in(pattern), init)
                self.visit(update, scope.bind(pattern))
            case ast.Foreach(source, pattern, init, update, ast.Node() as extract):
                self._visit_all(scope, source, *nodes_in(pattern), init)
                self._visit_all(scope.bind(pattern), update, extract)
            case ast.Define():
                self.visit(node.definition, scope.inside(node))
                self.visit(node.body, scope.define(node))
            case ast.Label(name, body):
                self.visit(body, replace(scope, labels=scope.labels | {name}))
            case _:
                self._visit_all(scope, *children(node))

    def _visit_all(self, scope: Scope, *nodes: ast.Node) -> None:
        for node in nodes:
            self.visit(node, scope)

    def _judge(self, node: ast.Node, scope: Scope) -> None:
        match node:
            case ast.RecursiveDescent():
                self._refuse(node, "`..` is not allowed: its output may be large")
            case ast.Assign(operator):
                self._refuse(node, f"`{operator}` is not allowed: an expression only reads")
            case ast.FunctionCall(name) if name in FORBIDDEN:
                self._refuse(node, f"`{name}` is not allowed: {FORBIDDEN[name]}")
            case ast.FunctionCall(name, arguments) if not any(
                (name, len(arguments)) in signatures for signatures in (BUILTINS, scope.functions)
            ):
                self._unknown(node, BUILTINS | scope.functions)
            case ast.FunctionCall(name) if error := _pattern_error(node):
                self._refuse(node, f"the pattern of `{name}` is not a regular expression: {error}")
            case ast.Variable("ENV"):
                self._refuse(node, "`$ENV` is not allowed: an expression has no environment")
            case ast.Variable(name) if name != "__loc__" and name not in scope.variables:
                hint = _choice("$", name, scope.variables)
                self._refuse(node, f"there is no variable `${name}` here", hint)
            case ast.Break(name) if name not in scope.labels:
                self._refuse(node, f"there is no `label ${name}` around this")
            case ast.Format(name) | ast.Text(format=str() as name) if name not in FORMATS:
                self._refuse(node, f"`@{name}` is not a format of gojq 0.12.19", _choice("@", name, FORMATS))

    def _unknown(self, node: ast.FunctionCall, signatures: AbstractSet[Key]) -> None:
        name, arity = node.name, len(node.arguments)
        if arities := sorted(count for other, count in signatures if other == name):
            takes = " or ".join(map(str, arities)) + (" argument" if arities == [1] else " arguments")
            self._refuse(node, f"`{name}` takes {takes}, not {arity}")
        elif (name, arity) in ONLY_JQ:
            self._refuse(node, f"`{name}` is a function of jq that gojq 0.12.19 does not have")
        else:
            hint = _choice("", name, {other for other, _ in signatures})
            self._refuse(node, f"there is no function `{name}`", hint)

    def _refuse(self, node: ast.Node, message: str, hint: str = "") -> None:
        self.found.append(Reason(node.span, message, hint))


def _choice(sign: str, name: str, candidates: AbstractSet[str]) -> str:
    # Sorted: of several names as close, the same one each time.
    near = closest(name, sorted(candidates))
    return f"did you mean `{sign}{near}`?" if near else ""


def _pattern_error(node: ast.FunctionCall) -> str:
    """Return the error in the literal pattern or the literal flags of a call, or an empty text if there is none."""
    function = function_of(node)
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
