"""The jq expressions of a definition: each is parsed, checked in its place, and examined without an object.

The examination finds how many results an expression gives, and whether it can be written through. For the latter the
expression is evaluated on an empty object. If the result depends on the elements of a list, or cannot be read there,
the expression is accepted.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec import Struct

from karta_interpreter.base.errors import (
    InterpretationError,
    QueryError,
    QueryEvaluationError,
    QuerySyntaxError,
    QueryWriteError,
)
from karta_interpreter.base.findings import Finding, Span, error, warning
from karta_interpreter.base.k8s import Object, Path, Projection, field_path, get, set_value
from karta_interpreter.definitions.karta.expression_text import PodQuery, count_places
from karta_interpreter.definitions.karta.identity import REFERENCES
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.languages.jq import (
    Execution,
    OutputKind,
    Query,
    Reason,
    examine,
    mark_all,
    parse,
    parts_of,
    plain_path,
    project,
    render,
    result_of,
    several,
    syntax as ast,
)


class Parsed(Struct, frozen=True):
    """A usable expression, its path, and the references that it may read."""

    path: Path
    text: str
    node: ast.Node
    variables: frozenset[str] = frozenset()

    @property
    def query(self) -> Query:
        """The expression, ready to use."""
        return Query.compile(self.text, self.variables)


def check_expressions(karta: KartaResource) -> tuple[list[Parsed], list[Finding]]:
    """Return the usable expressions of a definition, and the findings about all of them."""
    usable: list[Parsed] = []
    findings: list[Finding] = []
    names = [reference.name.removeprefix("$") for reference in karta.spec.structure_definition.references]
    for path, text in expressions_of(karta.spec, ("spec",)):
        readable = names
        if path[: len(REFERENCES)] == REFERENCES:
            # References are looked up in their order. The name of an object may be in one that was found before.
            readable = names[: int(path[len(REFERENCES)])] if path[-1] == "nameExpression" else []
        parsed, problems = check_expression(path, text, frozenset(readable))
        findings += problems
        if parsed is not None:
            usable.append(parsed)
    return usable, findings


def check_expression(
    path: Path, text: str, variables: frozenset[str] = frozenset()
) -> tuple[Parsed | None, list[Finding]]:
    """Check one expression, which may read ``variables``: does it parse, is it allowed, does it run in this process.

    Expressions about pods never run here, so they have no warning about where they would run. References are looked
    up for workloads only, so expressions about pods cannot read any.
    """
    about_pod, text = isinstance(text, PodQuery), str(text)
    variables = frozenset() if about_pod else variables
    try:
        node, vetting = examine(text, variables)
    except QuerySyntaxError as err:
        return None, [_error("expression-syntax", path, text, err, Span(err.start, err.end))]
    if vetting.refusals:
        return None, [_error("expression-refused", path, text, refusal, refusal.span) for refusal in vetting.refusals]
    parsed = Parsed(path, text, node, variables)
    if vetting.verdict is not Execution.BOUNDED or about_pod:
        return parsed, []
    reasons = "; ".join(dict.fromkeys(note.message for note in vetting.notes))
    message = f"a separate process answers this expression, under a time limit: {reasons}"
    hint = "paths, `[]`, `//`, `select`, arithmetic and comparisons are answered at once"
    finding = warning("bounded-expression", path, message, hint)
    return parsed, [replace(finding, expression=text, span=vetting.notes[0].span)]


def _error(rule: str, path: Path, text: str, wrong: QuerySyntaxError | Reason, span: Span) -> Finding:
    return replace(error(rule, path, wrong.message, wrong.hint), expression=text, span=span)


def selections(node: ast.Node) -> list[str]:
    """Return the `select(...)` calls that leave results out, as text.

    >>> selections(parse('.a[] | select(.on) | .b'))
    ['select(.on)']
    """
    calls = (part for part in parts_of(node, _stages) if isinstance(part, ast.FunctionCall) and part.name == "select")
    return [render(call) for call in calls]


def _stages(node: ast.Node) -> tuple[ast.Node, ...]:
    """Return the parts through which each result of an expression goes."""
    match node:
        case (
            ast.Pipe(left, right) | ast.Alternative(left, right) | ast.Binary(_, left, right) | ast.Bind(left, _, right)
        ):
            return left, right
        case ast.If(branches, otherwise):
            return (*(then for _, then in branches), otherwise or ast.Identity())
        case ast.Index(target, _) | ast.Slice(target, _, _) | ast.Iterate(target) | ast.Try(target, _):
            return (target,)
        case ast.FunctionCall("first" | "last", (picked,)):
            return (picked,)
    return ()


def shared_default(node: ast.Node) -> tuple[str, str] | None:
    """Return a `//` with several results on its left side, and how to give each of them the default.

    ``X[].y // 1`` drops every unset y, and yields 1 only if all are unset: one default for the whole list.

    >>> shared_default(parse(".spec.groups[].replicas // 1"))
    ('.spec.groups[].replicas // 1', '.spec.groups[] | .replicas // 1')
    """
    for current in parts_of(node):
        if isinstance(current, ast.Alternative) and several(current.left):
            iterated, remainder = _split(current.left)
            return render(current), render(ast.Pipe(iterated, ast.Alternative(remainder, current.right)))
    return None


# The operators that jq applies before `//`.
_BEFORE_DEFAULTS: Final = frozenset(("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="))


def default_applied_last(node: ast.Node, text: str) -> list[str]:
    """Return the operators beside a default that jq applies before its `//`, at most one for each `//`.

    >>> [default_applied_last(parse(text), text) for text in (".n // 1 * .m", ".n > .m // 3", "(.n // 1) * .m")]
    [['*'], ['>'], []]
    >>> [default_applied_last(parse(text), text) for text in ('.n // "a-" + .m', ".n // (2 * .m)", ".n > 1 // false")]
    [[], [], []]
    """
    operators = []
    for part in parts_of(node):
        match part:
            case ast.Alternative(_, ast.Binary(operator, ast.Literal(default)) as beside):
                is_meant = operator == "+" and isinstance(default, str)  # a text before a name
            case ast.Alternative(ast.Binary(operator) as beside, ast.Literal() | ast.Array() as default):
                is_meant = is_boolean(default) if operator in BOOLEAN else not _has_literal(beside)
            case _:
                continue
        if operator in _BEFORE_DEFAULTS and not is_meant and text[beside.span.start] != "(":
            operators.append(operator)
    return operators


def _has_literal(node: ast.Binary) -> bool:
    return isinstance(node.left, ast.Literal) or isinstance(node.right, ast.Literal)


def compares_alternative(key: str) -> bool:
    """Return whether `KEY == value` compares the default of KEY with the value.

    >>> compares_alternative(".a // 1"), compares_alternative("(.a // 1)")
    (True, False)
    """
    with suppress(QuerySyntaxError):
        return isinstance(parse(f"{key} == 0"), ast.Alternative)
    return False


def fields_read(node: ast.Node) -> frozenset[str]:
    """Return the fields of the object that an expression reads something of, none if it reads the object as a whole.

    >>> fields_read(parse(".status.replicas // 1")), fields_read(parse("length"))
    (frozenset({'status'}), frozenset())
    """
    projection = Projection()
    mark_all(project(node, (projection,)))
    return frozenset() if projection.is_whole else frozenset(projection.fields)


BOOLEAN: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "and", "or"})


def is_boolean(node: ast.Node) -> bool:
    """Return whether the output is always true or false.

    >>> is_boolean(parse(".spec.n > 1")), is_boolean(parse(".spec.on"))
    (True, False)
    """
    match node:
        case ast.Binary(operator):
            return operator in BOOLEAN
        case ast.FunctionCall():
            return result_of(node) is OutputKind.BOOLEAN
        case ast.Pipe(_, right):
            return is_boolean(right)
        case ast.Literal(value):
            return isinstance(value, bool)
    return False


def without_default(node: ast.Node) -> ast.Node:
    """Return the expression before a default, or any other expression as it is."""
    return node.left if isinstance(node, ast.Alternative) else node


def result_nodes(node: ast.Node) -> tuple[ast.Node, ...]:
    """Return the nodes with results that become the result of the whole expression in any case, or a factor of it."""
    match node:
        case ast.Pipe(_, right) | ast.Alternative(_, right):
            return (right,)
        case ast.Binary("*", left, right):
            return (left, right)
        case ast.If(branches, otherwise):
            return (*(then for _, then in branches), *filter(None, (otherwise,)))
    return ()


def _split(node: ast.Node) -> tuple[ast.Node, ast.Node]:
    """Split a path into the part that yields several results and the part that reads each of them."""
    match node:
        case ast.Index(target, key) if several(target):
            iterated, remainder = _split(target)
            return iterated, ast.Index(remainder, key)
        case ast.Pipe(left, right) if several(left) and not several(right):
            return left, right
    return node, ast.Identity()


_BARE: Final[Object] = {"metadata": {"labels": {}, "annotations": {}}, "spec": {}, "status": {}}
_WHOLE: Final[frozenset[Path]] = frozenset(
    {(), ("metadata",), ("spec",), ("metadata", "labels"), ("metadata", "annotations")}
)


def names_places(query: Query) -> bool:
    """Return whether all results are values at some path.

    >>> names_places(Query.compile(".spec.groups[].name")), names_places(Query.compile(".spec.n - .spec.m"))
    (True, False)
    """
    # An expression such as `.spec | keys` fails on an empty object, which decides nothing.
    return not any(isinstance(result, ast.Binary) for result in parts_of(query.node, result_nodes)) and all(
        _places(query.paths, value) is not False for value in ({}, _BARE)
    )


def takes_number(query: Query) -> bool:
    """Return whether a number can be written so that it becomes the result.

    >>> takes_number(Query.compile("(.spec.n // 1) * 2")), takes_number(Query.compile("1"))
    (True, False)
    """
    # Reading `.n * .m` fails on an empty object, which decides nothing. With a number in both fields it has places.
    filled: Object = {}
    for path in filter(None, map(plain_path, parts_of(query.node))):
        with suppress(InterpretationError):  # another path continues below a number
            filled = set_value(filled, path, get(filled, path) or 1)
    results = [_places(partial(count_places, query), value) for value in ({}, filled)]
    return True in results or False not in results


def reads_object(node: ast.Node) -> bool:
    """Return whether an expression reads anything of its input.

    >>> reads_object(parse(".spec.n + 1")), reads_object(parse("2 * 3"))
    (True, False)
    """
    return any(isinstance(inner, ast.Identity) for inner in parts_of(node))


def _places(places: Callable[[Object], Sequence[object]], value: Object) -> bool | None:
    """Return whether every result has a place, None if the expression cannot be evaluated on this value."""
    try:
        return None not in places(value)
    except QueryWriteError:
        return False
    except QueryEvaluationError:
        return None


def whole_places(query: Query) -> list[str]:
    """Return the results that cannot be meant as a path: the whole object, its metadata, or its spec.

    >>> whole_places(Query.compile(".[]")), whole_places(Query.compile(".spec.n"))
    (['metadata', 'spec'], [])
    """
    try:
        return [field_path(path) for path in query.paths(_BARE) if path in _WHOLE]
    except QueryError:
        return []


def split_default(text: str) -> tuple[str, str | float | bool | None, bool]:
    """Return a path, the literal of the default after it (None without one), and whether the default is ``empty``.

    >>> split_default("select(.a // 1) | .spec.suspend // false")
    ('select(.a // 1) | .spec.suspend', False, False)
    >>> split_default(".spec.gates // empty")
    ('.spec.gates', None, True)
    """
    try:
        last = parse(text)
        while isinstance(last, ast.Pipe):
            last = last.right
        if isinstance(last, ast.Alternative) and isinstance(last.right, ast.Literal | ast.FunctionCall):
            path = text[: last.left.span.end]
            parse(path)  # parentheses around the whole would leave an open one in the text before the default
            match last.right:
                case ast.Literal(value):
                    return path, value, False
                case ast.FunctionCall("empty", ()):
                    return path, None, True
    except QuerySyntaxError:
        pass  # reported by the check of the whole expression
    return text, None, False
