"""What the operators of jq yield for shapes, and which values they can never take or equal."""

from collections.abc import Mapping
from itertools import product
from typing import Final

from karta_interpreter.base.findings import Severity, did_you_mean
from karta_interpreter.definitions.openapi.check.shape import (
    ANY,
    BOOLEAN,
    NULL,
    NUMBER,
    TEXT,
    WRONG_TYPE,
    Contradiction,
    Shape,
    Shapes,
    TypeScope,
    list_of,
    literal,
    unique,
)
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax import Node

_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=", "and", "or")
_ALIKE: Final[Mapping[str, frozenset[str]]] = {
    "+": frozenset(("number", "string", "array", "object")),
    "-": frozenset(("number", "array")),
    "*": frozenset(("number", "object")),
    "/": frozenset(("number", "string")),
    "%": frozenset(("number",)),
}
"""The types of which an operator takes two values."""
_NOUNS: Final = {"number": "numbers", "string": "strings", "array": "lists", "object": "objects"}


def operation(node: ast.Binary, lefts: Shapes, rights: Shapes, scope: TypeScope) -> Shapes:
    """Return the shapes of what an operator yields; what can never be is added to ``scope.found``."""
    operator = node.operator
    if operator in ("==", "!="):
        _compared(lefts, node.right, scope)
        _compared(rights, node.left, scope)
    if operator in _COMPARISONS:
        return (BOOLEAN,)
    _operands(node, lefts, rights, scope)
    both = unique((lefts, rights))
    if all("number" in each.types or "integer" in each.types for each in both):
        return (NUMBER,)
    if operator == "+" and all(each.types == {"string"} for each in both):
        return (TEXT,)
    if operator == "+" and all(each.types == {"array"} for each in both):
        return (list_of(unique(each.each() for each in both)),)
    return (ANY,)


def _operands(node: ast.Binary, lefts: Shapes, rights: Shapes, scope: TypeScope) -> None:
    """Find operands of which an operator can take none."""
    takes = _ALIKE.get(node.operator, frozenset())
    if not (takes and lefts and rights and all(shape.is_known and shape != NULL for shape in (*lefts, *rights))):
        return
    for left, right in product(lefts, rights):
        ours, theirs = _kinds(left), _kinds(right)
        # jq repeats a text so many times.
        repeats = node.operator == "*" and "string" in ours | theirs and "number" in ours | theirs
        if ours & theirs & takes or repeats:
            return
    wrong, other = (lefts[0], rights[0]) if _kinds(rights[0]) == {"number"} else (rights[0], lefts[0])
    message = (
        f"{wrong.at or 'this'} is {wrong.noun} in {scope.schema}, and `{node.operator}` has {other.noun} next to it"
    )
    hint = f"`{node.operator}` takes two {' or two '.join(noun for kind, noun in _NOUNS.items() if kind in takes)}"
    scope.add(Contradiction(WRONG_TYPE, message, hint, node.span))


def check_default(shapes: Shapes, default: Node, scope: TypeScope) -> None:
    """Find a text that stands for an absent number, or a number that stands for an absent text."""
    if not (isinstance(default, ast.Literal) and isinstance(default.value, str | int | float)):
        return
    own, known = literal(default.value), [shape for shape in shapes if shape != NULL]
    kinds = {kind for shape in known for kind in _kinds(shape)}
    if kinds in ({"number"}, {"string"}) and all(shape.is_known for shape in known) and not _kinds(own) & kinds:
        message = f"{known[0].at or 'this'} is {known[0].noun} in {scope.schema}, and its default is {own.noun}"
        hint = f"write {known[0].noun} behind `//`"
        scope.add(Contradiction(WRONG_TYPE, message, hint, default.span, Severity.WARNING))


def _compared(shapes: Shapes, other: Node, scope: TypeScope) -> None:
    """Find a literal to which no value can be equal."""
    # null and "" are what an absent value is compared with, whatever the schema lists.
    if not isinstance(other, ast.Literal) or other.value in (None, ""):
        return
    own, known = literal(other.value), [shape for shape in shapes if shape != NULL]
    listed = listed_values(shapes)
    if listed and isinstance(other.value, str) and other.value not in listed:
        message = f'{known[0].at or "this"} is never "{other.value}" in {scope.schema}'
        hint = did_you_mean(other.value, listed)
        scope.add(Contradiction("crd-unknown-value", message, hint, other.span, Severity.WARNING))
    elif known and all(shape.is_known and not _kinds(shape) & _kinds(own) for shape in known):
        message = f"{known[0].at or 'this'} is {known[0].noun} in {scope.schema}, and never equals {own.noun}"
        hint = f"compare it with {known[0].noun}"
        scope.add(Contradiction(WRONG_TYPE, message, hint, other.span, Severity.WARNING))


def _kinds(shape: Shape) -> frozenset[str]:
    """Return the types of a shape; jq has one type of numbers."""
    return frozenset("number" if each == "integer" else each for each in shape.types)


def listed_values(shapes: Shapes) -> list[str]:
    """Return all texts that a value may be; nothing where it may be any text."""
    found = [shape.values for shape in shapes if shape != NULL]
    return [value for each in found for value in each] if all(found) else []
