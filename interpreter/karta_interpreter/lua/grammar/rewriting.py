"""A script of gopher-lua, written so that the reference implementation of Lua 5.1 runs it with the same results."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.lua.grammar.lexer import Kind, Token, count_newlines, scan
from karta_interpreter.lua.grammar.parser import parse
from karta_interpreter.lua.grammar.syntax import (
    Arguments,
    Call,
    CallStatement,
    Concatenation,
    Empty,
    Function,
    Goto,
    Group,
    Label,
    MethodCall,
    Node,
    Return,
    Text,
    Varargs,
    children,
)
from karta_interpreter.lua.grammar.varargs import moved, parameter_edits, rest_of

_SEVERAL_VALUES: Final = (Call, MethodCall, Varargs)

_LONGEST_NESTING: Final = 32


def rewrite(text: str, concat: str, rest: str = "rest") -> str:
    """The script with calls of the global ``concat`` in place of ``..``, and without what only gopher-lua reads.

    The two print numbers differently, and ``..`` is the one place where no function can be put instead. As ``..`` does,
    the calls join from the right, except in chains so long that Lua 5.1 would run out of registers; only literals are
    left to the operator. Every line keeps its number, and what is not named here every byte. ``rest`` is a name of
    ``select``, for functions with too many parameters before ``...``.

    Raises `LuaSyntaxError` as `parse` does, for ``goto`` and labels, and for a script that uses one of the two names.

    >>> rewrite("return a .. 1 .. f()", "concat")
    'return (concat(a , concat(1 , (f()))))'
    """
    chunk = parse(text)
    tokens = list(scan(text))
    edits = [*_edits_of_tokens(tokens, (concat, rest)), *_Rewriter(text, tokens, concat, rest).edits(chunk)]
    return _edited(text, sorted(edits, key=_place))


class _Edit(NamedTuple):
    """Text in place of a range."""

    start: int
    end: int
    text: str


def _place(edit: _Edit) -> tuple[int, int]:
    """What is inserted comes before what is replaced in the same place."""
    return edit.start, edit.end


def _edited(text: str, edits: list[_Edit]) -> str:
    pieces: list[str] = []
    place = 0
    for edit in edits:
        pieces += (text[place : edit.start], edit.text)
        place = edit.end
    return "".join((*pieces, text[place:]))


def _edits_of_tokens(tokens: list[Token], reserved: tuple[str, str]) -> Iterator[_Edit]:
    for token, following in pairwise(tokens):
        if token.kind is Kind.NUMBER and following.start == token.end and following.kind in (Kind.NAME, Kind.SYMBOL):
            yield from _apart(token, following)
        elif token.kind is Kind.TEXT or token.kind is Kind.COMMENT:
            yield from _deeper_bracket(token)
        elif token.kind is Kind.NAME and token.text in reserved:
            raise LuaSyntaxError(f"the name `{token.text}` is reserved", line=token.line)


def _apart(number: Token, following: Token) -> Iterator[_Edit]:
    """Lua 5.1 reads ``3or`` as one malformed number."""
    if following.text[0].isalpha() or following.text[0] == "_":
        yield _Edit(number.end, number.end, " ")


def _deeper_bracket(token: Token) -> Iterator[_Edit]:
    """Lua 5.1 allows no ``[[`` between ``[[`` and ``]]``."""
    opener = 2 if token.text.startswith("--") else 0
    inside = token.text[opener + 2 : -2]
    if not token.text.startswith("[[", opener) or "[[" not in inside:
        return
    depth = "="
    while f"]{depth}]" in inside + "]":
        depth += "="
    yield _Edit(token.start + opener + 1, token.start + opener + 1, depth)
    yield _Edit(token.end - 1, token.end - 1, depth)


class _Rewriter:
    """Finds what has to change in a tree, without recursion: a sum of many parts is a deep tree."""

    def __init__(self, text: str, tokens: list[Token], concat: str, rest: str) -> None:
        self._code = code = [token for token in tokens if token.kind is not Kind.COMMENT]
        self._following = {token.end: following.text for token, following in pairwise(code)}
        self._text = text
        self._concat = concat
        self._rest = rest
        self._returned: set[int] = set()

    def edits(self, root: Node) -> Iterator[_Edit]:
        """The edits for a node and everything below it."""
        waiting = [(root, "")]
        while waiting:
            node, varargs = waiting.pop()
            if isinstance(node, Function):
                varargs = rest_of(node, self._rest) if moved(node) else ""
            if varargs:
                yield from self._without_parameters(node, varargs)
            waiting += ((child, varargs) for child in children(node))
            match node:
                case Return(values=(Concatenation() as chain,)):
                    self._returned.add(chain.start)
                case Concatenation():
                    yield from self._call(node)
                case Arguments():
                    yield from self._pulled_up(node)
                case CallStatement(Group() as group):
                    yield from _bared(group)
                case Empty():
                    yield _Edit(node.start, node.end, " ")
                case Goto() | Label():
                    raise LuaSyntaxError("`goto` and its labels are not supported", line=node.line)

    def _without_parameters(self, node: Node, varargs: str) -> Iterator[_Edit]:
        """What becomes of ``...`` in a function some of whose parameters have to become locals."""
        if isinstance(node, Function):
            yield from (_Edit(*edit) for edit in parameter_edits(node, self._text, self._code, self._rest))
        elif isinstance(node, Varargs):
            yield _Edit(node.start, node.end, varargs)

    def _call(self, chain: Concatenation) -> Iterator[_Edit]:
        """The call that a chain becomes."""
        parts = chain.parts
        if all(_is_literal(part) for part in parts):
            return
        before, behind = [""] * len(parts), [""] * len(parts)
        for first, last in _pairs(0, len(parts) - 1):
            before[first] += f"{self._concat}("
            behind[last] += ")"
        for place, part in enumerate(parts):
            if behind[place] and isinstance(part, Call | MethodCall | Varargs):
                before[place], behind[place] = "(", ")" + behind[place]
        before[0] = self._opening(chain) + before[0]
        behind[-1] += self._closing(chain)
        yield from (_Edit(dots, dots + 2, ",") for dots in chain.dots)
        yield from (_Edit(part.start, part.start, text) for part, text in zip(parts, before, strict=True) if text)
        yield from (_Edit(part.end, part.end, text) for part, text in zip(parts, behind, strict=True) if text)

    def _opening(self, chain: Concatenation) -> str:
        # in parentheses it is no tail call; that would not know its line when it fails
        parenthesis = "(" if chain.start in self._returned else ""
        apart = self._text[max(chain.start - 1, 0) : chain.start].isalnum()
        return f" {parenthesis}" if apart else parenthesis

    def _closing(self, chain: Concatenation) -> str:
        # the next statement may start with a parenthesis: nothing could be called before, now the result could
        parenthesis = ")" if chain.start in self._returned else ""
        return f"{parenthesis};" if self._following[chain.end] == "(" else parenthesis

    def _pulled_up(self, arguments: Arguments) -> Iterator[_Edit]:
        """Lua 5.1 wants the parenthesis of a call on the line of the function."""
        between = self._text[arguments.before : arguments.start]
        if self._text[arguments.start] == "(" and count_newlines(between):
            yield _Edit(arguments.before, arguments.before, "(")
            yield _Edit(arguments.start, arguments.start + 1, " ")


def _bared(group: Group) -> Iterator[_Edit]:
    """Lua 5.1 allows no parentheses around a call that is a statement."""
    node: Node = group
    while isinstance(node, Group):
        yield _Edit(node.start, node.start + 1, " ")
        yield _Edit(node.end - 1, node.end, " ")
        node = node.inner


def _pairs(first: int, last: int) -> Iterator[tuple[int, int]]:
    """The ranges of parts that one call each joins, the outer before the inner."""
    if first == last:
        return
    yield first, last
    left = first if last - first < _LONGEST_NESTING else (first + last) // 2
    yield from _pairs(first, left)
    yield from _pairs(left + 1, last)


def _is_literal(node: Node) -> bool:
    while isinstance(node, Group):
        node = node.inner
    return isinstance(node, Text)
