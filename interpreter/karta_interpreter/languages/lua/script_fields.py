"""The fields of an object that a script names behind its parameters, and behind locals that are parts of them."""

import re
from collections import Counter
from typing import Final

_STEPS: Final = r"""((?:\.\w+|\[(?:"[^"\n]+"|'[^'\n]+'|[\w.#+ -]+)\])*)"""
# A field behind a name, and what it is compared with, replaced by or set to. A term of a sum is compared with nothing.
_FIELD: Final = re.compile(
    rf"""(?:[-+*/%] {{0,3}})?(?<![\w.])#?(\w+){_STEPS}"""
    r"""(?:\s*(==|~=|[<>]=?|=|\bor\b)\s*("[^"\n]*"|'[^'\n]*'|\d+\b))?"""
)
# A local that is a part of something, or that goes through its entries.
_LOCAL: Final = re.compile(
    r"\b(?:local|for +\w+ *,) +(\w+) *(?:=|in +i?pairs\() *(?:[\w.]+ +and +)*"
    rf"(\w+){_STEPS} *(?:or +\{{\}} *)?(?:(\))|;?$)",
    re.MULTILINE,
)
# The names that something is given to.
_BOUND: Final = re.compile(
    r"\b(?:local +(?!function\b)|function\b[^()\n]{0,99}\()([\w, ]+)|\bfor +([\w, ]+?) *(?:\bin\b|=)"
    r"|(?<![\w.])(\w+)(?= *(?:,[\w, ]{0,99})?=(?!=))"
)
_DEEPEST: Final = 500


def fields_of(function: str, text: str, first: int = 0) -> list[tuple[re.Match[str], str]]:
    """Return the fields in a script without comments, each with what its first name is: "" or steps from a parameter.

    The groups of a field are its first name, the steps behind it, an operator and a literal value, if any. A local
    counts if it is set once. Parameters before the ``first`` are no objects.

    >>> text = "function f(obj) for _, a in ipairs(obj.spec) do if a.b == 1 then return true end end end"
    >>> [(field[0], of) for field, of in fields_of("f", text)]
    [('obj', ''), ('a', '.spec[i]'), ('obj.spec', ''), ('a.b == 1', '.spec[i]')]
    """
    bound = Counter(re.findall(r"\w+", " ".join(map("".join, _BOUND.findall(text)))))
    parameters = re.findall(r"\w+", "".join(re.findall(rf"\bfunction +{function} *\(([^)]*)\)", text)))
    of = dict.fromkeys(parameters[first:], "")
    for name, holder, steps, is_loop in _LOCAL.findall(text):
        if bound[name] == 1 and len(of.get(holder, " " * _DEEPEST)) < _DEEPEST:
            of[name] = f"{of[holder]}{steps}{'[i]' if is_loop else ''}"
    return [(field, of[field[1]]) for field in _FIELD.finditer(text) if field[1] in of]
