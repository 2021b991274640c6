"""Regular expressions as patterns of Lua."""

import re
from typing import Any, Final

_MAGIC: Final = "^$()%.[]*+-?"
_PIECE: Final = re.compile(r"(\^)|(\$)|(\[[A-Za-z0-9 _-]+\]|\\[\[\].*+?$^()\\-]|[A-Za-z0-9 _/:@=,-])([*+?]?)")


def lua_pattern(pattern: str) -> str | None:
    r"""Return a regular expression as a pattern of Lua, None where Lua has no equal pattern.

    >>> lua_pattern("^[0-9]+$"), lua_pattern("a|b"), lua_pattern(r"\\.")
    ('^[0-9]+$', None, None)
    """
    found: list[str] = []
    place = 0
    while place < len(pattern):
        match: Any = _PIECE.match(pattern, place)
        if match is None or (match[1] and place) or (match[2] and match.end() < len(pattern)):
            return None
        if match[1] or match[2]:
            found.append(match[0])
        else:
            one = match[3]
            if one[0] == "\\":
                one = f"%{one[1]}"
            elif one[0] != "[" and one in _MAGIC:
                one = f"%{one}"
            found.append(one + match[4])
        place = match.end()
    return "".join(found)
