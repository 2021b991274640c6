"""Calls of the functions that take a regular expression."""

from dataclasses import dataclass
from typing import Final, Self

from karta_interpreter.jq.grammar.syntax import Call, Literal, Node
from karta_interpreter.jq.plain.regex import Pattern, compile_pattern

REPLACING: Final = frozenset(("sub", "gsub"))
REGEX_FUNCTIONS: Final = frozenset(
    {
        *((name, count) for name in ("test", "match", "capture", "scan", "splits") for count in (1, 2)),
        *((name, count) for name in REPLACING for count in (2, 3)),
        ("split", 2),
    }
)
_EVERYWHERE: Final = frozenset(("gsub", "scan", "split", "splits"))
"""Functions that look for all matches, whatever their flags are."""


@dataclass(frozen=True, slots=True)
class RegexCall:
    """The parts of a call; ``flags`` is None where they are no literal text."""

    name: str
    pattern: Node
    flags: str | None
    replacement: Node | None

    @classmethod
    def of(cls, node: Call) -> Self | None:
        """The call of a function that takes a regular expression, None for another one.

        >>> RegexCall.of(Call("scan", (Literal("a"), Literal("i")))).flags
        'ig'
        """
        if (node.name, len(node.arguments)) not in REGEX_FUNCTIONS:
            return None
        pattern, *rest = node.arguments
        replacement = rest.pop(0) if node.name in REPLACING else None
        flags: str | None = None
        match rest:
            case [] | [Literal(None)]:
                flags = ""
            case [Literal(str() as text)]:
                flags = text
        if flags is not None and node.name in _EVERYWHERE:
            flags += "g"
        return cls(node.name, pattern, flags, replacement)

    @property
    def literal(self) -> str | None:
        """The pattern where it is a literal text."""
        return self.pattern.value if isinstance(self.pattern, Literal) and isinstance(self.pattern.value, str) else None

    def compiled(self) -> Pattern | None:
        """The pattern where both it and the flags are known; raises ValueError for one that Go cannot read."""
        if self.literal is None or self.flags is None:
            return None
        return compile_pattern(self.literal, self.flags)
