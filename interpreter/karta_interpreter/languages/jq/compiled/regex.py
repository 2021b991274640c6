r"""Regular expressions in the dialect of Go, which gojq reads: RE2 itself.

A search takes a time that grows with the text and with the size of the pattern. Finding all matches takes as many
searches, and each may read the rest of the text. `MOST_STEPS` bounds them.

Some patterns are rejected because RE2 differs from Go's own package:

- ``\C`` and names of groups that are not ASCII. Go does not have them.
- ``\B``. RE2 also finds it inside of a character.
- A name for two groups. This package knows one of them.
- Names of Unicode classes that only Go knows (``\p{Letter}``).
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, Self

import re2
from msgspec import Struct

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.base.k8s import JSON, NewObject
from karta_interpreter.languages.jq.compiled.values import text_of
from karta_interpreter.languages.jq.syntax import FunctionCall, Literal, Node

MOST_STEPS: Final = 2**24
"""The searches of a call, times the characters of the text, times the size of the pattern."""

COMPUTED_SIZE: Final = 100
COMPUTED_GROUPS: Final = 2
"""The largest size, and the most groups, of a pattern that is only known when it is used."""

_LONGEST_KEPT: Final = 128
_MEMORY: Final = 2**20
_KEPT: Final = 64
_IN_CHARACTERS: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\[BC])")
_NAME: Final = re.compile(r"\(\?P?<(\w+)>")


class Pattern(Struct, frozen=True):
    """A compiled pattern: its number of instructions and the name of each group.

    ``found`` tells whether a text has a match. ``kept`` does the same and remembers the last answers, for short texts,
    because many objects have equal ones.
    """

    size: int
    groups: tuple[str | None, ...]
    everywhere: bool
    found: Callable[[JSON], bool]
    kept: Callable[[str], bool]
    regexp: Any


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: str = "") -> Pattern:
    """Compile a pattern with the flags of gojq: ``g``, ``i``, and ``m``. With ``m`` a dot is any character.

    Raises ValueError for a pattern that Go cannot read.

    >>> compile_pattern("^WORKER-[0-9]+$", "i").found("worker-0")
    True
    >>> compile_pattern("a(?=b)")
    Traceback (most recent call last):
    ...
    ValueError: invalid perl operator: (?=
    """
    if unknown := set(flags) - set("gim"):
        raise ValueError(f"there is no flag {min(unknown)}, only g, i and m")
    if looks_inside := _IN_CHARACTERS.search(pattern):
        raise ValueError(f"invalid escape sequence: {looks_inside[1]}")
    names = _NAME.findall(pattern)
    if twice := next((name for name in names if names.count(name) > 1 or not name.isascii()), None):
        raise ValueError(f"invalid or repeated name of a group: {twice}")
    text = f"{'(?i)' if 'i' in flags else ''}{'(?s)' if 'm' in flags else ''}{pattern}"
    try:
        regexp = re2.compile(text, _options())
        search = _search(text, MOST_STEPS // regexp.programsize)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0]
        message = reason.decode(errors="replace") if isinstance(reason, bytes) else "it is not Unicode text"
        raise ValueError(message) from error
    named = {index: name for name, index in regexp.groupindex.items()}
    groups = tuple(named.get(index) for index in range(1, regexp.groups + 1))
    return Pattern(regexp.programsize, groups, "g" in flags, search, lru_cache(_KEPT)(search), regexp)


def computed_pattern(pattern: JSON, flags: str) -> Pattern:
    """Return a pattern that comes from the object. Raise QueryEvaluationError for an invalid or too large one."""
    try:
        compiled = compile_pattern(text_of("a pattern", pattern), flags)
    except ValueError as error:
        raise QueryEvaluationError(f"a pattern is not a regular expression: {error}") from error
    if compiled.size > COMPUTED_SIZE or len(compiled.groups) > COMPUTED_GROUPS:
        raise QueryEvaluationError("a computed pattern is too large")
    return compiled


def test(value: JSON, pattern: Pattern) -> bool:
    """``test(pattern)``. The last answers to short texts are remembered."""
    is_short = type(value) is str and len(value) <= _LONGEST_KEPT
    return pattern.kept(value) if is_short else pattern.found(value)


def match(value: JSON, pattern: Pattern) -> Iterator[JSON]:
    """``match(pattern)``. Offsets and lengths count characters."""
    for occurrence in _matches(text_of("match", value), pattern):
        captures: list[JSON] = [
            {"name": name, **_part(occurrence, index)} for index, name in enumerate(pattern.groups, start=1)
        ]
        yield {**_part(occurrence, 0), "captures": captures}


def capture(value: JSON, pattern: Pattern) -> Iterator[JSON]:
    """``capture(pattern)``: the named groups, null for one that took no part."""
    for occurrence in _matches(text_of("capture", value), pattern):
        yield _captured(occurrence, pattern)


def scan(value: JSON, pattern: Pattern) -> Iterator[JSON]:
    """``scan(pattern)``: the texts of all matches, or the groups of each."""
    for occurrence in _matches(text_of("scan", value), pattern):
        yield list(occurrence.groups()) if pattern.groups else occurrence.group()


def splits(value: JSON, pattern: Pattern) -> Iterator[str]:
    """``splits(pattern)``: the texts between the matches."""
    text, end = text_of("splits", value), 0
    for occurrence in _matches(text, pattern):
        yield text[end : occurrence.start()]
        end = occurrence.end()
    yield text[end:]


def split(value: JSON, pattern: Pattern) -> list[str]:
    """``split(pattern; flags)``."""
    return list(splits(value, pattern))


def replace(value: JSON, pattern: Pattern, replacement: Callable[[JSON], Iterator[JSON]]) -> str:
    """``sub(pattern; replacement)``, for a replacement with one output. Null is an empty text, as in gojq."""
    text, end = text_of("sub", value), 0
    pieces: list[str] = []
    for occurrence in _matches(text, pattern):
        (new,) = replacement(_captured(occurrence, pattern))
        pieces += (text[end : occurrence.start()], "" if new is None else text_of("sub", new))
        end = occurrence.end()
    return "".join((*pieces, text[end:]))


def _options() -> Any:  # noqa: ANN401 - the package has no types
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return options


def _search(pattern: str, most: int) -> Callable[[JSON], bool]:
    """Return whether a text of at most so many characters has a match.

    A set of one pattern is the fastest that the package has for this, and bytes are faster than text.
    """
    options = _options()
    options.never_capture = True
    patterns = re2.Set.SearchSet(options)
    patterns.Add(pattern)
    patterns.Compile()
    search = patterns.Match

    def found(value: JSON) -> bool:
        text = text_of("test", value)
        if len(text) > most:
            raise QueryLimitError(f"a text of {len(text)} characters is too long for its pattern")
        try:
            return search(text.encode()) is not None
        except UnicodeEncodeError as error:
            raise QueryEvaluationError("a string of the object is not Unicode text") from error

    return found


def _matches(text: str, pattern: Pattern) -> Iterator[Any]:
    """Yield the first match, or all of them. As in Go, none is empty at the end of another one."""
    try:
        if not pattern.everywhere:
            # Most texts have no match, and the set finds that sooner than the pattern, which also finds the place.
            if pattern.found(text):
                yield pattern.regexp.search(text)
            return
        steps, end = 0, -1
        for occurrence in pattern.regexp.finditer(text):
            steps += len(text) * pattern.size
            if steps > MOST_STEPS:
                raise QueryLimitError(f"a text of {len(text)} characters has too many matches")
            if occurrence.end() > end:
                yield occurrence
            end = occurrence.end()
    except UnicodeEncodeError as error:
        raise QueryEvaluationError("a string of the object is not Unicode text") from error


def _part(match: Any, group: int) -> NewObject:  # noqa: ANN401 - the package has no types
    start, end = match.span(group)
    return {"offset": start, "length": end - start, "string": match.group(group)}


def _captured(match: Any, pattern: Pattern) -> NewObject:  # noqa: ANN401 - the package has no types
    return {name: match.group(index) for index, name in enumerate(pattern.groups, start=1) if name is not None}


# The functions that find all matches with any flags.
_EVERYWHERE: Final = ("gsub", "scan", "split", "splits")


class RegexCall(Struct, frozen=True):
    """The parts of a call. ``flags`` is None if they are not a literal text."""

    pattern: Node
    flags: str | None
    replacement: Node | None

    @classmethod
    def of(cls, node: FunctionCall) -> Self:
        """Return the parts of a call of one of the functions above.

        >>> RegexCall.of(FunctionCall("scan", (Literal("a"), Literal("i")))).flags
        'ig'
        """
        pattern, *arguments = node.arguments
        replacement = arguments.pop(0) if node.name in ("gsub", "sub") else None
        every = "g" if node.name in _EVERYWHERE else ""
        match arguments:
            case []:
                return cls(pattern, every, replacement)
            case [Literal(str() | None as flags)]:
                return cls(pattern, (flags or "") + every, replacement)
        return cls(pattern, None, replacement)

    def compiled(self) -> Pattern | None:
        """Return the pattern if both it and the flags are known. Raise ValueError for one that Go cannot read."""
        if self.flags is None or not (isinstance(self.pattern, Literal) and isinstance(self.pattern.value, str)):
            return None
        return compile_pattern(self.pattern.value, self.flags)
