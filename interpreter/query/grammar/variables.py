"""The variables that an expression reads."""

from interpreter.query.grammar.syntax import Node, Variable
from interpreter.query.grammar.tree import children


def variables_in(node: Node) -> frozenset[str]:
    """The names of all variables in an expression, whoever defines them."""
    below = (variables_in(child) for child in children(node))
    own = {node.name} if isinstance(node, Variable) else set()
    return frozenset(own).union(*below)
