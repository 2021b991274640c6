r"""Regular expressions that mean the same everywhere and cannot run away.

jq is implemented with Oniguruma, gojq with RE2, Python with a third engine, and the first and the third can
take exponential time. A *simple* pattern is one from their common ground: literal characters, ``.``, classes,
``\d \w \s`` and their complements, groups, alternatives, ``^``, ``$``, ``\b``, and repeats of one character.
Where the engines read even those differently RE2 decides, because definitions are written for gojq: ``^`` and
``$`` are the ends of the text, ``\d \w \s \b`` know ASCII only.

A search takes steps in proportion to the text: no loop is inside of another (to begin anywhere is a loop, too).
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

# Steps of about a nanosecond: the most for a text and for each of its characters, and what the parts of a pattern take.
_MOST_STEPS: Final = 256
_MOST_STEPS_PER_PLACE: Final = 30
_CHARACTER: Final = 3
_BOUNDARY: Final = 8
_CLASS: Final = 4
_BRANCH: Final = 3
_REPEAT: Final = 8
_CHOICE: Final = 12
_AGAIN: Final = 5
# How many loops are inside of each other with a piece, by how many are around it: none, one, two.
_NO_LOOP: Final = (0, 1, 2)
_LOOP: Final = (1, 2, 2)
_LOOP_APART: Final = (1, 1, 2)
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
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
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
    """Translate a simple pattern to Python's engine, for a search; ValueError when it is not simple.

    ``flags`` are jq's: ``i`` ignores case, ``g`` has no meaning for a test, others are not simple.
    """
    if not set(flags) <= {"g", "i"}:
        raise ValueError("flags other than g and i")
    options = re.ASCII | (re.IGNORECASE if "i" in flags else re.NOFLAG)
    reader = _Reader(pattern, options)
    whole = reader.alternatives(at_edges=True)
    if reader.rest:
        raise ValueError("unbalanced )")
    if whole.loops[not whole.anchored] > 1:
        raise ValueError("loops inside of loops")
    once, each = (whole.once, whole.each) if whole.anchored else (0, whole.once + whole.each)
    if once > _MOST_STEPS or each > _MOST_STEPS_PER_PLACE:
        raise ValueError("too many ways to match")
    try:
        return re.compile(whole.text, options)
    except re.error as error:
        raise ValueError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a pattern in Python's spelling, with what a backtracking engine does for it.

    Tried at one place of the subject it takes at most ``once`` steps, and ``each`` more for every character that a
    loop goes over; it comes to its end in at most ``ways`` ways, at every such character. These are means over all
    places where it is tried. ``loops`` tells how many loops are inside of each other when it is tried inside of none,
    of one and of two. ``single`` is a piece of one character, ``literal`` that character if it can be only one.
    ``least`` is what has to be there of a piece that is repeated, ``looped`` the one that is repeated in a loop.
    """

    text: str
    once: int = _CHARACTER
    each: int = 0
    ways: int = 1
    loops: tuple[int, int, int] = _NO_LOOP
    anchored: bool = False
    single: bool = False
    literal: str = ""
    least: "_Piece | None" = None
    looped: str = ""

    def then(self, piece: "_Piece") -> "_Piece":
        """Both pieces, one behind the other."""
        behind = self.ways * piece.once
        none, one, two = self.loops
        return _Piece(
            self.text + piece.text,
            self.once + (0 if self.each else behind),
            self.each + self.ways * piece.each + (behind if self.each else 0),
            self.ways * piece.ways,
            (piece.loops[none], piece.loops[one], piece.loops[two]),
            self.anchored or (not self.text and piece.anchored),
        )


_NOTHING: Final = _Piece("", once=0)


@dataclass(slots=True)
class _Reader:
    """Reads a pattern by recursive descent."""

    rest: str
    options: re.RegexFlag

    def alternatives(self, *, at_edges: bool = False) -> _Piece:
        branches = [self._sequence(at_edges=at_edges)]
        while self.rest.startswith("|"):
            self._take()
            branches.append(self._sequence(at_edges=at_edges))
        if len(branches) == 1:
            return branches[0]
        return _Piece(
            "|".join(branch.text for branch in branches),
            sum(branch.once + _BRANCH for branch in branches),
            sum(branch.each for branch in branches),
            sum(branch.ways for branch in branches),
            max(branch.loops for branch in branches),  # they compare as they grow
            all(branch.anchored for branch in branches),
        )

    def _sequence(self, *, at_edges: bool) -> _Piece:
        """Everything up to a bar or bracket; ``at_edges`` when nothing of the pattern is before or behind it."""
        pieces: list[_Piece] = []
        while self.rest and self.rest[0] not in "|)":
            pieces.append(self._repeated(self._atom()))
        if at_edges:
            pieces = _trimmed(_trimmed(pieces)[::-1])[::-1]
        whole = _NOTHING
        while pieces:
            whole = whole.then(self._run(pieces) if pieces[0].literal else pieces.pop(0))
        return whole

    def _run(self, pieces: list[_Piece]) -> _Piece:
        """Take literal characters off the front, with a loop behind them that cannot get past where they begin.

        Where the first character is only once among them, matches that begin at different places do not overlap: so
        all places together take no more steps than there are characters. That is so for a loop, too, which stops
        at that character; else both may overlap as often as it is there.
        """
        text = ""
        while pieces and pieces[0].literal:
            text += pieces.pop(0).literal
        overlaps = text.lower().count(text[0].lower()) if self.options & re.IGNORECASE else text.count(text[0])
        run = _Piece(re.escape(text), _CHARACTER * overlaps)
        if not pieces or not pieces[0].looped or re.fullmatch(pieces[0].looped, text[0], self.options):
            return run
        return replace(run, ways=overlaps).then(replace(pieces.pop(0), loops=_LOOP_APART))

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
                return _Piece(".", _CLASS, single=True)
            case "(":
                return self._group()
            case "[":
                return _Piece(self._class(), _CLASS, single=True)
            case "\\":
                return self._escape()
            case _ if character in _SPECIAL:
                raise ValueError(f"a bare {character}")
        return _Piece(re.escape(character), single=True, literal=character)

    def _group(self) -> _Piece:
        self.rest = self.rest.removeprefix("?:")
        inner = self.alternatives()
        if not self.rest.startswith(")"):
            raise ValueError("unbalanced (")
        self._take()
        once = inner.once + _AGAIN * (inner.ways - 1)
        return _Piece(f"(?:{inner.text})", once, inner.each, inner.ways, inner.loops, inner.anchored)

    def _escape(self) -> _Piece:
        character = self._take()
        if character == "b":
            return _Piece(r"\b", _BOUNDARY)
        if character in _CLASSES:
            return _Piece(_CLASSES[character], _CLASS, single=True)
        plain = _plain_escape(character)
        return _Piece(plain, single=True, literal=_CONTROLS.get(character, character))

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
        required = _times(piece, least)
        text = piece.text + text + lazy
        if most - least > _LONG_REPEAT:
            return _Piece(text, required.once, each=piece.once + _AGAIN, loops=_LOOP, least=required, looped=piece.text)
        once = (_REPEAT if most > 1 else 0) + piece.once * most + _CHOICE * (most - least)
        return _Piece(text, once, piece.each, piece.ways + most - least, piece.loops, least=required)

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


def _times(piece: _Piece, count: int) -> _Piece:
    """A piece as often as that, and no more often."""
    if count == 1:
        return piece
    return _Piece(f"{piece.text}{{{count}}}", _REPEAT + piece.once * count) if count else _NOTHING


def _trimmed(pieces: list[_Piece]) -> list[_Piece]:
    """The pieces without what is optional at the front: a search finds the rest without it as well."""
    for index, piece in enumerate(pieces):
        if piece.least is not _NOTHING:
            return [piece.least or piece, *pieces[index + 1 :]]
    return []
