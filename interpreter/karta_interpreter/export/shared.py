"""Parts of expressions that a script has more than once: each becomes one local function."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from karta_interpreter.export.traits import hint_of, is_boolean
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.traversal import children, parts_of

_LEAST: Final = 3
"""The constructs of a part that is worth a function of its own."""
_SMALL: Final = (ast.Identity, ast.Literal, ast.Index, ast.Iterate, ast.Comma, ast.Variable, ast.Text)
_KIND: Final = re.compile(r"[A-Z][a-z]\w+")
_LONGEST_NAME: Final = 30


def repeated(roots: Iterable[Node]) -> frozenset[Node]:
    """Return the parts that occur more than once in some expressions; what such a part has inside counts once."""
    seen: set[Node] = set()
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if not is_large(node):
            waiting += children(node)
        elif node in seen:
            found.add(node)
        else:
            seen.add(node)
            waiting += children(node)
    return frozenset(found)


def is_large(node: Node) -> bool:
    """Return whether a part is worth a function; this takes less time than its hash."""
    if isinstance(node, _SMALL):
        return False
    large = (part for part in parts_of(node) if not isinstance(part, _SMALL))
    return len([*islice(large, _LEAST)]) == _LEAST


def name_of(node: Node, otherwise: str) -> str:
    """Return a name for the function of a part.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> name_of(parse('.kind == "Job" or .kind == "RayJob"'), "pods")
    'is Job or RayJob'
    """
    if not is_boolean(node):
        hint = hint_of(node)
        return f"{otherwise} part" if hint == "value" else hint
    kinds = dict.fromkeys(
        part.value
        for part in reversed([*parts_of(node)])
        if isinstance(part, ast.Literal) and isinstance(part.value, str) and _KIND.fullmatch(part.value)
    )
    name = ""
    for kind in kinds:
        longer = f"{name} or {kind}" if name else f"is {kind}"
        name = longer if len(longer) <= _LONGEST_NAME else name
    return name or f"{otherwise} condition"
