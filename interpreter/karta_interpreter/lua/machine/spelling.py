"""Text that may be no UTF-8: Lua gives it with each of its bytes spelled as a character."""

import re
from typing import Final

_ESCAPED: Final = re.compile("[\udc80-\udcff]")


def decoded(spelled: str) -> str:
    r"""The text that spelled bytes are, with U+FFFD for each one that is no part of UTF-8, as Go has it.

    >>> decoded("gr\u00c3\u00bcn \u00ff") == "gr\u00fcn \ufffd"
    True
    """
    if spelled.isascii():
        return spelled
    return _ESCAPED.sub("\ufffd", spelled.encode("latin-1").decode("utf-8", "surrogateescape"))
