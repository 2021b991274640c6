"""The text of a script as the virtual machine takes it.

Except for a few tokens, Lua 5.2 reads everything that gopher-lua reads. No library can make three things equal: how
``..`` prints numbers, the order in which ``pairs`` goes through the keys of a table, and the scope of a local function.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

_TOKEN: Final = re.compile(
    r"""
      (?P<blank> [ \t\r\n]+ | --\[(?P<depth>=*)\[ .*? \](?P=depth)\] | --[^\r\n]* )
    | (?P<long> \[(?P<level>=*)\[ .*? \](?P=level)\] )
    | (?P<text> "(?: [^"\\] | \\. )*" | '(?: [^'\\] | \\. )*' )
    | (?P<number> 0[xX][0-9a-fA-F]+ | (?: [0-9]+ \.?[0-9]* | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<name> [A-Za-z_][A-Za-z_0-9]* )
    | (?P<symbol> \.\.\. | \.\. | [=~<>]= | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_ESCAPES: Final = frozenset("abfnrtv\\\"'0123456789\r\n")
_OPENERS: Final = frozenset(("function", "if", "do", "repeat"))
_CLOSERS: Final = frozenset(("end", "until"))
RESERVED_WORDS: Final = frozenset(
    (
        *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local"),
        *("nil", "not", "or", "repeat", "return", "then", "true", "until", "while"),
    )
)
"""The reserved words of Lua 5.1, and `goto`, which gopher-lua has as well."""
# Tokens that continue an expression after the ``end`` of a function.
_GO_ON: Final = frozenset(("and", "or", "==", "~=", "<", ">", "<=", ">=", "..", "+", "-", "*", "/", "%", "^", ","))
# Names that mean nothing to gopher-lua.
_ORDINARY: Final = {"_ENV": "_ENV_"}
_VARIADIC: Final = re.compile(r"(\bfunction\b[^()]*\([^()]*\.\.\.\s*\))")
# No other script can find out in which order a table has its keys, and keeping the order takes time.
_ORDER_MATTERS: Final = re.compile(r"\b(?:pairs|next|_G)\b")


def rewrite(text: str) -> str:
    """Return a chunk that returns the script as a function, each line in its place.

    The chunk gets the functions that join text and order tables. The script itself gets no arguments, so its ``...`` is
    as empty as it is for Karmada.

    >>> rewrite("return a .. 1").splitlines()
    ['local concat, ordered = ...; return function(...) return a ..concat.. 1', 'end']
    """
    concat, ordered = _unused("concat", text), _unused("ordered", text)
    body = _Rewriter(concat, ordered, keeps_order=bool(_ORDER_MATTERS.search(text))).rewrite(text)
    return f"local {concat}, {ordered} = ...; return function(...) {body}\nend"


def readable(text: str) -> str:
    """Return the script in words that Lua 5.2 reads, only for its compiler: it may not compute the same.

    >>> readable("return x and 3or '_'")
    "return x and 3 or '_'"
    """
    return _Rewriter("", "", keeps_order=False).rewrite(text)


def tokens_of(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield kind, text and line of each token of a script, blanks among them."""
    line = 1
    for token in _TOKEN.finditer(text):
        yield token.lastgroup or "", token.group(), line
        line += token.group().count("\n")


def without_comments(text: str) -> str:
    """Return a script with its comments left out, on the same lines."""
    tokens = ((kind == "blank" and token.startswith("--"), token) for kind, token, _ in tokens_of(text))
    return "".join("\n" * token.count("\n") if is_comment else token for is_comment, token in tokens)


def _unused(name: str, text: str) -> str:
    suffixes = re.findall(f"{name}(_*)", text)
    return f"{name}_{max(suffixes, key=len)}" if suffixes else name


class _Table(Struct):
    """A table constructor that is open: the blocks around it, and the names of its fields so far."""

    blocks: int
    is_argument: bool
    names: list[str] = field(default_factory=list)


class _Rewriter:
    """Goes through the tokens of one script. Text that is not Lua stays text that is not Lua."""

    def __init__(self, concat: str, ordered: str, *, keeps_order: bool) -> None:
        self._concat, self._ordered, self._keeps_order = concat, ordered, keeps_order
        self._tables: list[_Table] = []
        self._blocks = 0
        self._is_apart = False
        self._recursive = frozenset[int]()
        self._last: list[tuple[str, str]] = [("symbol", "")] * 4

    def rewrite(self, text: str) -> str:
        """Return the script with each line in its place."""
        tokens = [(token.lastgroup or "", token.group()) for token in _TOKEN.finditer(text)]
        self._recursive = _recursive_functions([word for kind, word in tokens if kind != "blank"])
        rewritten = "".join(self._pieces(tokens))
        # A function with `...` has a local `arg` as well.
        has_arg = re.search(r"\barg\b", text)
        return _VARIADIC.sub(r"\1 local arg = {n = #{...}, ...};", rewritten) if has_arg else rewritten

    def _pieces(self, tokens: Iterable[tuple[str, str]]) -> Iterator[str]:
        index = 0
        for kind, word in tokens:
            if kind == "blank":
                self._is_apart = True
                yield word
                continue
            piece = self._piece(kind, word)
            if index in self._recursive:
                piece = "local function"
            # `=` and `function` go: `local function` stands in the place of `local`, and the name follows it.
            yield "" if self._recursive & {index - 2, index - 3} else piece
            self._last, self._is_apart = [*self._last[1:], (kind, word)], False
            index += 1

    def _piece(self, kind: str, word: str) -> str:
        if kind == "text":
            return _ESCAPE.sub(_escape, word)
        if kind == "name":
            self._blocks += (word in _OPENERS) - (word in _CLOSERS)
            word = _ORDINARY.get(word, word)
            # `3or` is two tokens. Lua 5.2 takes some letters for digits
            return f" {word}" if self._last[-1][0] == "number" and not self._is_apart else word
        if word == "..":
            return f"..{self._concat}.." if self._concat else word
        return self._table(word) if self._keeps_order and word in "{}=" else word

    def _table(self, word: str) -> str:
        if word == "{":
            # The argument of a call, ``f{...}``, is a table that follows a value.
            kind, last = self._last[-1]
            is_name = kind == "name" and last not in RESERVED_WORDS
            is_argument = is_name or kind in ("text", "long") or last in (")", "]", "}")
            self._tables.append(_Table(self._blocks, is_argument))
            return f"({self._ordered}({{" if is_argument else f"{self._ordered}({{"
        if not self._tables:
            return word
        table = self._tables[-1]
        if word == "=":
            if table.blocks == self._blocks and (name := self._field()):
                table.names.append(name)
            return word
        self._tables.pop()
        names = f", {{{', '.join(table.names)}}}" if table.names else ""
        return f"}}{names}))" if table.is_argument else f"}}{names})"

    def _field(self) -> str:
        """Return the name before an equals sign, as a string of Lua, or "" if it is not the name of a field."""
        (_, far), (before, opened), (kind, word), (_, closed) = self._last
        if closed == "]" and opened == "[" and kind == "text" and far in ("{", ",", ";"):
            return _ESCAPE.sub(_escape, word)
        name_kind, name = self._last[-1]
        return f'"{name}"' if name_kind == "name" and word in ("{", ",", ";") and before != "" else ""


def _recursive_functions(words: Sequence[str]) -> frozenset[int]:
    """Return the places of ``local`` in ``local name = function ... end``.

    That statement means ``local function name ... end``.
    """
    recursive, open_blocks = set[int](), list[int]()
    for index, word in enumerate(words):
        if word in _OPENERS:
            open_blocks.append(index)
        elif word in _CLOSERS and open_blocks:
            first = open_blocks.pop()
            is_value = [*words[max(first - 3, 0) : first + 1 : 2], *words[first : first + 1]]
            if is_value == ["local", "=", "function"] and not _GO_ON.intersection(words[index + 1 : index + 2]):
                recursive.add(first - 3)
    return frozenset(recursive)


def _escape(match: re.Match[str]) -> str:
    r"""Return an escape as Lua 5.2 has it. To gopher-lua ``\z`` is a z."""
    return match.group() if match[1][0] in _ESCAPES else match[1]


_PLACE: Final = re.compile(r"<string>:(\d+): (.*)", re.DOTALL)


def placed(message: str) -> tuple[str, int]:
    """Return a message without the place in front of it, and its line, or 0 if it names none.

    >>> placed("<string>:3: attempt to call a nil value")
    ('attempt to call a nil value', 3)
    """
    match = _PLACE.fullmatch(message)
    return (match[2], int(match[1])) if match else (message, 0)
