"""The syntax tree of a jq expression (all of jq 1.7's grammar).

Nodes are frozen and compare by structure: ``span``, the place in the source text, takes no part in equality.
"""

from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from karta_interpreter.base.findings import Span

NOWHERE = Span(0, 0)


class Node(Struct, frozen=True, gc=False, eq=False, kw_only=True):
    """Base of every expression node. Its positional fields define comparison, hash, display and matching.

    There are many kinds of nodes, and many nodes of each: a `Struct` takes a fifth of the memory that a dataclass takes
    to be defined, and a twentieth of the time. Trees have no cycles, so the garbage collector ignores them.
    """

    span: Span = NOWHERE
    _hash: int = 0
    """The hash once it is known. It takes a visit of every node below, and is needed at each level."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._parts() == other._parts()

    def __ne__(self, other: object) -> bool:  # a Struct's own does not call __eq__ above
        return not self == other

    def __hash__(self) -> int:
        if not self._hash:
            force_setattr(self, "_hash", hash((type(self), self._parts())))
        return self._hash

    def __repr__(self) -> str:
        shown = ", ".join(map("{}={!r}".format, type(self).__match_args__, self._parts()))
        return f"{type(self).__name__}({shown})"

    def _parts(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in type(self).__match_args__])


class Identity(Node, frozen=True):
    """The input itself: ``.``."""


class RecursiveDescent(Node, frozen=True):
    """Recursive descent: ``..``."""


class Literal(Node, frozen=True):
    """``null``, ``true``, ``false``, a number, or a string without interpolation."""

    value: bool | int | float | str | None


class Text(Node, frozen=True):
    r"""A string with interpolations, ``"a\(.b)c"``, optionally after a format, ``@uri "..."``.

    ``parts`` alternates freely between plain strings and nodes.
    """

    parts: "tuple[str | Node, ...]"
    format: str | None = None


class Format(Node, frozen=True):
    """A format used as a filter, ``@base64``. ``name`` has no ``@``."""

    name: str


class Index(Node, frozen=True):
    """``target.name``, ``target["name"]`` or ``target[key]``. ``.name`` is an index of the identity."""

    target: Node
    key: Node


class Slice(Node, frozen=True):
    """``target[start:stop]``. At least one bound is given."""

    target: Node
    start: Node | None
    stop: Node | None


class Iterate(Node, frozen=True):
    """Iteration: ``target[]``."""

    target: Node


class Try(Node, frozen=True):
    """``try body catch handler``. ``body?`` and ``try body`` have no handler."""

    body: Node
    handler: Node | None = None


class Array(Node, frozen=True):
    """``[body]``. ``[]`` has no body."""

    body: Node | None


class Entry(Struct, frozen=True, gc=False):
    """One ``key: value`` of an object construction. The parser spells out short forms."""

    key: Node
    value: Node


class Object(Node, frozen=True):
    """Object construction: ``{...}``."""

    entries: tuple[Entry, ...]


class Negate(Node, frozen=True):
    """Negation: ``-body``."""

    body: Node


class Pipe(Node, frozen=True):
    """A pipe: ``left | right``."""

    left: Node
    right: Node


class Comma(Node, frozen=True):
    """One after the other: ``left, right``."""

    left: Node
    right: Node


class Alternative(Node, frozen=True):
    """The alternative operator: ``left // right``."""

    left: Node
    right: Node


class Binary(Node, frozen=True):
    """Arithmetic ``+ - * / %``, comparison ``== != < <= > >=`` and logic ``and or``. ``operator`` is that text."""

    operator: str
    left: Node
    right: Node


class Assign(Node, frozen=True):
    """``left = right`` and the updating forms ``|= += -= *= /= %= //=``. ``operator`` is that text."""

    operator: str
    left: Node
    right: Node


Branch: TypeAlias = tuple[Node, Node]
"""A condition and its result."""


class If(Node, frozen=True):
    """``if c then a elif d then b else e end``. ``branches`` pairs conditions with results."""

    branches: tuple[Branch, ...]
    otherwise: Node | None


class VariablePattern(Struct, frozen=True, gc=False):
    """``$name`` in a destructuring. ``name`` has no ``$``."""

    name: str


class ArrayPattern(Struct, frozen=True, gc=False):
    """``[p, q]`` in a destructuring."""

    elements: "tuple[Pattern, ...]"


class ObjectPattern(Struct, frozen=True, gc=False):
    """``{key: p, $name, "text": q, (expr): r}`` in a destructuring.

    A plain ``$name`` is the pair of its name as a literal key and its variable. ``$name: p`` binds both, as a key that
    is a `VariablePattern`.
    """

    entries: "tuple[tuple[Node | VariablePattern, Pattern], ...]"


Pattern = VariablePattern | ArrayPattern | ObjectPattern


class Bind(Node, frozen=True):
    """A binding: ``source as p ?// q | body``."""

    source: Node
    patterns: tuple[Pattern, ...]
    body: Node


class Reduce(Node, frozen=True):
    """A reduction: ``reduce source as p (init; update)``."""

    source: Node
    pattern: Pattern
    init: Node
    update: Node


class Foreach(Node, frozen=True):
    """A running reduction: ``foreach source as p (init; update; extract)``."""

    source: Node
    pattern: Pattern
    init: Node
    update: Node
    extract: Node | None


class Define(Node, frozen=True):
    """``def name(params): definition; body``. A value parameter keeps its ``$`` in ``params``."""

    name: str
    params: tuple[str, ...]
    definition: Node
    body: Node


class FunctionCall(Node, frozen=True):
    """``name`` or ``name(a; b)``. ``name`` may be qualified, ``module::name``."""

    name: str
    arguments: tuple[Node, ...] = ()


class Variable(Node, frozen=True):
    """``$name``, without its ``$``. ``$ENV`` and ``$__loc__`` too."""

    name: str


class Label(Node, frozen=True):
    """A label: ``label $name | body``."""

    name: str
    body: Node


class Break(Node, frozen=True):
    """A jump out of a label: ``break $name``."""

    name: str
