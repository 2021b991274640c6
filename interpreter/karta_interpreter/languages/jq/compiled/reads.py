"""Which parts of its input a plain expression reads, and at which of them it may be written.

Both analyses are conservative: a construct other than a path, a choice or a condition counts as reading all of its
input, and it is unknown where it may be written. Both take a time that is linear in the expression's length: if choices
multiply, all of their outputs count as read.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Final, TypeAlias

from karta_interpreter.base.k8s import Projection
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled.functions import Code, function_of

Projections: TypeAlias = tuple[Projection, ...]

# The most parts of the input that one expression is followed through. Beyond that they count as read whole.
_MOST_OUTPUTS: Final = 32


def project(node: ast.Node, inputs: Projections) -> Projections:  # noqa: C901, PLR0911, PLR0912 - one case each
    """Mark the parts that an expression reads to compute its outputs.

    Return the parts that are outputs, unless computed.

    The caller marks the use of the outputs.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.base.k8s.projection import Projection
    >>> root = Projection()
    >>> [output] = project(parse(".spec.groups[] | select(.on) | .name"), (root,))
    >>> sorted(root.at("spec", "groups").each().fields), output is root.at("spec", "groups").each().at("name")
    (['name', 'on'], True)
    """
    match node:
        case ast.Identity():
            return inputs
        case ast.Literal() | ast.Variable() | ast.Array(None):
            return ()
        case ast.Index(target, ast.Literal(str() as name)):
            return tuple(projection.at(name) for projection in project(target, inputs))
        case ast.Index(target, key):
            return mark_all(project(target, inputs) + project(key, inputs))
        case ast.Iterate(target):
            return tuple(projection.each() for projection in project(target, inputs))
        case ast.Pipe(left, right):
            return project(right, project(left, inputs))
        case ast.Comma(left, right) | ast.Alternative(left, right):
            return _choices((project(left, inputs), project(right, inputs)))
        case ast.Binary("==" | "!=", operand, ast.Literal(None)) | ast.Binary("==" | "!=", ast.Literal(None), operand):
            # Whether a value is null does not depend on its parts, either.
            project(operand, inputs)
            return ()
        case ast.Binary(operator, left, right):
            operands = project(left, inputs) + project(right, inputs)
            # Whether a value is true does not depend on its parts.
            return () if operator in ("and", "or") else mark_all(operands)
        case ast.If(branches, otherwise):
            for condition, _ in branches:
                project(condition, inputs)
            outputs = [project(then, inputs) for _, then in branches]
            return _choices((*outputs, inputs if otherwise is None else project(otherwise, inputs)))
        case ast.Try(body, None):
            return project(body, inputs)
        case ast.Array(ast.Node() as body):
            return mark_all(project(body, inputs))
        case ast.Object(entries):
            return mark_all(
                projection
                for entry in entries
                for projection in project(entry.key, inputs) + project(entry.value, inputs)
            )
        case ast.Text(parts, None):
            return mark_all(
                projection for piece in parts if isinstance(piece, ast.Node) for projection in project(piece, inputs)
            )
        case ast.FunctionCall() if function := function_of(node):
            return _called(function.code, node.arguments, inputs)
    return mark_all(inputs)


def _called(
    code: Code | tuple[str, ...] | Callable[..., ast.Node], arguments: Sequence[ast.Node], inputs: Projections
) -> Projections:
    match code:
        case Code.FIRST | Code.LAST:
            return project(arguments[0], inputs)
        case Code.IS_EMPTY:
            project(arguments[0], inputs)
        case Code.MAP:
            mark_all(project(arguments[0], _elements(inputs)))
        case Code.ANY | Code.ALL:
            *source, condition = arguments
            project(condition, project(source[0], inputs) if source else _elements(inputs))
        case Code.TYPE | Code.NOT | Code.NOTHING | Code.ERROR:
            return ()
        case Code():
            return mark_all(inputs)
        case tuple():
            return inputs
        case body:
            return project(body(*arguments), inputs)
    return ()


def _choices(groups: Iterable[Projections]) -> Projections:
    """Return the different parts that the outputs of some expressions are."""
    projections = tuple(dict.fromkeys(chain.from_iterable(groups)))
    return projections if len(projections) <= _MOST_OUTPUTS else mark_all(projections)


def mark_all(projections: Iterable[Projection]) -> Projections:
    """Mark all of some parts as read. Values computed from them are not part of the input."""
    for projection in projections:
        projection.is_whole = True
    return ()


def _elements(projections: Projections) -> Projections:
    return tuple(projection.each() for projection in projections)


_NOTHING: Final = ast.FunctionCall("empty")


def sources(node: ast.Node) -> ast.Node | None:
    """Return an expression for the values at all paths that ``node`` may be written through, and perhaps at others.

    Returns None if the expression does not show them, as for every function that is not named here. That is always
    right.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.languages.jq.syntax.printer import render
    >>> found = sources(parse(".groups[] | (.replicas // 1) * .hosts"))
    >>> found and render(found)
    '.groups[] | .replicas, empty, .hosts'
    """
    match node:
        case _ if _is_path(node):
            return node
        case ast.Literal() | ast.FunctionCall("empty"):
            return _NOTHING
        case ast.Comma(left, right) | ast.Alternative(left, right) | ast.Binary("*", left, right):
            first, last = sources(left), sources(right)
            return ast.Comma(first, last) if first and last else None
        case ast.Array(ast.Node() as body) | ast.Pipe(body, ast.FunctionCall("max" | "min" | "tonumber", ())):
            return sources(body)
        case ast.Pipe(left, right) if _is_path(left):
            last = sources(right)
            return last and ast.Pipe(left, last)
        case ast.If(branches, otherwise):
            conditional = [(condition, sources(then)) for condition, then in branches]
            writable = tuple((condition, source) for condition, source in conditional if source)
            last = sources(otherwise or ast.Identity())
            return ast.If(writable, last) if last and len(writable) == len(conditional) else None
    return None


def _is_path(node: ast.Node) -> bool:
    """Return whether all outputs are values at paths, and not computed."""
    match node:
        case ast.Identity() | ast.FunctionCall("select", (_,)):
            return True
        case ast.Index(target, _) | ast.Iterate(target):
            return _is_path(target)
        case ast.Pipe(left, right):
            return _is_path(left) and _is_path(right)
    return False
