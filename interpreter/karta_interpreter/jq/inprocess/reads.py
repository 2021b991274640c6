"""Which parts of its input a plain expression reads.

The analysis is conservative: a construct that is no path, no choice and no condition counts as reading all of its
input.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from karta_interpreter.jq import Query
from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.functions import FUNCTIONS, Reads
from karta_interpreter.jq.syntax import Node
from karta_interpreter.k8s.projection import Projection

Projections: TypeAlias = tuple[Projection, ...]


def take_outputs(projection: Projection, *queries: Query | None) -> None:
    """Mark what queries read of a value, all of their outputs among it."""
    for query in queries:
        if query is not None:
            taken(reach(query.node, (projection,)))


def reach(node: Node, inputs: Projections) -> Projections:  # noqa: C901, PLR0911, PLR0912 - one case each
    """Mark what an expression looks at to give its outputs; return the parts that outputs are, unless computed.

    What becomes of the outputs is for the caller to mark.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> from karta_interpreter.k8s.projection import Projection
    >>> root = Projection()
    >>> [output] = reach(parse(".spec.groups[] | select(.on) | .name"), (root,))
    >>> sorted(root.at("spec", "groups").each().fields), output is root.at("spec", "groups").each().at("name")
    (['name', 'on'], True)
    """
    match node:
        case ast.Identity():
            return inputs
        case ast.Literal() | ast.Variable() | ast.Array(None):
            return ()
        case ast.Index(target, ast.Literal(str() as name)):
            return tuple(part.at(name) for part in reach(target, inputs))
        case ast.Index(target, key):
            return taken(reach(target, inputs) + reach(key, inputs))
        case ast.Iterate(target):
            return tuple(part.each() for part in reach(target, inputs))
        case ast.Pipe(left, right):
            return reach(right, reach(left, inputs))
        case ast.Comma(left, right) | ast.Alternative(left, right):
            return reach(left, inputs) + reach(right, inputs)
        case ast.Binary(operator, left, right):
            operands = reach(left, inputs) + reach(right, inputs)
            # Whether a value is true does not depend on its parts.
            return () if operator in ("and", "or") else taken(operands)
        case ast.If(branches, otherwise):
            results = inputs if otherwise is None else reach(otherwise, inputs)
            for condition, then in branches:
                reach(condition, inputs)
                results += reach(then, inputs)
            return results
        case ast.Try(body, None):
            return reach(body, inputs)
        case ast.Array(Node() as body):
            return taken(reach(body, inputs))
        case ast.Object(entries):
            return taken(part for each in entries for part in reach(each.key, inputs) + reach(each.value, inputs))
        case ast.Call(name, arguments) if function := FUNCTIONS.get((name, len(arguments))):
            return _called(function.reads, arguments, inputs)
    return taken(inputs)


def _called(reads: Reads, arguments: Sequence[Node], inputs: Projections) -> Projections:
    match reads:
        case Reads.ALL:
            return taken(inputs)
        case Reads.SELF:
            for condition in arguments:
                reach(condition, inputs)
            return inputs
        case Reads.FIRST:
            return reach(arguments[0], inputs)
        case Reads.PRESENCE:
            reach(arguments[0], inputs)
        case Reads.OUTPUTS:
            taken(reach(arguments[0], inputs))
        case Reads.ELEMENTS:
            taken(reach(arguments[0], _elements(inputs)))
        case Reads.TRUTH:
            *source, condition = arguments
            reach(condition, reach(source[0], inputs) if source else _elements(inputs))
    return ()


def taken(parts: Iterable[Projection]) -> Projections:
    """Mark all of some parts as read. What is computed from them is no part of the input."""
    for part in parts:
        part.take_all()
    return ()


def _elements(parts: Projections) -> Projections:
    return tuple(part.each() for part in parts)
