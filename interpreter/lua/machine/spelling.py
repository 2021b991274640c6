"""Text that may be no UTF-8: Lua gives it with each of its bytes spelled as a character."""

from codecs import register_error
from typing import Final

_EACH_BYTE: Final = "replace-each-byte"


def decoded(spelled: str) -> str:
    r"""The text that spelled bytes are, with U+FFFD for each one that is no part of UTF-8, as Go has it.

    >>> decoded("gr\u00c3\u00bcn \u00ff") == "gr\u00fcn \ufffd"
    True
    """
    return spelled if spelled.isascii() else spelled.encode("latin-1").decode("utf-8", _EACH_BYTE)


def _replace_each_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


register_error(_EACH_BYTE, _replace_each_byte)
