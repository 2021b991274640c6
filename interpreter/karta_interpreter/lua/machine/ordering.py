"""Tables whose keys keep their order: see ``lua/ordering.lua`` for what that is good for."""

import re
from collections.abc import Iterator
from typing import Final

from karta_interpreter.lua.grammar import parse
from karta_interpreter.lua.grammar.syntax import Arguments, Entry, Node, Table, Text, children

_ORDER_MATTERS: Final = re.compile(r"\b(?:pairs|next|_G)\b")


def ordered(text: str, name: str) -> str:
    """A script whose table constructors are passed to the function ``name``, with the names of their fields.

    A script that never goes through a table stays as it is. Raises LuaSyntaxError.

    >>> ordered("for k in pairs { b = 1, a = 2, 3 } do end", "keep")
    'for k in pairs(keep( { b = 1, a = 2, 3 }, {"b", "a"})) do end'
    """
    if not _ORDER_MATTERS.search(text):
        return text
    pieces: list[str] = []
    place = 0
    for where, inserted in sorted(_insertions(parse(text), name), key=lambda insertion: insertion[0]):
        pieces += (text[place:where], inserted)
        place = where
    return "".join((*pieces, text[place:]))


def _insertions(root: Node, name: str) -> Iterator[tuple[int, str]]:
    """What has to be inserted where, without recursion."""
    waiting, bare = [root], dict[int, int]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Arguments) and len(node.values) == 1 and node.values[0].start == node.start:
            bare[node.start] = node.before
        if isinstance(node, Table):
            is_bare = node.start in bare
            yield bare.get(node.start, node.start), f"({name}(" if is_bare else f"{name}("
            yield node.end, f"{_names(node)}))" if is_bare else f"{_names(node)})"
        waiting += children(node)


def _names(table: Table) -> str:
    keys = [entry.key for entry in table.entries if isinstance(entry, Entry)]
    names = [_quoted(key.value) for key in keys if isinstance(key, Text)]
    return f", {{{', '.join(names)}}}" if names else ""


def _quoted(name: str) -> str:
    """A string of Lua, byte by byte where it is not plain."""
    data = name.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03d}" for byte in data) + '"'  # noqa: PLR2004 - ASCII
