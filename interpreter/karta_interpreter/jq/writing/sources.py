"""Which values an expression may be written over, told without an object: cheaper to ask than where they are."""

from karta_interpreter.jq.grammar.syntax import (
    Alternative,
    Array,
    Binary,
    Call,
    Comma,
    Identity,
    If,
    Index,
    Iterate,
    Literal,
    Node,
    Pipe,
)

_NOTHING = Call("empty")


def sources(node: Node) -> Node | None:
    """An expression for the values at all places that ``node`` may be written through, and perhaps at others.

    None where they are unknown.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> from karta_interpreter.jq.grammar.printer import render
    >>> found = sources(parse(".groups[] | (.replicas // 1) * .hosts"))
    >>> found and render(found)
    '.groups[] | .replicas, empty, .hosts'
    """
    match node:
        case _ if _is_path(node):
            return node
        case Literal() | Call("empty"):
            return _NOTHING
        case Comma(left, right) | Alternative(left, right) | Binary("*", left, right):
            return _joined(sources(left), sources(right))
        case Array(Node() as body) | Pipe(body, Call("max" | "min" | "tonumber", ())):
            return sources(body)
        case Pipe(left, right) if _is_path(left):
            rest = sources(right)
            return rest and Pipe(left, rest)
        case If(branches, otherwise):
            ways = [(condition, sources(then)) for condition, then in branches]
            known = tuple((condition, way) for condition, way in ways if way)
            rest = sources(otherwise or Identity())
            return If(known, rest) if rest and len(known) == len(ways) else None
    return None


def _is_path(node: Node) -> bool:
    """Whether all outputs are values at places, nothing new."""
    match node:
        case Identity() | Call("select", (_,)):
            return True
        case Index(target, _) | Iterate(target):
            return _is_path(target)
        case Pipe(left, right):
            return _is_path(left) and _is_path(right)
    return False


def _joined(left: Node | None, right: Node | None) -> Node | None:
    return Comma(left, right) if left and right else None
