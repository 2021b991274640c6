"""A place in the tokens of a script, and the errors for what is found there."""

from typing import Final, NoReturn

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.lua.grammar.lexer import KEYWORDS, Kind, Token, tokenize
from karta_interpreter.lua.grammar.syntax import Node, Text

NESTING_LIMIT: Final = 80
"""How deep blocks and expressions may stand inside of each other; Lua 5.1's own limit is 200."""

_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
_FOREIGN: Final = frozenset(("+=", "-=", "*=", "/=", "%=", "^=", "..=", "++", "//"))
_LONGEST_QUOTE = 40


class Cursor:
    """Reads tokens one after the other; ``next`` is the one in front, ``last`` the one taken last."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._place = 0
        self._depth = 0
        self.next = self.last = self._tokens[0]

    def advance(self) -> Token:
        """Take the next token; not the end."""
        token = self.last = self.next
        self._place += 1
        self.next = self._tokens[self._place]
        return token

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these symbols or keywords: no other token looks like them."""
        return self.next.text in texts

    def follows(self, text: str) -> bool:
        """Whether the token after the next one is this symbol."""
        return self.next.kind is not Kind.END and self._tokens[self._place + 1].text == text

    def accept(self, text: str) -> Token | None:
        """Take the next token if it is this symbol or keyword."""
        return self.advance() if self.next.text == text else None

    def expect(self, text: str, what: str, hint: str = "") -> Token:
        """Take this symbol or keyword; ``what`` says where it belongs: "after the condition of `if`"."""
        return self.accept(text) or self.fail(f"expected `{text}` {what}", hint)

    def close(self, opened: Token) -> Token:
        """Take the bracket that closes ``opened``."""
        closer = _CLOSERS[opened.text]
        if self.next.kind is Kind.END:
            raise self.error(f"`{opened.text}` opened here is never closed with `{closer}`", opened)
        return self.accept(closer) or self.fail(f"expected `{closer}`{self.after_last()}")

    def name(self, what: str, hint: str = "") -> Token:
        """Take a name; ``what`` says what for: "a name after `local`"."""
        if self.next.kind is Kind.NAME:
            return self.advance()
        keyword = f"`{self.next.text}` is a keyword" if self.next.text in KEYWORDS else ""
        return self.fail(f"expected {what}", keyword or hint)

    def text_of_name(self, what: str, hint: str = "") -> Text:
        """Take a name that stands for a string."""
        token = self.name(what, hint)
        return Text(token.text, start=token.start, end=token.end, line=token.line)

    def descend(self) -> None:
        """Go one level deeper; whoever does must `ascend`."""
        if self._depth >= NESTING_LIMIT:
            raise self.error(f"the script is nested more than {NESTING_LIMIT} levels deep here", self.next)
        self._depth += 1

    def ascend(self) -> None:
        """Come back from `descend`."""
        self._depth -= 1

    def fail(self, message: str, hint: str = "") -> NoReturn:
        """Complain about the next token."""
        found = "the script ends here" if self.next.kind is Kind.END else f"found `{shortened(self.next.text)}`"
        hint = hint or self._hint()
        raise self.error(f"{message}, but {found}" + (f" ({hint})" if hint else ""), self.next)

    def after_last(self) -> str:
        """The token taken last, for a message: " after `=`"."""
        return f" after `{shortened(self.last.text)}`" if self._place else ""

    def _hint(self) -> str:
        """What other languages have and Lua has not, where that is what comes next."""
        if self.next.kind is not Kind.SYMBOL:
            return ""
        pair = self.next.text + self._tokens[self._place + 1].text
        return f"Lua has no `{pair}`" if pair in _FOREIGN else ""

    @staticmethod
    def error(message: str, place: Token | Node) -> LuaSyntaxError:
        """An error on the line of something."""
        return LuaSyntaxError(message, line=place.line)


def shortened(text: str) -> str:
    """A part of a script as a message shows it: one line, and not a long one."""
    shown = text.split("\n", 1)[0][:_LONGEST_QUOTE]
    return shown if shown == text else f"{shown}..."
