"""Finds the constructs of an expression that are not allowed."""

from collections.abc import Iterator, Set as AbstractSet
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.analysis.notes import Reason
from karta_interpreter.languages.jq.compiled.functions import BUILTINS, FORBIDDEN, ONLY_JQ, Argument, Key, function_of
from karta_interpreter.languages.jq.compiled.regex import compile_pattern
from karta_interpreter.languages.jq.syntax.traversal import children, nodes_in

FORMATS: Final = frozenset(("text", "json", "html", "uri", "urid", "csv", "tsv", "sh", "base64", "base64d"))
"""The formats, without their ``@``, of both gojq and jq."""

# What other languages call a function, by the hint about it.
_HABITS: Final = {
    "a default is written `path // value`": "default coalesce ifnull nvl get orElse",
    "the size of a list is `length`": "len size count",
    "the sum of a list is `add`": "sum",
    "the sum of a field is `map(.field) | add`": "sum_by sumBy",
    "write `null`": "nil None none undefined",
    "write `true`": "True",
    "write `false`": "False",
    "write `tonumber`": "int integer float number parseInt toInt toNumber",
    "write `tostring`": "str string",
    "write `ascii_downcase`": "lower lowercase toLower",
    "write `ascii_upcase`": "upper uppercase toUpper",
    "write `map(select(...))`": "filter where",
    "write `any(path[]; condition)`": "exists some anyMatch",
    "write `all(path[]; condition)`": "every forall allMatch",
    'write `gsub("a"; "b")`': "replace replaceAll",
    'write `has("key")`': "hasKey has_key containsKey hasOwnProperty isset",
    "write `length == 0`": "isEmpty is_empty",
    "write `type`": "typeof typeOf kindOf",
    "write the expression alone": "jq yq",
    "write `unique`": "uniq distinct",
    "write `sort_by(.field)`": "sortBy orderBy order_by",
    "write `group_by(.field)`": "groupBy",
    "write `to_entries`": "entries pairs ipairs",
    'a text with values is written `"\\(.a)-\\(.b)"`': "printf sprintf concat",
    "a choice is written `if ... then ... else ... end`": "case ternary iif choose",
    'one of several values is written `path | IN("a", "b")`': "oneOf includes",
    "the object itself is `.`": "self obj object this root desiredObj observedObj",
}
_HINTS: Final = {name: hint for hint, names in _HABITS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Scope:
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
    """Collects refusals. ``hints`` holds what a node above knows about the likely meaning of a call."""

    def __init__(self) -> None:
        self.found: list[Reason] = []
        # By identity: nodes that are equal may be at several places, and a hint is about one of them.
        self.hints: dict[int, str] = {}

    def visit(self, node: ast.Node, scope: Scope) -> None:
        """Check a node and all nodes below it."""
        if isinstance(node, ast.Identity | ast.Literal):
            return  # more than half of all nodes
        self._guess(node)
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
                self._refuse(
                    node, "`..` is not allowed: its output may be large", "name the path; `path[]` is each entry"
                )
            case ast.Assign(operator):
                hint = "to compare, write `==`; a place to write to is a path alone" if operator == "=" else ""
                self._refuse(node, f"`{operator}` is not allowed: an expression only reads", hint)
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
                hint = (
                    _choice("$", name, scope.variables)
                    or f"a field of the input is written `.{name}`; "
                    f"`... as ${name} | ...` binds a variable, or a reference"
                )
                self._refuse(node, f"there is no variable `${name}` here", hint)
            case ast.Break(name) if name not in scope.labels:
                self._refuse(node, f"there is no `label ${name}` around this")
            case ast.Format(name) | ast.Text(format=str() as name) if name not in FORMATS:
                self._refuse(node, f"`@{name}` is not a format of gojq 0.12.19", _choice("@", name, FORMATS))

    def _guess(self, node: ast.Node) -> None:
        match node:
            case (
                ast.Index(target=ast.FunctionCall(name, ()) as call)
                | ast.Iterate(ast.FunctionCall(name, ()) as call)
                | ast.Slice(ast.FunctionCall(name, ()) as call)
            ):
                self.hints.setdefault(id(call), f"a field of the input is written `.{name}`")
            case ast.Binary("/", key, ast.FunctionCall(_, ()) as call):
                self.hints[id(call)] = 'a path is written `.spec.replicas`, a label `.metadata.labels["KEY"]`'
                while isinstance(key, ast.Index):
                    key = key.target
                self.hints[id(key)] = (
                    'a label is written `.metadata.labels["KEY"]`, a field of the input with a `.` first'
                )
            case ast.Binary("-", ast.Index(key=ast.Literal(str() as start)) as left, call):
                while isinstance(call, ast.Index | ast.Iterate | ast.Slice):
                    call = call.target
                if isinstance(call, ast.FunctionCall) and call.span.start == left.span.end + 1:
                    self.hints[id(call)] = f'a name with a dash is written `["{start}-{call.name}"]`'

    def _unknown(self, node: ast.FunctionCall, signatures: AbstractSet[Key]) -> None:
        name, arity = node.name, len(node.arguments)
        if arities := sorted(count for other, count in signatures if other == name):
            takes = " or ".join(map(str, arities)) + (" argument" if arities == [1] else " arguments")
            self._refuse(node, f"`{name}` takes {takes}, not {arity}", _arguments(node, has_none=0 in arities))
        elif (name, arity) in ONLY_JQ:
            self._refuse(node, f"`{name}` is a function of jq that gojq 0.12.19 does not have")
        else:
            path = "" if arity or "::" in name else f'a field is `.{name}`, a text is `"{name}"`'
            hint = (
                _HINTS.get(name)
                or self.hints.get(id(node))
                or _choice("", name, {other for other, _ in signatures}, 0.8)
                or path
            )
            self._refuse(node, f"there is no function `{name}`", hint)

    def _refuse(self, node: ast.Node, message: str, hint: str = "") -> None:
        self.found.append(Reason(node.span, message, hint))


def _choice(sign: str, name: str, candidates: AbstractSet[str], cutoff: float = 0.6) -> str:
    # Sorted: of several names as close, the same one each time.
    near = get_close_matches(name, sorted(candidates), n=1, cutoff=cutoff)
    return f"did you mean `{sign}{near[0]}`?" if near else ""


def _arguments(call: ast.FunctionCall, *, has_none: bool) -> str:
    if not has_none:
        has_comma = any(isinstance(argument, ast.Comma) for argument in call.arguments)
        return "arguments have `;` between them" if has_comma else ""
    one = len(call.arguments) == 1 and not isinstance(call.arguments[0], ast.Comma)
    return f"its input comes before it: `{'...' if one else '[..., ...]'} | {call.name}`"


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
