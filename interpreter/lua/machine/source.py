"""The text of a script as the virtual machine takes it, and what its messages say about it."""

import re
from functools import lru_cache
from typing import Final

from interpreter.lua.grammar import rewrite
from interpreter.lua.machine.ordering import ordered

_PLACE: Final = re.compile(r"<string>:(\d+): (.*)", re.DOTALL)


@lru_cache(256)
def prepare(text: str) -> str:
    """A chunk that takes the functions for ``..`` and ``{}`` and gives the script as a function, line by line the same.

    The script itself gets no arguments, so its ``...`` is as empty as it is for Karmada. Raises LuaSyntaxError.

    >>> prepare("return a .. 1").splitlines()
    ['local concat, ordered = ...; return function() return (concat(a , 1))', 'end']
    """
    concat, keep = _unused("concat", text), _unused("ordered", text)
    parameters = "..." if "..." in text else ""  # a function that has them for nothing gets a local `arg` as well
    return f"local {concat}, {keep} = ...; return function({parameters}) {rewrite(ordered(text, keep), concat)}\nend"


def _unused(name: str, text: str) -> str:
    while name in text:
        name += "_"
    return name


def placed(message: str) -> tuple[str, int]:
    """A message without the place in front of it, and its line, 0 where it names none.

    >>> placed("<string>:3: attempt to call a nil value")
    ('attempt to call a nil value', 3)
    """
    found = _PLACE.fullmatch(message)
    return (found[2], int(found[1])) if found else (message, 0)
