"""The Lua functions that scripts share; a script has those that it uses.

``library/*.lua`` have them: each starts in the first column with ``local`` behind its comment, and ends before an empty
line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

_HEAD: Final = re.compile(r"^local (?:function )?(\w+)", re.MULTILINE)
_WORD: Final = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?!\w| = )")
_DECLARED: Final = re.compile(r"local function \w+\(([^)]*)\)|function\(([^)]*)\)|local ([\w, ]+)|for ([\w, ]+) in")
_FEATURES: Final[Mapping[str, frozenset[str]]] = {
    "null": frozenset({"append", "list", "or_null"}),
    "numeral": frozenset({"numeral"}),
    "times": frozenset({"times"}),
    "limited_by": frozenset({"limited_by"}),
}
"""What only some functions can make: null in a list or an object, and places whose values are converted or limited."""
_MARK: Final = re.compile(r" -- (with|without) (\w+)$")
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

    text: str
    words: frozenset[str]


def words_of(code: str) -> frozenset[str]:
    """The names that Lua code refers to: not those of fields, nor in its comments and texts."""
    return frozenset(_WORD.findall(_COMMENT_OR_TEXT.sub('""', code)))


def _foreign(code: str) -> frozenset[str]:
    """The names in a function that are not its own variables."""
    found = [name for each in _DECLARED.findall(code) for names in each for name in _WORD.findall(names)]
    # A local function is its own variable only where it is not called: a call may be of the library's of that name.
    own = {name for name in found if not re.search(rf"(?<![.\w]){name}\(", code.partition("\n")[2])}
    return words_of(code) - own


def _read() -> dict[str, str]:
    found: dict[str, str] = {}
    folder = files(__package__) / "library"
    for name in _ORDER:
        text = (folder / f"{name}.lua").read_text(encoding="utf-8")
        for part in text.strip().split("\n\n"):
            head = _HEAD.search(part)
            if head:
                found[head[1]] = part
    return found


LIBRARY: Final = _read()
"""The texts by name, in the order in which a script has them."""


def used(code: str, features: Iterable[str] = ()) -> str:
    """The functions that some code uses, and those that they use, in the order in which they precede the code.

    A statement ``-- with NAME`` is left out where the definition does not have that feature, and one ``-- without
    NAME`` where it has.
    """
    found = _used(code, frozenset(features))
    # Only what a script has can make these values, and only then the statements that handle them are needed.
    made = {feature for feature, makers in _FEATURES.items() if not makers.isdisjoint(found)}
    if made:
        found = _used(code, frozenset(features) | made)
    return "\n\n".join(found[name].text for name in LIBRARY if name in found)


def _used(code: str, features: frozenset[str]) -> dict[str, Function]:
    found: dict[str, Function] = {}
    waiting = list(words_of(code))
    while waiting:
        name = waiting.pop()
        if name in LIBRARY and name not in found:
            found[name] = _function(name, features)
            waiting += found[name].words
    return found


@cache
def _function(name: str, features: frozenset[str]) -> Function:
    text = "\n".join(_statements(LIBRARY[name].splitlines(), features))
    return Function(text, _foreign(text))


def _statements(lines: Iterable[str], features: frozenset[str]) -> Iterator[str]:
    left_out_until = ""
    for line in lines:
        if left_out_until:
            left_out_until = "" if line == left_out_until else left_out_until
            continue
        mark = _MARK.search(line)
        if mark is None:
            yield line
        elif (mark[1] == "with") == (mark[2] in features):
            yield line[: mark.start()]
        elif line[: mark.start()].endswith((" then", " do")):
            left_out_until = f"{line[: len(line) - len(line.lstrip())]}end"
