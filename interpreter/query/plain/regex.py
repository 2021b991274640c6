r"""Regular expressions that mean the same everywhere and cannot run away.

jq is implemented with Oniguruma, gojq with RE2, Python with a third engine, and the first and the third can
take exponential time. A *simple* pattern is one from their common ground: literal characters, ``.``, classes,
``\d \w \s`` and their complements, groups, alternatives, ``^``, ``$``, ``\b``, and repeats of one character.
Where the engines read even those differently RE2 decides, because definitions are written for gojq: ``^`` and
``$`` are the ends of the text, ``\d \w \s \b`` know ASCII only.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_MOST_WAYS: Final = (1 << 16, 1 << 12, 1 << 2)  # finite choices, by the number of nested loops over the subject
_LONG_REPEAT: Final = 8
_LARGEST_COUNT: Final = 1000
_CLASSES: Final = {
    "d": r"[0-9]",
    "D": r"[^0-9]",
    "w": r"[0-9A-Za-z_]",
    "W": r"[^0-9A-Za-z_]",
    "s": r"[\t\n\f\r ]",
    "S": r"[^\t\n\f\r ]",
}
_CONTROLS: Final = frozenset("tnrf")
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")


def simple_pattern(pattern: str, flags: str = "") -> bool:
    """Say whether a pattern is simple enough for `compile_pattern`.

    >>> simple_pattern("^(Running|Succeeded)$"), simple_pattern("(a+)+$"), simple_pattern("a", "x")
    (True, False, False)
    """
    try:
        compile_pattern(pattern, flags)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, flags: str = "") -> re.Pattern[str]:
    """Translate a simple pattern to Python's engine; ValueError when it is not simple.

    ``flags`` are jq's: ``i`` ignores case, ``g`` has no meaning for a test, others are not simple.
    """
    if not set(flags) <= {"g", "i"}:
        raise ValueError("flags other than g and i")
    reader = _Reader(pattern)
    whole = reader.alternatives()
    if reader.rest:
        raise ValueError("unbalanced )")
    loops = whole.repeats + (not whole.anchored)
    if loops >= len(_MOST_WAYS) or whole.ways > _MOST_WAYS[loops]:
        raise ValueError("too many ways to match")
    try:
        return re.compile(whole.text, re.ASCII | (re.IGNORECASE if "i" in flags else 0))
    except re.error as error:
        raise ValueError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a pattern in Python's spelling, with what a backtracking engine may try at one place.

    ``ways`` counts finite choices, ``repeats`` the nested loops over the subject.
    """

    text: str
    ways: int = 1
    repeats: int = 0
    anchored: bool = False
    single: bool = False


@dataclass(slots=True)
class _Reader:
    """Reads a pattern by recursive descent."""

    rest: str

    def alternatives(self) -> _Piece:
        branches = [self._sequence()]
        while self.rest.startswith("|"):
            self._take()
            branches.append(self._sequence())
        return _Piece(
            "|".join(branch.text for branch in branches),
            sum(branch.ways for branch in branches),
            max(branch.repeats for branch in branches),
            all(branch.anchored for branch in branches),
        )

    def _sequence(self) -> _Piece:
        whole = _Piece("")
        while self.rest and self.rest[0] not in "|)":
            piece = self._repeated(self._atom())
            whole = _Piece(
                whole.text + piece.text,
                whole.ways * piece.ways,
                whole.repeats + piece.repeats,
                whole.anchored or (not whole.text and piece.anchored),
            )
        return whole

    def _take(self) -> str:
        if not self.rest:
            raise ValueError("pattern ends too early")
        character, self.rest = self.rest[0], self.rest[1:]
        return character

    def _atom(self) -> _Piece:
        character = self._take()
        match character:
            case "^":
                return _Piece("^", anchored=True)
            case "$":
                return _Piece(r"\Z")
            case ".":
                return _Piece(".", single=True)
            case "(":
                return self._group()
            case "[":
                return _Piece(self._class(), single=True)
            case "\\":
                return self._escape()
            case _ if character in _SPECIAL:
                raise ValueError(f"a bare {character}")
        return _Piece(re.escape(character), single=True)

    def _group(self) -> _Piece:
        self.rest = self.rest.removeprefix("?:")
        inner = self.alternatives()
        if not self.rest.startswith(")"):
            raise ValueError("unbalanced (")
        self._take()
        return _Piece(f"(?:{inner.text})", inner.ways, inner.repeats, inner.anchored)

    def _escape(self) -> _Piece:
        character = self._take()
        if character == "b":
            return _Piece(r"\b")
        if character in _CLASSES:
            return _Piece(_CLASSES[character], single=True)
        return _Piece(_plain_escape(character), single=True)

    def _class(self) -> str:
        negated = "^" if self.rest.startswith("^") else ""
        self.rest = self.rest.removeprefix("^")
        members = ""
        while not self.rest.startswith("]"):
            members += self._member()
        self._take()
        if not members:
            raise ValueError("a class that starts with ]")
        return f"[{negated}{members}]"

    def _member(self) -> str:
        """One character, range or named class inside brackets."""
        first = self._take()
        if first == "\\" and self.rest[:1] in ("d", "w", "s"):
            return _CLASSES[self._take()][1:-1]
        low = self._member_character(first)
        if not self.rest.startswith("-") or self.rest.startswith("-]"):
            return low
        self._take()
        return f"{low}-{self._member_character(self._take())}"

    def _member_character(self, character: str) -> str:
        if character == "\\":
            return _plain_escape(self._take())
        if character in "[]":
            raise ValueError("a bracket inside a class")
        return re.escape(character)

    def _repeated(self, piece: _Piece) -> _Piece:
        """Apply the quantifier that follows, if one does."""
        least, most, text = self._quantifier()
        if not text:
            return piece
        if not piece.single and (least, most) != (0, 1):
            raise ValueError("a repeat of more than one character")
        lazy = "?" if self.rest.startswith("?") else ""
        self.rest = self.rest.removeprefix("?")
        if self.rest[:1] in tuple("*+?{"):
            raise ValueError("a repeat of a repeat")
        choices = most - least
        if choices > _LONG_REPEAT:
            return _Piece(piece.text + text + lazy, repeats=1)
        return _Piece(piece.text + text + lazy, piece.ways + choices, piece.repeats)

    def _quantifier(self) -> tuple[int, int, str]:
        """The least and the most repeats, and their text, which is empty when there is no quantifier."""
        character = self.rest[:1]
        if character in ("*", "+", "?"):
            self._take()
            return int(character == "+"), 1 if character == "?" else _LARGEST_COUNT, character
        if character != "{":
            return 1, 1, ""
        counts = re.match(r"\{([0-9]{1,4})(,([0-9]{1,4})?)?\}", self.rest)
        if counts is None:
            raise ValueError("a bare {")
        self.rest = self.rest[counts.end() :]
        least = int(counts[1])
        most = least if counts[2] is None else int(counts[3] or _LARGEST_COUNT)
        if not least <= most <= _LARGEST_COUNT:
            raise ValueError("a repeat count out of range")
        return least, most, counts[0]


def _plain_escape(character: str) -> str:
    if character in _CONTROLS or character in _PUNCTUATION:
        return "\\" + character
    raise ValueError(f"the escape \\{character}")
