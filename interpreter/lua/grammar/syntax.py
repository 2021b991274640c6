"""The syntax tree of a script.

Nodes are frozen and compare by structure: their place in the text takes no part in equality.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of every node: a half-open range of offsets into the text, and the line it starts on, from 1."""

    start: int = field(default=0, compare=False, repr=False)
    end: int = field(default=0, compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """``nil``, ``true`` or ``false``."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A string, or a name that stands for one: the ``b`` of ``a.b``. Bytes that are no UTF-8 become surrogates."""

    value: str


@dataclass(frozen=True, slots=True)
class Varargs(Node):
    """``...`` as an expression."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable, local or global."""

    name: str


@dataclass(frozen=True, slots=True)
class Index(Node):
    """``target.key`` or ``target[key]``."""

    target: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Arguments(Node):
    """What a call passes; ``before`` is where the token in front of the arguments ends."""

    values: tuple[Node, ...]
    before: int = field(default=0, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """``function(...)``, ``function "..."`` or ``function {...}``."""

    function: Node
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class MethodCall(Node):
    """``receiver:method(...)``."""

    receiver: Node
    method: Text
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Group(Node):
    """``(inner)``, which is one value, whatever is inside."""

    inner: Node


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """One ``key = value`` of a table; an entry of its list has no key."""

    key: Node | None
    value: Node


@dataclass(frozen=True, slots=True)
class Empty(Node):
    """A semicolon that ends no statement or a second separator in a table: gopher-lua allows both, Lua 5.1 neither."""


@dataclass(frozen=True, slots=True)
class Table(Node):
    """A table constructor: ``{...}``."""

    entries: tuple[Entry | Empty, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """``- not #`` before an operand."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic, comparison and logic: an operator between two operands."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Concatenation(Node):
    """``a .. b .. c``: at least two parts, of which the last two are joined first; ``dots`` is where each ``..`` is."""

    parts: tuple[Node, ...]
    dots: tuple[int, ...] = field(default=(), kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Statements with a scope of their own."""

    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function; ``parameters`` has the ``self`` of a method, and ``variadic`` says whether ``...`` ends it."""

    parameters: tuple[str, ...]
    variadic: bool
    body: Block


@dataclass(frozen=True, slots=True)
class Local(Node):
    """``local a, b = x, y``."""

    names: tuple[Name, ...]
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LocalFunction(Node):
    """``local function name(...)``."""

    name: Name
    function: Function


@dataclass(frozen=True, slots=True)
class FunctionStatement(Node):
    """``function name(...)``, ``function a.b(...)`` or ``function a.b:c(...)``."""

    target: Name | Index
    function: Function


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """``a, b.c = x, y``."""

    targets: tuple[Name | Index, ...]
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class CallStatement(Node):
    """A call for its effect; gopher-lua allows parentheses around it."""

    call: Call | MethodCall | Group


@dataclass(frozen=True, slots=True)
class Do(Node):
    """``do ... end``."""

    body: Block


@dataclass(frozen=True, slots=True)
class While(Node):
    """``while condition do ... end``."""

    condition: Node
    body: Block


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """``repeat ... until condition``; the condition sees the locals of the body."""

    body: Block
    condition: Node


@dataclass(frozen=True, slots=True)
class Branch(Node):
    """One ``if`` or ``elseif`` with what follows its ``then``."""

    condition: Node
    body: Block


@dataclass(frozen=True, slots=True)
class If(Node):
    """``if ... then ... elseif ... else ... end``."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class NumericFor(Node):
    """``for name = start, stop, step do ... end``; ``bounds`` are two or three."""

    name: Name
    bounds: tuple[Node, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class GenericFor(Node):
    """``for names in sources do ... end``."""

    names: tuple[Name, ...]
    sources: tuple[Node, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Return(Node):
    """``return a, b``."""

    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Break(Node):
    """``break``."""


@dataclass(frozen=True, slots=True)
class Goto(Node):
    """``goto label``."""

    label: str


@dataclass(frozen=True, slots=True)
class Label(Node):
    """``::label::``."""

    label: str


@dataclass(frozen=True, slots=True)
class Chunk(Node):
    """A whole script: a block, and the text that it was read from."""

    body: Block
    text: str = field(compare=False, repr=False)


def children(node: Node) -> list[Node]:
    """The nodes directly below one, in the order of the text."""
    found: list[Node] = []
    names: tuple[str, ...] = node.__match_args__
    for name in names:
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, Node))
    return found
