"""Which parts of its input a plain expression reads.

The analysis is conservative: a construct that is no path, no choice and no condition counts as reading all of its
input.
"""

from functools import singledispatch

from karta_interpreter.jq import Query
from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.record import Projections, taken
from karta_interpreter.jq.syntax import Node
from karta_interpreter.k8s.projection import Projection


def take_outputs(projection: Projection, *queries: Query | None) -> None:
    """Mark what queries read of a value, all of their outputs among it."""
    for query in queries:
        if query is not None:
            taken(reach(query.node, (projection,)))


@singledispatch
def reach(node: Node, inputs: Projections) -> Projections:
    """Mark what an expression looks at to give its outputs; return the parts that outputs are, unless computed.

    What becomes of the outputs is for the caller to mark.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> from karta_interpreter.k8s.projection import Projection
    >>> root = Projection()
    >>> [output] = reach(parse(".spec.groups[] | select(.on) | .name"), (root,))
    >>> sorted(root.at("spec", "groups").each().fields), output is root.at("spec", "groups").each().at("name")
    (['name', 'on'], True)
    """
    del node
    return taken(inputs)


@reach.register
def _(_node: ast.Identity, inputs: Projections) -> Projections:
    return inputs


@reach.register
def _(_node: ast.Literal | ast.Variable, _inputs: Projections) -> Projections:
    return ()


@reach.register
def _(node: ast.Index, inputs: Projections) -> Projections:
    targets = reach(node.target, inputs)
    match node.key:
        case ast.Literal(str() as name):
            return tuple(target.at(name) for target in targets)
        case key:
            taken(reach(key, inputs))
            return taken(targets)


@reach.register
def _(node: ast.Iterate, inputs: Projections) -> Projections:
    return tuple(target.each() for target in reach(node.target, inputs))


@reach.register
def _(node: ast.Pipe, inputs: Projections) -> Projections:
    return reach(node.right, reach(node.left, inputs))


@reach.register
def _(node: ast.Comma | ast.Alternative, inputs: Projections) -> Projections:
    return reach(node.left, inputs) + reach(node.right, inputs)


@reach.register
def _(node: ast.Binary, inputs: Projections) -> Projections:
    operands = reach(node.left, inputs) + reach(node.right, inputs)
    # Whether a value is true does not depend on its parts.
    return () if node.operator in ("and", "or") else taken(operands)


@reach.register
def _(node: ast.If, inputs: Projections) -> Projections:
    results = inputs if node.otherwise is None else reach(node.otherwise, inputs)
    for condition, then in node.branches:
        reach(condition, inputs)
        results += reach(then, inputs)
    return results


@reach.register
def _(node: ast.Try, inputs: Projections) -> Projections:
    return reach(node.body, inputs) if node.handler is None else taken(inputs)


@reach.register
def _(node: ast.Array, inputs: Projections) -> Projections:
    return taken(reach(node.body, inputs)) if node.body else ()


@reach.register
def _(node: ast.Object, inputs: Projections) -> Projections:
    for entry in node.entries:
        taken(reach(entry.key, inputs) + reach(entry.value, inputs))
    return ()


@reach.register
def _(node: ast.Call, inputs: Projections) -> Projections:
    function = FUNCTIONS.get((node.name, len(node.arguments)))
    return function.reads(reach, node.arguments, inputs) if function else taken(inputs)
