"""The text of a script as the virtual machine takes it, and what its messages say about it."""

import re
from functools import lru_cache
from typing import Final

from karta_interpreter.lua.grammar import rewrite
from karta_interpreter.lua.machine.ordering import ordered

_PLACE: Final = re.compile(r"<string>:(\d+): (.*)", re.DOTALL)


@lru_cache(32)
def prepare(text: str) -> str:
    """A chunk that takes functions for ``..``, ``{}`` and ``...`` and gives the script as a function, line by line.

    The script itself gets no arguments, so its ``...`` is as empty as it is for Karmada. Raises LuaSyntaxError.

    >>> prepare("return a .. 1").splitlines()
    ['local concat, ordered, rest = ...; return function() return (concat(a , 1))', 'end']
    """
    concat, keep, rest = (_unused(name, text) for name in ("concat", "ordered", "rest"))
    parameters = "..." if "..." in text else ""  # a function that has them for nothing gets a local `arg` as well
    body = rewrite(ordered(text, keep), concat, rest)
    return f"local {concat}, {keep}, {rest} = ...; return function({parameters}) {body}\nend"


def _unused(name: str, text: str) -> str:
    found = re.findall(f"{name}(_*)", text)
    return f"{name}_{max(found, key=len)}" if found else name


def placed(message: str) -> tuple[str, int]:
    """A message without the place in front of it, and its line, 0 where it names none.

    >>> placed("<string>:3: attempt to call a nil value")
    ('attempt to call a nil value', 3)
    """
    found = _PLACE.fullmatch(message)
    return (found[2], int(found[1])) if found else (message, 0)
