"""The variables that an expression reads."""

from karta_interpreter.jq.grammar.syntax import Node, Variable
from karta_interpreter.jq.grammar.tree import children


def variables_in(node: Node) -> frozenset[str]:
    """The names of all variables in an expression, whoever defines them."""
    below = (variables_in(child) for child in children(node))
    own = {node.name} if isinstance(node, Variable) else set()
    return frozenset(own).union(*below)
