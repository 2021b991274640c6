"""The syntax tree of a script.

Nodes are frozen and compare by structure: their place in the text takes no part in equality.
"""

from karta_interpreter.jq.syntax import Structure


class Node(Structure, frozen=True, kw_only=True):
    """Base of every node: a half-open range of offsets into the text, and the line it starts on, from 1."""

    start: int = 0
    end: int = 0
    line: int = 0


class Constant(Node, frozen=True):
    """``nil``, ``true`` or ``false``."""

    value: bool | None


class Number(Node, frozen=True):
    """A number as written."""

    text: str


class Text(Node, frozen=True):
    """A string, or a name that stands for one: the ``b`` of ``a.b``. Bytes that are no UTF-8 become surrogates."""

    value: str


class Varargs(Node, frozen=True):
    """``...`` as an expression."""


class Name(Node, frozen=True):
    """A variable, local or global."""

    name: str


class Index(Node, frozen=True):
    """``target.key`` or ``target[key]``."""

    target: Node
    key: Node


class Enclosed(Node, frozen=True, kw_only=True):
    """What stands in brackets or alone behind something: ``before`` is where the token in front of it ends."""

    before: int = 0


class Arguments(Enclosed, frozen=True):
    """What a call passes."""

    values: tuple[Node, ...]


class Call(Node, frozen=True):
    """``function(...)``, ``function "..."`` or ``function {...}``."""

    function: Node
    arguments: Arguments


class MethodCall(Node, frozen=True):
    """``receiver:method(...)``."""

    receiver: Node
    method: Text
    arguments: Arguments


class Group(Node, frozen=True):
    """``(inner)``, which is one value, whatever is inside."""

    inner: Node


class Entry(Node, frozen=True):
    """One ``key = value`` of a table; an entry of its list has no key."""

    key: Node | None
    value: Node


class Empty(Node, frozen=True):
    """A semicolon that ends no statement or a second separator in a table: gopher-lua allows both, Lua 5.1 neither."""


class Table(Node, frozen=True):
    """A table constructor: ``{...}``."""

    entries: tuple[Entry | Empty, ...]


class Unary(Node, frozen=True):
    """``- not #`` before an operand."""

    operator: str
    operand: Node


class Binary(Node, frozen=True):
    """Arithmetic, comparison and logic: an operator between two operands."""

    operator: str
    left: Node
    right: Node


class Dotted(Node, frozen=True, kw_only=True):
    """What has ``..`` in it: ``dots`` is where each of them is."""

    dots: tuple[int, ...] = ()


class Concatenation(Dotted, frozen=True):
    """``a .. b .. c``: at least two parts, of which the last two are joined first."""

    parts: tuple[Node, ...]


class Block(Node, frozen=True):
    """Statements with a scope of their own."""

    statements: tuple[Node, ...]


class Function(Node, frozen=True):
    """A function; ``parameters`` has the ``self`` of a method, and ``variadic`` says whether ``...`` ends it."""

    parameters: tuple[str, ...]
    variadic: bool
    body: Block


class Local(Node, frozen=True):
    """``local a, b = x, y``."""

    names: tuple[Name, ...]
    values: tuple[Node, ...]


class LocalFunction(Node, frozen=True):
    """``local function name(...)``."""

    name: Name
    function: Function


class FunctionStatement(Node, frozen=True):
    """``function name(...)``, ``function a.b(...)`` or ``function a.b:c(...)``."""

    target: Name | Index
    function: Function


class Assignment(Node, frozen=True):
    """``a, b.c = x, y``."""

    targets: tuple[Name | Index, ...]
    values: tuple[Node, ...]


class CallStatement(Node, frozen=True):
    """A call for its effect; gopher-lua allows parentheses around it."""

    call: Call | MethodCall | Group


class Do(Node, frozen=True):
    """``do ... end``."""

    body: Block


class While(Node, frozen=True):
    """``while condition do ... end``."""

    condition: Node
    body: Block


class Repeat(Node, frozen=True):
    """``repeat ... until condition``; the condition sees the locals of the body."""

    body: Block
    condition: Node


class Branch(Node, frozen=True):
    """One ``if`` or ``elseif`` with what follows its ``then``."""

    condition: Node
    body: Block


class If(Node, frozen=True):
    """``if ... then ... elseif ... else ... end``."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


class NumericFor(Node, frozen=True):
    """``for name = start, stop, step do ... end``; ``bounds`` are two or three."""

    name: Name
    bounds: tuple[Node, ...]
    body: Block


class GenericFor(Node, frozen=True):
    """``for names in sources do ... end``."""

    names: tuple[Name, ...]
    sources: tuple[Node, ...]
    body: Block


class Return(Node, frozen=True):
    """``return a, b``."""

    values: tuple[Node, ...]


class Break(Node, frozen=True):
    """``break``."""


class Goto(Node, frozen=True):
    """``goto label``."""

    label: str


class Label(Node, frozen=True):
    """``::label::``."""

    label: str


class Written(Node, frozen=True, kw_only=True):
    """What knows the ``text`` that it was read from."""

    text: str


class Chunk(Written, frozen=True):
    """A whole script: a block."""

    body: Block


def children(node: Node) -> list[Node]:
    """The nodes directly below one, in the order of the text."""
    found: list[Node] = []
    names: tuple[str, ...] = type(node).__match_args__
    for name in names:
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, Node))
    return found
