"""Which expressions always have exactly one output."""

from karta_interpreter.jq.inprocess.functions import ARGUMENTS, VALUES
from karta_interpreter.jq.syntax import (
    Alternative,
    Array,
    Binary,
    Call,
    Identity,
    If,
    Index,
    Literal,
    Negate,
    Node,
    Object,
    Pipe,
    Slice,
    Text,
    Variable,
)
from karta_interpreter.jq.syntax.traversal import children

_ANSWERS = frozenset(
    (
        *(("IN", 1), ("add", 1), ("all", 1), ("all", 2), ("any", 1), ("any", 2), ("error", 1), ("group_by", 1)),
        *(("isempty", 1), ("map", 1), ("map_values", 1), ("max_by", 1), ("min_by", 1), ("sort_by", 1)),
        *(("unique_by", 1), ("with_entries", 1), *((name, 0) for name in VALUES)),
    )
)
"""Functions with one output, whatever their arguments have."""

_HANDING_ON = frozenset(
    (
        *((name, 1) for name in (*ARGUMENTS, "first", "last", "test")),
        *((name, 2) for name in ("gsub", "split", "sub", "test")),
        *((name, 3) for name in ("gsub", "sub")),
    )
)
"""Functions with an output for each one of their arguments, at most."""

_COMBINING = Index | Slice | Pipe | Alternative | Binary | Negate | If | Object | Text
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
        if isinstance(node, Identity | Literal | Variable | Array):
            return True
        if isinstance(node, Call):
            function = node.name, len(node.arguments)
            if function in _ANSWERS or function not in _HANDING_ON:
                return function in _ANSWERS
        elif not isinstance(node, _COMBINING):
            return False
        for part in children(node):  # noqa: SIM110 - all() would be another frame for each level of a tree
            if part not in self:
                return False
        return True
