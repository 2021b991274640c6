"""The origins of values, as the Python of a traced expression computes them, and the sources of an expression."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.assign import Location
from karta_interpreter.jq.inprocess.collection import keys
from karta_interpreter.jq.inprocess.compiler import RUNTIME, by_name, compiled
from karta_interpreter.jq.inprocess.operators import position
from karta_interpreter.jq.inprocess.values import is_number, normal
from karta_interpreter.jq.syntax import Node
from karta_interpreter.k8s.values import JSON

Origin: TypeAlias = "Location | list[Origin] | dict[str | int, Origin] | None"
"""The location that a value can be written through, or the origins of the parts of a new array or object."""


Trace: TypeAlias = Callable[[JSON], list[tuple[JSON, Origin]]]


def inside(origin: Origin, names: tuple[str | int, ...], value: JSON) -> Origin:
    """The origin of ``value``, which is at these names: a part of a place is a place, as it is or as its default."""
    while names and isinstance(origin, list | dict):
        origin, names = _part(origin, names[0]), names[1:]
    if not names:
        return origin
    if not isinstance(origin, Location) or not origin.is_unchanged:
        return None
    return Location(origin.path + names, None if origin.default is None else value)


def step(origin: Origin, whole: JSON, key: JSON, value: JSON) -> Origin:
    """The origin of ``value``, which is ``whole[key]``; none for a slice and for an element that cannot be."""
    if isinstance(key, str):
        return inside(origin, (key,), value)
    if not is_number(key):
        return None
    if key >= 0:
        return inside(origin, (int(normal(key)),), value)
    index = position(whole, key) if isinstance(whole, list) else None
    return None if index is None else inside(origin, (index,), value)


def entries(whole: JSON, elements: Sequence[JSON]) -> Iterator[tuple[str | int, JSON]]:
    """The names of elements, and the elements; there may be fewer than in the whole."""
    return zip(sorted(whole) if isinstance(whole, dict) else range(len(elements)), elements, strict=False)


def entry_origins(origin: Origin, whole: JSON) -> list[Origin]:
    """``to_entries``: each value keeps its origin."""
    return [{"value": inside(origin, (key,), whole[key])} for key in keys(whole)]


def instead(missing: Origin, origin: Origin, left: JSON, right: JSON) -> Origin:
    """The origin of ``left // right`` where the left side, which is ``missing``, is null or false.

    Writing there makes it true. So of several places without a value that share a default, as in ``.a // .b // 1``,
    the first one is written.
    """
    if not isinstance(missing, Location) or not missing.is_plain or (origin and not isinstance(origin, Location)):
        return origin
    if isinstance(origin, Location) and origin.default is None:  # a value is there, or nothing but a place
        return origin
    if right is None and left is not None:
        return origin
    return Location(missing.path, right)


def alone(missing: list[tuple[JSON, Origin]]) -> tuple[JSON, Origin]:
    """The one value that is missing, where it is one; several do not share a place."""
    return missing[0] if len(missing) == 1 else (None, None)


def times(origin: Origin, factor: JSON) -> Location | None:
    """The origin of a product with a known factor, a whole number that is not negative."""
    known = normal(factor)
    return origin.scaled(known) if isinstance(origin, Location) and isinstance(known, int) and known >= 0 else None


def lowered(origin: Origin, others: Sequence[JSON]) -> Location | None:
    """The origin of the least of a value and others, which limit it."""
    if not isinstance(origin, Location) or not all(map(is_number, others)):
        return None
    return origin.capped(min(others)) if others else origin


def raised(origin: Origin, others: Sequence[JSON]) -> Location | None:
    """The origin of the largest of a value and others, which limit it; null does not."""
    limits = [other for other in others if other is not None]
    if not isinstance(origin, Location) or not all(map(is_number, limits)):
        return None
    return origin.raised(max(limits)) if limits else origin


def leftmost(origins: Origin, values: list[JSON]) -> tuple[Location | None, list[JSON]]:
    """The first location among the elements of an array, and the values of all the others."""
    for index, origin in enumerate(origins if isinstance(origins, list) else ()):
        if isinstance(origin, Location):
            return origin, values[:index] + values[index + 1 :]
    return None, []


def numeral(origin: Origin) -> Location | None:
    """The origin of a number that may be text there."""
    return origin._replace(numeral=True) if isinstance(origin, Location) else None


def _part(origin: "list[Origin] | dict[str | int, Origin]", name: str | int) -> Origin:
    if isinstance(origin, dict):
        return origin.get(name)
    return origin[name] if isinstance(name, int) and name < len(origin) else None


_KNOWN: Final = {
    **RUNTIME,
    **by_name(Location, alone, entries, entry_origins, enumerate, inside, instead),
    **by_name(leftmost, lowered, numeral, raised, step, times),
}


def compile_trace(node: Node) -> Trace:
    """Compile a plain expression to a function that gives all outputs for an object, each with its origin in that.

    Only constructs that hand a value on are followed; what every other one computes has no origin. It raises
    QueryLimitError for more than 999 outputs.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> compile_trace(parse(".a, 1"))({"a": 2})
    [(2, Location(path=('a',), default=None, factor=1, floor=None, cap=None, numeral=False)), (1, None)]
    """
    trace: Trace = compiled(lambda writer: writer.return_list(node), _KNOWN, ())
    return trace


_NOTHING = ast.Call("empty")


def sources(node: Node) -> Node | None:
    """An expression for the values at all paths that ``node`` may be written through, and perhaps at others.

    None if the expression does not show them, as for every function that is not named here: that is right for all.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> from karta_interpreter.jq.syntax.printer import render
    >>> found = sources(parse(".groups[] | (.replicas // 1) * .hosts"))
    >>> found and render(found)
    '.groups[] | .replicas, empty, .hosts'
    """
    match node:
        case _ if _is_path(node):
            return node
        case ast.Literal() | ast.Call("empty"):
            return _NOTHING
        case ast.Comma(left, right) | ast.Alternative(left, right) | ast.Binary("*", left, right):
            first, rest = sources(left), sources(right)
            return ast.Comma(first, rest) if first and rest else None
        case ast.Array(Node() as body) | ast.Pipe(body, ast.Call("max" | "min" | "tonumber", ())):
            return sources(body)
        case ast.Pipe(left, right) if _is_path(left):
            rest = sources(right)
            return rest and ast.Pipe(left, rest)
        case ast.If(branches, otherwise):
            ways = [(condition, sources(then)) for condition, then in branches]
            known = tuple((condition, way) for condition, way in ways if way)
            rest = sources(otherwise or ast.Identity())
            return ast.If(known, rest) if rest and len(known) == len(ways) else None
    return None


def _is_path(node: Node) -> bool:
    """Whether all outputs are values at paths, and none is computed."""
    match node:
        case ast.Identity() | ast.Call("select", (_,)):
            return True
        case ast.Index(target, _) | ast.Iterate(target):
            return _is_path(target)
        case ast.Pipe(left, right):
            return _is_path(left) and _is_path(right)
    return False
