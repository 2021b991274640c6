"""The syntax tree of a jq expression (all of jq 1.7's grammar).

Nodes are frozen and compare by structure: ``span``, the place in the source text, takes no part in equality.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of offsets into the text of an expression."""

    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of every expression node."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Identity(Node):
    """The input itself: ``.``."""


@dataclass(frozen=True, slots=True)
class RecursiveDescent(Node):
    """Recursive descent: ``..``."""


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """``null``, ``true``, ``false``, a number, or a string without interpolation."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Text(Node):
    r"""A string with interpolations, ``"a\(.b)c"``, optionally behind a format, ``@uri "..."``.

    ``parts`` alternates freely between plain strings and nodes.
    """

    parts: "tuple[str | Node, ...]"
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Format(Node):
    """A format used as a filter, ``@base64``; ``name`` has no ``@``."""

    name: str


@dataclass(frozen=True, slots=True)
class Index(Node):
    """``target.name``, ``target["name"]`` or ``target[key]``; ``.name`` is an index of the identity."""

    target: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """``target[start:stop]``; at least one bound is given."""

    target: Node
    start: Node | None
    stop: Node | None


@dataclass(frozen=True, slots=True)
class Iterate(Node):
    """Iteration: ``target[]``."""

    target: Node


@dataclass(frozen=True, slots=True)
class Try(Node):
    """``try body catch handler``; ``body?`` and ``try body`` have no handler."""

    body: Node
    handler: Node | None = None


@dataclass(frozen=True, slots=True)
class Array(Node):
    """``[body]``; ``[]`` has no body."""

    body: Node | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``key: value`` of an object construction; short forms are spelled out by the parser."""

    key: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Object(Node):
    """Object construction: ``{...}``."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Negate(Node):
    """Negation: ``-body``."""

    body: Node


@dataclass(frozen=True, slots=True)
class Pipe(Node):
    """A pipe: ``left | right``."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Comma(Node):
    """One after the other: ``left, right``."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Alternative(Node):
    """The alternative operator: ``left // right``."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic ``+ - * / %``, comparison ``== != < <= > >=`` and logic ``and or``; ``operator`` is that text."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """``left = right`` and the updating forms ``|= += -= *= /= %= //=``; ``operator`` is that text."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class If(Node):
    """``if c then a elif d then b else e end``; ``branches`` pairs conditions with results."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True)
class VariablePattern:
    """``$name`` in a destructuring; ``name`` has no ``$``."""

    name: str


@dataclass(frozen=True, slots=True)
class ArrayPattern:
    """``[p, q]`` in a destructuring."""

    elements: "tuple[Pattern, ...]"


@dataclass(frozen=True, slots=True)
class ObjectPattern:
    """``{key: p, $name, "text": q, (expr): r}`` in a destructuring.

    ``$name`` alone is the pair of its name as a literal key and its variable; ``$name: p`` binds both, as a key
    that is a `VariablePattern`.
    """

    entries: "tuple[tuple[Node | VariablePattern, Pattern], ...]"


Pattern = VariablePattern | ArrayPattern | ObjectPattern


@dataclass(frozen=True, slots=True)
class Bind(Node):
    """A binding: ``source as p ?// q | body``."""

    source: Node
    patterns: tuple[Pattern, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Reduce(Node):
    """A reduction: ``reduce source as p (init; update)``."""

    source: Node
    pattern: Pattern
    init: Node
    update: Node


@dataclass(frozen=True, slots=True)
class Foreach(Node):
    """A running reduction: ``foreach source as p (init; update; extract)``."""

    source: Node
    pattern: Pattern
    init: Node
    update: Node
    extract: Node | None


@dataclass(frozen=True, slots=True)
class Define(Node):
    """``def name(params): definition; body``; a value parameter keeps its ``$`` in ``params``."""

    name: str
    params: tuple[str, ...]
    definition: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """``name`` or ``name(a; b)``; ``name`` may be qualified, ``module::name``."""

    name: str
    arguments: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """``$name``, without its ``$``; ``$ENV`` and ``$__loc__`` too."""

    name: str


@dataclass(frozen=True, slots=True)
class Label(Node):
    """A label: ``label $name | body``."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class Break(Node):
    """A jump out of a label: ``break $name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Import(Node):
    """``import "path" as name; body``, ``import "path" as $name; body`` or ``include "path"; body``.

    ``name`` is None for ``include`` and keeps its ``$`` for data.
    """

    path: str
    name: str | None
    metadata: Node | None
    body: Node
