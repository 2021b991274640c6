"""What libjq complains about, without the values that it quotes: messages may be seen by others than the object."""

import re
from typing import Final

_TYPE: Final = "(null|boolean|number|string|array|object)"
_QUOTED: Final = r" \(.*\)"
_FORMS: Final = [
    (re.compile(rf"Cannot iterate over {_TYPE}.*", re.DOTALL), r"cannot iterate over \1"),
    (re.compile(rf"Cannot index {_TYPE} with {_TYPE}.*", re.DOTALL), r"cannot index \1 with \2"),
    (re.compile(rf"Cannot index {_TYPE} .*", re.DOTALL), r"cannot index \1"),
    (re.compile(rf"Cannot use {_TYPE}{_QUOTED} as object key", re.DOTALL), r"cannot use \1 as object key"),
    (re.compile(rf"{_TYPE}{_QUOTED} and {_TYPE}{_QUOTED} ([a-z ,()]+)", re.DOTALL), r"\1 and \2 \3"),
    (re.compile(rf"{_TYPE}{_QUOTED} ([a-z ,-]+)", re.DOTALL), r"\1 \2"),
]


def reason(message: str) -> str:
    """A message of libjq in as many of its words as are safe to repeat.

    >>> reason('string ("token") and number (1) cannot be added')
    'string and number cannot be added'
    >>> reason("whatever the expression gave to error")
    'it ended in an error'
    """
    for form, words in _FORMS:
        if found := form.fullmatch(message):
            return found.expand(words)
    return "it ended in an error"
