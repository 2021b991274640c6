"""Which expressions always have exactly one output."""

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.record import Outputs
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.traversal import children

_COMBINING = (
    ast.Index | ast.Slice | ast.Pipe | ast.Alternative | ast.Binary | ast.Negate | ast.If | ast.Object | ast.Text
)
"""Constructs with an output for every combination of outputs of their parts."""


class Singles:
    """Tells which nodes have exactly one output, unless they fail; asked once for each.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> singles = Singles()
    >>> parse(".a // 1") in singles, parse(".a // empty") in singles, parse("[.a // empty]") in singles
    (True, False, True)
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, bool]] = {}

    def __contains__(self, node: Node) -> bool:
        known = self._known.get(id(node))
        if known is None:
            # with the node, which stays alive so that its id is that of no other
            known = self._known[id(node)] = node, self._tell(node)
        return known[1]

    def _tell(self, node: Node) -> bool:
        if isinstance(node, ast.Identity | ast.Literal | ast.Variable | ast.Array):
            return True
        if isinstance(node, ast.Call):
            function = FUNCTIONS.get((node.name, len(node.arguments)))
            if function is None or function.outputs is not Outputs.EACH:
                return function is not None and function.outputs is Outputs.ONE
        elif not isinstance(node, _COMBINING):
            return False
        for part in children(node):  # noqa: SIM110 - all() would be another frame for each level of a tree
            if part not in self:
                return False
        return True
