"""Regular expressions that no engine can read."""

import re
import warnings
from typing import Final

from interpreter.query.grammar.syntax import Call, Literal

_FUNCTIONS: Final = frozenset(("capture", "gsub", "match", "scan", "splits", "sub", "test"))
_SLIPS: Final = {
    "missing ), unterminated subpattern": "a ( has no )",
    "unbalanced parenthesis": "a ) has no (",
    "unterminated character set": "a [ has no ]",
    "bad escape (end of pattern)": "it ends in a backslash",
}
"""What Python says of the mistakes that are mistakes in the syntax of gojq and of jq as well."""


def slip_in_pattern(call: Call) -> str:
    r"""What is wrong with the literal pattern of a call, empty where nothing is or only an engine can tell.

    >>> from interpreter.query.grammar.parser import parse
    >>> slip_in_pattern(parse('test("(")')), slip_in_pattern(parse('test("\\\\p{L}")'))
    ('a ( has no )', '')
    """
    if call.name not in _FUNCTIONS and (call.name, len(call.arguments)) != ("split", 2):
        return ""
    match call.arguments:
        case (Literal(str() as pattern), *_):
            return _slip(pattern)
        case _:
            return ""


def _slip(pattern: str) -> str:
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error as error:
        return _SLIPS.get(error.msg, "")
    return ""
