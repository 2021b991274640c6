"""What a script may hand over and JSON has no word for."""

from typing import Final, final


@final
class Function:
    """A function of Lua, of which only its type is known."""

    __slots__ = ()


FUNCTION: Final = Function()
"""Any function."""


@final
class NoJson:
    """A table of Lua that is no JSON, and why it is none."""

    __slots__ = ("problem",)

    def __init__(self, problem: str) -> None:
        self.problem = problem
