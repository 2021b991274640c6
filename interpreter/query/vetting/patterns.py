"""Regular expressions that Go cannot read."""

from interpreter.query.grammar.syntax import Call
from interpreter.query.plain.regex import compile_pattern
from interpreter.query.plain.regex_call import RegexCall


def slip_in_pattern(node: Call) -> str:
    r"""Say what is wrong with the literal pattern or the literal flags of a call; empty where nothing is.

    >>> from interpreter.query.grammar.parser import parse
    >>> slip_in_pattern(parse('test("(")')), slip_in_pattern(parse('test("\\\\p{L}")'))
    ('missing ): (', '')
    """
    call = RegexCall.of(node)
    if call is None:
        return ""
    try:
        compile_pattern("" if call.literal is None else call.literal, call.flags or "")
    except ValueError as error:
        return str(error)
    return ""
