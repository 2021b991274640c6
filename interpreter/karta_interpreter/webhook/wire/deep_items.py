"""Cuts what is nested too deeply out of the reports of members, so that the rest of a request can be read."""

import re
from typing import Final

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')
_OPENING: Final = (b"{", b"[")
_ITEMS: Final = b'"aggregatedStatus"'
_OF_REQUEST: Final = 2
"""The levels around a field of a request."""
_MOST: Final = 400
"""The levels that stay: fewer than a decoder takes, and more than a status may have."""


def cut_items(body: bytes) -> bytes:
    """Return the JSON of a request in which nothing is nested deeply in its items.

    What is cut out is null. A report that had it is nested too deeply, still.
    """
    kept, level, copied, is_of_items = list[bytes](), 0, 0, False
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token in _OPENING:
            level += 1
            if is_of_items and level == _MOST + 1:
                kept += (body[copied : match.start()], b"null")
        elif token[:1] != b'"':
            level -= 1
            if is_of_items and level == _MOST:
                copied = match.end()
        elif level == _OF_REQUEST:
            is_of_items = token == _ITEMS
    return b"".join((*kept, body[copied:]))
