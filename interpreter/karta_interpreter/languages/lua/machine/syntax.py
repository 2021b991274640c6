"""The syntax tree of a script that was compiled, and of a pattern, which is code with placeholders.

Ways to write the same are one tree: ``a["b"]`` is ``a.b``, ``f = function() end`` is ``function f() end``, and texts
have no quotes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lark import Lark

# A tree takes up to a thousand times the memory of its script. What people write is far shorter.
_LONGEST: Final = 100_000
_LONGEST_CODE: Final = 500
_QUOTES: Final = re.compile(r"""^(?:["']|\[=*\[)|(?:["']|\]=*\])$""")
FUNCTIONS: Final = frozenset(("function", "local_function", "function_value"))
"""The kinds of nodes that are functions: of a name, parameters and a block, the last without a name."""


@dataclass(eq=False, slots=True)
class Function:
    """A function of a script: its name, if it has one, and its parameters. ``around`` is the one that it is in."""

    name: str = ""
    parameters: Sequence[str] = ()
    around: "Function | None" = None


@dataclass(eq=False, slots=True)
class Node:
    """A part of a script, from one place in its text to another. ``line`` counts from 1.

    ``kind`` is a rule of ``lua.lark``. ``word`` is the name, text, number or operator. ``function`` is the innermost
    one that the node is in.
    """

    kind: str
    word: str
    parts: Sequence["Node"]
    text: str
    start: int
    end: int
    line: int
    function: Function

    @property
    def code(self) -> str:
        """Its text, of at most 500 characters."""
        return self.text[self.start : min(self.end, self.start + _LONGEST_CODE)]

    @property
    def first_line(self) -> str:
        """Its text, up to the end of the line."""
        return self.code.partition("\n")[0].rstrip()

    def contains(self, other: "Node") -> bool:
        """Return whether another node of the text is in this one."""
        return self.start <= other.start and other.end <= self.end


def nodes_of(text: str) -> Sequence[Node]:
    """Return the nodes of a script by their places, or none if it is no Lua, or longer than 100,000 characters.

    >>> [node.kind for node in nodes_of("return a.b == 1")]
    ['return', 'chunk', 'name', 'index', 'binary', 'text', 'number']
    """
    nodes = _read(text) if len(text) <= _LONGEST else []
    for node in reversed(nodes):
        _give_function(node)
    return sorted(nodes, key=attrgetter("start"))


def pattern_of(code: str) -> Node:
    """Return the tree of a pattern: of a statement, or of an expression.

    ``$x`` stands for any expression or name, and ``...`` for any number of names, values, entries or statements.
    ``do ... end`` is any block, ``if x then ... end`` also a part of an ``if``, and ``{a = 1}`` an entry of any table.

    >>> pattern_of("$x or $x").word
    'or'
    """
    statements = _read(code)
    (pattern,) = (statements[-1] if statements else _read(f"return {code}")[-1].parts[0]).parts
    is_part = pattern.kind == "do" or (pattern.kind in ("if", "table") and len(pattern.parts) == 1)
    return pattern.parts[0] if is_part else pattern


@cache
def _parser() -> "Lark":
    from lark import Lark  # noqa: PLC0415 - it takes 25 ms, and a process that only runs scripts does not need it

    grammar = Path(__file__).with_name("lua.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, start="chunk", parser="lalr", lexer="basic", propagate_positions=True, maybe_placeholders=False
    )


def _read(text: str) -> list[Node]:
    """Return the nodes of a text, parts before the whole, which is last, or none if it is no Lua."""
    from lark import UnexpectedInput  # noqa: PLC0415 - see above

    try:
        tree = _parser().parse(text)
    except UnexpectedInput:
        return []
    nodes, script = dict[int, Node](), Function()
    for part in tree.iter_subtrees():
        word = "".join(child for child in part.children if isinstance(child, str))
        parts = [nodes[id(child)] for child in part.children if not isinstance(child, str)]
        kind, word, parts = _in_one_form(str(part.data), word, parts)
        place = (0, 0, 0) if part.meta.empty else (part.meta.start_pos, part.meta.end_pos, part.meta.line)
        nodes[id(part)] = Node(kind, word, parts, text, *place, script)
    return list(nodes.values())


def _in_one_form(kind: str, word: str, parts: list[Node]) -> tuple[str, str, list[Node]]:
    """Return a node's kind, word and parts in the form that stands for all ways to write the same."""
    if kind == "text":
        word = _QUOTES.sub("", word)
    elif kind == "any":
        word = word.removeprefix("$")
    elif kind == "entry" and parts[0].kind == "more":
        kind = "more"
    elif kind in ("set", "local") and [len(part.parts) for part in parts] == [1, 1]:
        (name,), (value,) = parts[0].parts, parts[1].parts
        if value.kind == "function_value":
            kind, inner = "function" if kind == "set" else "local_function", [name, *value.parts]
            for replaced in (*parts, value):
                replaced.parts = ()
            parts = inner
    return kind, word, parts


def _give_function(node: Node) -> None:
    """Give the parts of a node the function that they are in."""
    function = node.function
    if node.kind in FUNCTIONS and node.parts:
        name, parameters = node.parts[0].word, node.parts[1:-1]
        if node.kind == "function_value":
            name, parameters = "", node.parts[:-1]
        function = Function(name, [parameter.word for parameter in parameters], around=function)
    for part in node.parts:
        part.function = function
