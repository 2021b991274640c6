"""Functions with ``...`` behind many parameters, which Lua 5.1 cannot call without writing beyond its stack.

It makes room for the registers of such a function and then moves the fixed parameters of it into them, with a nil for
each one that was not given, for which there is no room (CVE-2014-5461). A few are no harm: so many more values fit
behind every stack. The others become locals of the function.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from karta_interpreter.lua.grammar.lexer import Kind, Token, count_newlines
from karta_interpreter.lua.grammar.syntax import Function, Node, Varargs, children

_MOST_FIXED: Final = 3


def moved(function: Function) -> int:
    """How many of the parameters have to become locals.

    >>> from karta_interpreter.lua.grammar import parse
    >>> moved(parse("return function(a, b, c, d, e, ...) end").body.statements[0].values[0])
    2
    """
    return max(len(function.parameters) - _MOST_FIXED, 0) if function.variadic else 0


def parameter_edits(
    function: Function, text: str, tokens: Sequence[Token], rest: str
) -> Iterator[tuple[int, int, str]]:
    """What to write in place of ranges of the text, so that the last parameters are locals.

    ``tokens`` are those of the whole script, and ``rest`` is the name of ``select``: what `rest_of` gives is then what
    ``...`` was. Without a use of ``...`` there is a table ``arg``, as gopher-lua has it.
    """
    at = bisect_left(tokens, function.start, key=lambda token: token.start)
    names: list[Token] = []
    inside = False
    while tokens[at].text != "...":
        inside = inside or tokens[at].text == "("
        if inside and tokens[at].kind is Kind.NAME:
            names.append(tokens[at])
        at += 1
    dots, locals_ = tokens[at], names[-moved(function) :]
    closed = next(token for token in tokens[at:] if token.text == ")")
    last = names[-moved(function) - 1]
    yield last.end, dots.start, "," + "\n" * count_newlines(text[last.end : dots.start])
    arg = (
        ""
        if _uses_varargs(function)
        else f" local arg = {{{rest_of(function, rest)}}}; arg.n = {_count(function, rest)};"
    )
    yield closed.end, closed.end, f" local {', '.join(name.text for name in locals_)} = ...;{arg}"


def rest_of(function: Function, rest: str) -> str:
    """What stands for ``...`` in a function whose last parameters are locals."""
    return f"{rest}({moved(function) + 1}, ...)"


def _count(function: Function, rest: str) -> str:
    return f"{rest}('#', {rest_of(function, rest)})"


def _uses_varargs(function: Function) -> bool:
    waiting: list[Node] = [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Varargs):
            return True
        waiting += (child for child in children(node) if not isinstance(child, Function))
    return False
