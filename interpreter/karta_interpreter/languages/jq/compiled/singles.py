"""Which expressions have exactly one output."""

from typing import Final

from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled.functions import Code, function_of
from karta_interpreter.languages.jq.syntax.traversal import children, parts_of

# Constructs with an output for every combination of outputs of their parts.
_COMBINING: Final = (
    ast.Index | ast.Slice | ast.Pipe | ast.Alternative | ast.Binary | ast.Negate | ast.If | ast.Object | ast.Text
)

_ONE: Final = frozenset(
    (
        *(Code.INPUT, Code.TYPE, Code.FILTER, Code.NOT, Code.IS_EMPTY, Code.ERROR, Code.IN, Code.ANY, Code.ALL),
        Code.MAP,
    )
)
# Calls with an output for each combination of outputs of their arguments.
_EACH: Final = frozenset((Code.VALUES, Code.REGEX, Code.FIRST, Code.LAST))


class Singles:
    """The nodes that have exactly one output, unless they fail. Computed once for each node.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> singles = Singles()
    >>> parse(".a // 1") in singles, parse(".a // empty") in singles, parse("[.a // empty]") in singles
    (True, False, True)
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[ast.Node, bool]] = {}

    def __contains__(self, node: ast.Node) -> bool:
        entry = self._known.get(id(node))
        if entry is None:
            # with the node, to keep it alive: no other node then gets its id
            entry = self._known[id(node)] = node, self._has_one_output(node)
        return entry[1]

    def _has_one_output(self, node: ast.Node) -> bool:
        if isinstance(node, ast.Identity | ast.Literal | ast.Variable | ast.Array):
            return True
        if isinstance(node, ast.FunctionCall):
            function = function_of(node)
            code = function and function.code
            if callable(code):
                return code(*node.arguments) in self
            if code not in _EACH:
                return code in _ONE
        elif not isinstance(node, _COMBINING):
            return False
        for child in children(node):  # noqa: SIM110 - all() would be another frame for each level of a tree
            if child not in self:
                return False
        return True


def repeats_pieces(node: ast.Text, singles: Singles) -> bool:
    """Return whether a text may repeat its pieces for each element of a list, so that these have to be short."""
    several = (child for child in children(node) if child not in singles)
    return any(isinstance(inner, ast.Iterate) for child in several for inner in parts_of(child))
