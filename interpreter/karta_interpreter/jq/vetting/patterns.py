"""Regular expressions that Go cannot read."""

from karta_interpreter.jq.grammar.syntax import Call
from karta_interpreter.jq.plain.regex import compile_pattern
from karta_interpreter.jq.plain.regex_call import RegexCall


def slip_in_pattern(node: Call) -> str:
    r"""Say what is wrong with the literal pattern or the literal flags of a call; empty where nothing is.

    >>> from karta_interpreter.jq.grammar.parser import parse
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
