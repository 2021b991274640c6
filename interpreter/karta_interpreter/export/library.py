"""The Lua functions that scripts share. A script contains the functions that it uses.

``library/*.lua`` have them. Each starts in the first column with ``local`` after its comment, and ends before an empty
line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

_HEAD: Final = re.compile(r"^local (?:function )?(\w+)", re.MULTILINE)
_WORD: Final = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?!\w| = )")
_DECLARED: Final = re.compile(r"local function \w+\(([^)]*)\)|function\(([^)]*)\)|local ([\w, ]+)|for ([\w, ]+) in")
# The values that only some functions make: null in a list or an object, and places of converted or limited values.
_FEATURES: Final[Mapping[str, frozenset[str]]] = {
    "null": frozenset({"append", "list", "or_null"}),
    "numeral": frozenset({"numeral"}),
    "times": frozenset({"times"}),
    "limited_by": frozenset({"limited_by"}),
}
# A statement that depends on a feature of the definition: its depth, the rest of its condition, or its statement.
_BRANCH: Final = re.compile(r"( *)if (not )?with\.(\w+) (?:and (.+)|then(?: (.+) end)?)")
# A value for definitions with a feature, and another value for all others.
_CHOICE: Final = re.compile(r"(.*[=,] )with\.(\w+) and (\(.*\)|.*?)(?:\s+or (.*?))?(,?)")
_CONTINUED: Final = re.compile(r"( with\.\w+ and .*)\n +or ")
_COMMENT_OR_TEXT: Final = re.compile(r'--[^\n]*|"(?:[^"\\\n]|\\.)*"')
# The files. Each uses only its own functions and functions of the files before it.
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


def words_of(code: str) -> frozenset[str]:
    """Return the names that Lua code refers to, without names of fields and words in its comments and texts."""
    return frozenset(_WORD.findall(_COMMENT_OR_TEXT.sub('""', code)))


LIBRARY: Final = {
    head[1]: part
    for name in _ORDER
    for part in (files(__package__) / "library" / f"{name}.lua").read_text(encoding="utf-8").strip().split("\n\n")
    if (head := _HEAD.search(part))
}
"""The texts by name, in the order of a script."""


def used(code: str, features: Iterable[str] = ()) -> str:
    """Return the functions that some code uses, directly or through other functions, in the order before the code.

    They have no branches for ``features`` that the definition does not have.
    """
    functions = _functions_used(code, frozenset(features))
    # Only features of a script make these values, and only then the statements that handle them are needed.
    made = {feature for feature, makers in _FEATURES.items() if not makers.isdisjoint(functions)}
    if made:
        functions = _functions_used(code, frozenset(features) | made)
    return "\n\n".join(functions[name] for name in LIBRARY if name in functions)


def _functions_used(code: str, features: frozenset[str]) -> dict[str, str]:
    functions: dict[str, str] = {}
    waiting = list(words_of(code))
    while waiting:
        name = waiting.pop()
        if name in LIBRARY and name not in functions:
            functions[name], words = _function(name, features)
            waiting += words
    return functions


@cache
def _function(name: str, features: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Return a function or constant with its comment, and the names in it that are not its own variables."""
    code = "\n".join(_folded(iter(_CONTINUED.sub(r"\1 or ", LIBRARY[name]).splitlines()), features))
    declared = {name for matches in _DECLARED.findall(code) for names in matches for name in _WORD.findall(names)}
    # A local function is its own variable only if it is not called: a call may mean a library function of that name.
    own = {name for name in declared if not re.search(rf"(?<![.\w]){name}\(", code.partition("\n")[2])}
    return code, words_of(code) - own


def _kept(depth: str, condition: str | None, statement: str | None, inner: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a branch that the definition has: what is left of its condition, its statement or block."""
    if condition:
        yield f"{depth}if {condition}"
        yield from inner
        if inner:
            yield f"{depth}end"
    elif statement:
        yield f"{depth}{statement}"
    else:
        for line in inner:
            yield line.removeprefix("  ")


def _folded(lines: Iterator[str], features: frozenset[str], end: str = "") -> Iterator[str]:
    """Yield the lines up to the end of a block, without the conditions on features of the definition."""
    for line in lines:
        if line == end:
            return
        branch, choice = _BRANCH.fullmatch(line), _CHOICE.fullmatch(line)
        if branch:
            depth, negation, feature, condition, statement = branch.groups()
            inner: list[str] = []
            if line.endswith(" then"):
                inner += _folded(lines, features, f"{depth}end")
            if (feature in features) != bool(negation):
                yield from _kept(depth, condition, statement, inner)
        elif choice:
            before, feature, value, other, after = choice.groups()
            chosen = value.removeprefix("(").removesuffix(")") if value.startswith("(") else value
            if feature in features or other:
                yield f"{before}{chosen if feature in features else other}{after}"
        else:
            yield line
