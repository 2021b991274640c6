"""How many outputs an expression has: exactly one, at most one, or possibly several."""

from enum import IntEnum
from typing import Final

from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled.functions import GENERATORS, Code, function_of, key_of
from karta_interpreter.languages.jq.syntax.traversal import children, parts_of


class Outputs(IntEnum):
    """How many outputs a node has, unless it fails. A whole has as many as its part with the most."""

    ONE = 0
    AT_MOST_ONE = 1
    SEVERAL = 2


# Constructs with an output for every combination of outputs of their parts.
_COMBINING: Final = frozenset(
    (ast.Index, ast.Slice, ast.Pipe, ast.Alternative, ast.Binary, ast.Negate, ast.If, ast.Object, ast.Text)
)
# Constructs that are not plain, or leave an output out, with as many outputs as some of their parts.
_HANDING_ON: Final = frozenset((ast.Try, ast.Bind, ast.Label, ast.Define))
_OF_PARTS: Final = _COMBINING | _HANDING_ON
_WITH_ONE: Final = _COMBINING | {ast.Identity, ast.Literal, ast.Variable, ast.Array}

_ONE: Final = frozenset(
    (
        *(Code.INPUT, Code.TYPE, Code.FILTER, Code.NOT, Code.IS_EMPTY, Code.ERROR, Code.IN, Code.ANY, Code.ALL),
        Code.MAP,
    )
)
# Calls with an output for each combination of outputs of their arguments, and those that pick one of these outputs.
_EACH: Final = frozenset((Code.VALUES, Code.REGEX))
_PICKING: Final = frozenset((Code.FIRST, Code.LAST))


class Singles:
    """The nodes that have exactly one output, unless they fail. Computed once for each node.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> singles = Singles()
    >>> parse(".a // 1") in singles, parse(".a // empty") in singles, parse("[.a // empty]") in singles
    (True, False, True)
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[ast.Node, Outputs]] = {}

    def __contains__(self, node: ast.Node) -> bool:
        return self.outputs(node) is Outputs.ONE

    def outputs(self, node: ast.Node) -> Outputs:
        """Return how many outputs a node has."""
        entry = self._known.get(id(node))
        if entry is None:
            # with the node, to keep it alive: no other node then gets its id
            entry = self._known[id(node)] = node, self._counted(node)
        return entry[1]

    def _counted(self, node: ast.Node) -> Outputs:
        outputs = _of_construct(node)
        if isinstance(node, ast.FunctionCall):
            function = function_of(node)
            code = function and function.code
            if callable(code):
                return self.outputs(code(*node.arguments))
            if code in _PICKING and node.arguments[0] in self:
                return Outputs.ONE
            if code not in _EACH:
                return outputs
        elif type(node) not in _OF_PARTS:
            return outputs
        for child in children(node):  # max() of a generator would be another frame for each level of a tree
            outputs = max(outputs, self.outputs(child))
            if outputs is Outputs.SEVERAL:
                break
        return outputs


def _of_construct(node: ast.Node) -> Outputs:
    """Return how many outputs a node has if each of its parts has one."""
    if type(node) in _WITH_ONE:
        return Outputs.ONE
    if isinstance(node, ast.FunctionCall):
        function = function_of(node)
        if key_of(node) in GENERATORS:
            return Outputs.SEVERAL
        return Outputs.ONE if function and (function.code in _ONE or function.code in _EACH) else Outputs.AT_MOST_ONE
    return Outputs.SEVERAL if isinstance(node, ast.Iterate | ast.Comma | ast.Foreach) else Outputs.AT_MOST_ONE


def several(node: ast.Node) -> bool:
    r"""Return whether an expression may have more than one output.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> several(parse(".spec.groups[].name")), several(parse("[.spec.groups[].name] | length"))
    (True, False)
    >>> several(parse(r'"\(.metadata.name)-\(.spec.groups[].name)"'))
    True
    """
    return Singles().outputs(node) is Outputs.SEVERAL


def repeats_pieces(node: ast.Text, singles: Singles) -> bool:
    """Return whether a text may repeat its pieces for each element of a list, so that these have to be short."""
    repeating = (child for child in children(node) if child not in singles)
    return any(isinstance(inner, ast.Iterate) for child in repeating for inner in parts_of(child))
