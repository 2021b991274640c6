"""The Lua functions that scripts share; a script has those that it uses.

``library/*.lua`` have them: each starts in the first column with ``local`` behind its comment, and ends before an empty
line.
"""

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Final, NamedTuple

_HEAD: Final = re.compile(r"^local (?:function )?(\w+)", re.MULTILINE)
_WORD: Final = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?!\w| = )")
_DECLARED: Final = re.compile(r"local function \w+\(([^)]*)\)|function\(([^)]*)\)|local ([\w, ]+)|for ([\w, ]+) in")
_COMMENT_OR_TEXT: Final = re.compile(r'--[^\n]*|"(?:[^"\\\n]|\\.)*"')
_ORDER: Final = (
    "jq",
    "functions",
    "places",
    "pods",
    "dependencies",
    "names",
    "revision",
    "retention",
    "status",
    "aggregation",
)
"""The files, each of which uses only functions of those before it and its own."""


class Function(NamedTuple):
    """One function or constant of the library with its comment, and the words in its code."""

    name: str
    text: str
    words: frozenset[str]


def words_of(code: str) -> frozenset[str]:
    """The names that Lua code refers to: not those of fields, nor in its comments and texts."""
    return frozenset(_WORD.findall(_COMMENT_OR_TEXT.sub('""', code)))


def _foreign(code: str) -> frozenset[str]:
    """The names in a function that are not its own variables."""
    found = [name for each in _DECLARED.findall(code) for names in each for name in _WORD.findall(names)]
    own = {name for name in found if not re.search(rf"(?<![.\w]){name}\(", code.partition("\n")[2])}
    return words_of(code) - own


def _read() -> dict[str, Function]:
    found: dict[str, Function] = {}
    folder = files(__package__) / "library"
    for name in _ORDER:
        text = (folder / f"{name}.lua").read_text(encoding="utf-8")
        for part in text.strip().split("\n\n"):
            head = _HEAD.search(part)
            if head:
                found[head[1]] = Function(head[1], part, _foreign(part))
    return found


LIBRARY: Final = _read()
"""By name, in the order in which a script has them."""


def used(code: str) -> str:
    """The functions that some code uses, and those that they use, as they stand before the code."""
    return "\n\n".join(LIBRARY[name].text for name in _closure(words_of(code)))


def _closure(words: Iterable[str]) -> list[str]:
    wanted: set[str] = set()
    waiting = list(words)
    while waiting:
        name = waiting.pop()
        if name in LIBRARY and name not in wanted:
            wanted.add(name)
            waiting += LIBRARY[name].words
    return [name for name in LIBRARY if name in wanted]
