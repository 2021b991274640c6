"""Patterns of code with placeholders, and the search for them in a script."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from karta_interpreter.languages.lua.machine.syntax import FUNCTIONS, Function, Node

Found = Mapping[str, Node]
"""The code that each placeholder stands for."""

_LITERALS: Final = frozenset(("text", "number", "constant"))
_COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "=="))
_ARITHMETIC: Final = frozenset("+-*/%^")
_DIGITS: Final = "0123456789"
_LOOPS: Final = frozenset(("for", "for_in"))
_BLANKS: Final = re.compile(r"\s+")
_NAME: Final = re.compile(r"\w*")
# A pattern that looks around compares each of its matches with many nodes.
_MOST_STEPS: Final = 100_000


def _is_numeric(node: Node) -> bool:
    if node.kind == "binary" and node.word == "or":
        return node.parts[1].kind == "number"
    return (
        node.kind == "number"
        or (node.kind == "unary" and node.word in "#-")
        or (node.kind == "binary" and node.word in _ARITHMETIC)
    )


_KINDS: Final[Mapping[str, Callable[[Node], bool]]] = {
    "text": lambda node: node.kind == "text",
    "number": lambda node: node.kind == "number",
    "literal": lambda node: node.kind in _LITERALS,
    "boolean": lambda node: node.kind == "constant" and node.word != "nil",
    "comparison": lambda node: node.kind == "binary" and node.word in _COMPARISONS,
    "name": lambda node: node.kind == "name",
    "field": lambda node: node.kind == "index",
    "path": lambda node: node.kind in ("name", "index"),
    "table": lambda node: node.kind == "table",
    "call": lambda node: node.kind in ("call", "method"),
    "numeric": _is_numeric,
}
"""What a placeholder may stand for, by its name without digits. One of another name stands for anything."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Code to look for.

    Any pattern of ``code`` is found, if the same function has one of each list of ``around``, and none of ``without``.
    ``functions`` are the functions of Karmada to look at, with the names of their parameters in the patterns. Without
    them, it is all of the script. ``where`` has expressions for the text of placeholders. ``unread`` is the placeholder
    of a local that nothing reads, and ``unpassed`` of one that is only asked for fields.
    """

    code: Sequence[Node]
    around: Sequence[Sequence[Node]] = ()
    without: Sequence[Node] = ()
    functions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    where: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    unread: str = ""
    unpassed: str = ""


class Search:
    """Looks for patterns in one script. After a bound on the steps of all, nothing more is found."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.steps = 0
        self._nodes: dict[tuple[str, str], list[Node]] = {}
        self._inside: dict[tuple[str, str, int], list[Node]] = {}
        targets = {id(part) for node in nodes if node.kind == "names" for part in node.parts}
        holders = {id(node.parts[0]) for node in nodes if node.kind == "index"}
        read = [node for node in nodes if node.kind == "name" and id(node) not in targets]
        self._read = set(map(_local, read))
        self._passed = {_local(node) for node in read if id(node) not in holders}
        for node in nodes:
            self._nodes.setdefault(_root(node), []).append(node)
            self._inside.setdefault((*_root(node), id(_outermost(node.function))), []).append(node)

    def matches(self, pattern: Pattern) -> Iterator[tuple[Node, Found]]:
        """Yield each node that a pattern matches, with the code of its placeholders."""
        for code in pattern.code:
            for node in self._nodes.get(_root(code), ()):
                found = self._found(pattern, code, node) if _is_looked_at(node.function, pattern) else None
                if self.is_over:
                    return
                if found is not None:
                    yield node, found

    @property
    def is_over(self) -> bool:
        """Whether nothing more is found."""
        return self.steps >= _MOST_STEPS

    def _found(self, pattern: Pattern, code: Node, node: Node) -> Found | None:
        match = _Match(self, pattern, node.function)
        found = match.of(code, node, {})
        if found is None or self._is_used(pattern, found):
            return None
        found = self._with(match, pattern.around, node, found)
        if found is None or any(self._with(match, [[other]], node, found) is not None for other in pattern.without):
            return None
        return found

    def _is_used(self, pattern: Pattern, found: Found) -> bool:
        used = ((pattern.unread, self._read), (pattern.unpassed, self._passed))
        return any(name and _local(found[name]) in locals_ for name, locals_ in used)

    def _with(self, match: "_Match", around: Sequence[Sequence[Node]], node: Node, found: Found) -> Found | None:
        """Add the code of the others to that of a node: one of each list, the first that fit together."""
        if not around:
            return found
        for other in around[0]:
            for near in self._near(other, node):
                further = match.of(other, near, found)
                if further is not None:
                    further = self._with(match, around[1:], node, further)
                if further is not None:
                    return further
        return None

    def _near(self, other: Node, node: Node) -> Iterator[Node]:
        """Yield code that may be meant by a pattern around a node. Functions are looked for in all of the script."""
        is_anywhere = other.kind in FUNCTIONS or node.function.around is None
        inside = self._inside.get((*_root(other), id(_outermost(node.function))), ())
        for near in self._nodes.get(_root(other), ()) if is_anywhere else inside:
            if self.is_over:
                return
            self.steps += 1
            if _is_meant(near, node):
                yield near


class _Match:
    """Compares a pattern with nodes of one function."""

    def __init__(self, search: Search, pattern: Pattern, function: Function) -> None:
        documented = pattern.functions.get(function.name, ())
        # Parameters that have the documented names in another order are those.
        is_named = set(documented) <= set(function.parameters)
        self._names = {} if is_named else dict(zip(documented, function.parameters, strict=True))
        self._documented = {name: documented for documented, name in self._names.items()}
        self._search, self._where = search, pattern.where

    def of(self, pattern: Node, node: Node, found: Found) -> Found | None:
        """Add the code of a node to that of other nodes, or return None if the pattern does not match."""
        if pattern.kind == "any":
            return self._placeholder(pattern.word, node, found)
        while node.kind == "brackets" != pattern.kind:
            (node,) = node.parts
        word = self._names.get(pattern.word, pattern.word) if pattern.kind == "name" else pattern.word
        if (pattern.kind, word) != (node.kind, node.word):
            return None
        return self._sequence(pattern.parts, node.parts, found)

    def _placeholder(self, name: str, node: Node, found: Found) -> Found | None:
        kind = name.rstrip(_DIGITS)
        if kind in _KINDS and not _KINDS[kind](node):
            return None
        # Placeholders with the same number stand for the same.
        key = name.removeprefix(kind) or name
        if key in found:
            return found if _is_same(found[key], node) else None
        if name in self._where and not self._where[name].search(self._text(node)):
            return None
        return {**found, key: node, name: node}

    def _text(self, node: Node) -> str:
        """Return the content of a text, or code without blanks. A parameter in front has its documented name."""
        if node.kind == "text":
            return node.word
        code = _BLANKS.sub("", node.code)
        return _NAME.sub(lambda name: self._documented.get(name[0], name[0]), code, count=1)

    def _sequence(self, patterns: Sequence[Node], nodes: Sequence[Node], found: Found) -> Found | None:
        """Match all nodes of a sequence. A ``...`` stands for any number of them."""
        gaps = [at for at, pattern in enumerate(patterns) if pattern.kind == "more"]
        if not gaps:
            return self._each(patterns, nodes, found) if len(patterns) == len(nodes) else None
        first, last = gaps[0], len(patterns) - gaps[-1] - 1
        if len(nodes) < first + last:
            return None
        start = self._each(patterns[:first], nodes, found)
        between, inner = nodes[first : len(nodes) - last], patterns[first + 1 : gaps[-1]]
        middle = start if start is None or not inner else self._anywhere(inner, between, start)
        return None if middle is None else self._each(patterns[gaps[-1] + 1 :], nodes[len(nodes) - last :], middle)

    def _anywhere(self, patterns: Sequence[Node], nodes: Sequence[Node], found: Found) -> Found | None:
        """Match patterns with neighbours among the nodes, the first that do."""
        for at in range(len(nodes) - len(patterns) + 1):
            if self._search.is_over:
                return None
            self._search.steps += 1
            further = self._each(patterns, nodes[at : at + len(patterns)], found)
            if further is not None:
                return further
        return None

    def _each(self, patterns: Sequence[Node], nodes: Sequence[Node], found: Found) -> Found | None:
        for pattern, node in zip(patterns, nodes, strict=False):
            further = self.of(pattern, node, found)
            if further is None:
                return None
            found = further
        return found


def _root(node: Node) -> tuple[str, str]:
    # A name in a pattern may be that of a parameter.
    if node.kind == "any":
        return node.word.rstrip(_DIGITS), ""
    return node.kind, "" if node.kind in ("name", "text", "number") else node.word


def _is_same(one: Node, other: Node) -> bool:
    is_as_long = one.end - one.start == other.end - other.start
    return is_as_long and one.text[one.start : one.end] == other.text[other.start : other.end]


def _is_meant(near: Node, node: Node) -> bool:
    """Return whether code is around a node: a loop that has it, or the code in a loop."""
    if near.kind in _LOOPS:
        return near.contains(node)
    return node.kind not in _LOOPS or node.contains(near)


def _outermost(function: Function) -> Function:
    while function.around and function.around.around:
        function = function.around
    return function


def _local(node: Node) -> tuple[str, int]:
    """Return the word of a node with the function that it is in, for a local is one in all of that function."""
    return node.word, id(_outermost(node.function))


def _is_looked_at(function: Function, pattern: Pattern) -> bool:
    documented = pattern.functions.get(function.name)
    if documented is None:
        return not pattern.functions
    return len(documented) == len(function.parameters)
