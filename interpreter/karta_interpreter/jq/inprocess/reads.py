"""Which parts of its input a plain expression reads.

The analysis is conservative: a construct that is no path, no choice and no condition counts as reading all of its
input.
"""

from functools import singledispatch

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.record import Extents, taken
from karta_interpreter.jq.syntax import Node


@singledispatch
def reach(node: Node, inputs: Extents) -> Extents:
    """Mark what an expression looks at to give its outputs; return the parts that outputs are, unless computed.

    What becomes of the outputs is for the caller to mark.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> from karta_interpreter.k8s.extent import Extent
    >>> root = Extent()
    >>> [output] = reach(parse(".spec.groups[] | select(.on) | .name"), (root,))
    >>> sorted(root.at("spec", "groups").each().fields), output is root.at("spec", "groups").each().at("name")
    (['name', 'on'], True)
    """
    del node
    return taken(inputs)


@reach.register
def _(_node: ast.Identity, inputs: Extents) -> Extents:
    return inputs


@reach.register
def _(_node: ast.Literal | ast.Variable, _inputs: Extents) -> Extents:
    return ()


@reach.register
def _(node: ast.Index, inputs: Extents) -> Extents:
    targets = reach(node.target, inputs)
    match node.key:
        case ast.Literal(str() as name):
            return tuple(target.at(name) for target in targets)
        case key:
            taken(reach(key, inputs))
            return taken(targets)


@reach.register
def _(node: ast.Iterate, inputs: Extents) -> Extents:
    return tuple(target.each() for target in reach(node.target, inputs))


@reach.register
def _(node: ast.Pipe, inputs: Extents) -> Extents:
    return reach(node.right, reach(node.left, inputs))


@reach.register
def _(node: ast.Comma | ast.Alternative, inputs: Extents) -> Extents:
    return reach(node.left, inputs) + reach(node.right, inputs)


@reach.register
def _(node: ast.Binary, inputs: Extents) -> Extents:
    operands = reach(node.left, inputs) + reach(node.right, inputs)
    # Whether a value is true does not depend on its parts.
    return () if node.operator in ("and", "or") else taken(operands)


@reach.register
def _(node: ast.If, inputs: Extents) -> Extents:
    results = inputs if node.otherwise is None else reach(node.otherwise, inputs)
    for condition, then in node.branches:
        reach(condition, inputs)
        results += reach(then, inputs)
    return results


@reach.register
def _(node: ast.Try, inputs: Extents) -> Extents:
    return reach(node.body, inputs) if node.handler is None else taken(inputs)


@reach.register
def _(node: ast.Array, inputs: Extents) -> Extents:
    return taken(reach(node.body, inputs)) if node.body else ()


@reach.register
def _(node: ast.Object, inputs: Extents) -> Extents:
    for entry in node.entries:
        taken(reach(entry.key, inputs) + reach(entry.value, inputs))
    return ()


@reach.register
def _(node: ast.Call, inputs: Extents) -> Extents:
    function = FUNCTIONS.get((node.name, len(node.arguments)))
    return function.reads(reach, node.arguments, inputs) if function else taken(inputs)
