"""What a script may return and JSON has no word for."""

from typing import Final, final


@final
class Function:
    """A function of Lua, of which only its type is known."""

    __slots__ = ()


FUNCTION: Final = Function()
"""Any function."""
