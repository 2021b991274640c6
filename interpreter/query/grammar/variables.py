"""The variables that an expression is given from outside, and their values in its tree."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from interpreter.k8s.values import JSON
from interpreter.query.grammar.syntax import Entry, Given, Node, Variable
from interpreter.query.grammar.tree import children


def variables_in(node: Node) -> frozenset[str]:
    """The names of all variables that an expression reads, whoever defines them."""
    below = (variables_in(child) for child in children(node))
    own = {node.name} if isinstance(node, Variable) else set()
    return frozenset(own).union(*below)


def with_values(node: Node, values: Mapping[str, JSON]) -> Node:
    """The tree of an expression that defines no variable of its own, with values in the places of variables.

    A variable without a value is an error for whoever reads it, and never null.
    """
    if isinstance(node, Variable):
        problem = "" if node.name in values else no_value(node.name)
        return Given(node.name, values.get(node.name), problem, span=node.span)
    # Whatever the fields of a node hold, the same goes into them.
    changed: dict[str, Any] = {field.name: _with_values(getattr(node, field.name), values) for field in fields(node)}
    return replace(node, **changed)


def no_value(name: str) -> str:
    """What is said of a variable without a value."""
    return f"it reads the reference ${name}, which nobody has looked up"


def _with_values(part: object, values: Mapping[str, JSON]) -> object:
    if isinstance(part, Node):
        return with_values(part, values)
    if isinstance(part, tuple):
        return tuple(_with_values(item, values) for item in part)
    if isinstance(part, Entry):
        return Entry(with_values(part.key, values), with_values(part.value, values))
    return part
