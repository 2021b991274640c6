"""From an expression to that of a field of what it gives, which names a place also where the whole is put together."""

from typing import Final

from karta_interpreter.jq.grammar.syntax import (
    Alternative,
    Array,
    Binary,
    Entry,
    Identity,
    If,
    Index,
    Literal,
    Negate,
    Node,
    Object,
    Pipe,
    Text,
)

_NULL: Final = Literal(None)


def field_of(node: Node, *names: str) -> Node:
    """The expression of a field, or of one inside of that, of each output of an expression that gives objects.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> from karta_interpreter.jq.grammar.printer import render
    >>> render(field_of(parse(".pods | {metadata, spec: (.spec + {containers: []})}"), "spec", "tolerations"))
    '.pods | .spec.tolerations'
    """
    for name in names:
        node = _field(node, name)
    return node


def owner_of(node: Node) -> Node | None:
    """The expression of the objects of which an expression gives one field; None where it may give others.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> from karta_interpreter.jq.grammar.printer import render
    >>> render(owner_of(parse(".tasks[] | select(.on) | .size")))
    '.tasks[] | select(.on) | .'
    """
    match node:
        case Pipe(left, right):
            owner = owner_of(right)
            return None if owner is None else Pipe(left, owner)
        case Index(target, Literal(str())):
            return target
    return None


def is_computed(node: Node) -> bool:
    """Whether no output of an expression can be the value at a place.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> is_computed(parse(".a | [.b]")), is_computed(parse("if .a then null else .b end"))
    (True, False)
    """
    match node:
        case Pipe(_, right):
            return is_computed(right)
        case If(branches, otherwise):
            return otherwise is not None and all(map(is_computed, (otherwise, *(then for _, then in branches))))
    return isinstance(node, Array | Binary | Literal | Negate | Object | Text)


def _field(node: Node, name: str) -> Node:
    match node:
        case Pipe(left, right):
            return Pipe(left, _field(right, name))
        case If(branches, otherwise):
            found = tuple((condition, _field(then, name)) for condition, then in branches)
            return If(found, _field(Identity() if otherwise is None else otherwise, name))
        case Object(entries) if _are_named(entries):
            return next((entry.value for entry in reversed(entries) if entry.key == Literal(name)), _NULL)
        case Binary("+", left, Object(entries) as right) if _are_named(entries):
            return _field(right if _has(entries, name) else left, name)
        case Alternative(left, Object(entries)) if _are_named(entries) and not _has(entries, name):
            return _field(left, name)
        case Literal(None):
            return node
    return Index(node, Literal(name))


def _has(entries: tuple[Entry, ...], name: str) -> bool:
    return any(entry.key == Literal(name) for entry in entries)


def _are_named(entries: tuple[Entry, ...]) -> bool:
    return all(isinstance(entry.key, Literal) for entry in entries)
