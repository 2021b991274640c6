"""Colours of console blocks: commands as those of a shell, and their output as YAML or JSON where it is that."""

import re
from collections.abc import Iterator
from typing import Any

from pygments.lexer import Lexer, do_insertions
from pygments.lexers.data import JsonLexer, YamlLexer
from pygments.lexers.shell import BashLexer
from pygments.token import Error, Generic

# A command with the lines that continue it, and its output.
_PART = re.compile(r"^\$ .*\n(?:> .*\n)*|(?:^(?!\$ ).*\n)+", re.MULTILINE)
_LANGUAGES = (
    (re.compile(r"[{\[]"), JsonLexer),
    (re.compile(r"(?!error:)(---|# |- \w+:|(?:\.\.\.\n)?\s*[\w.-]+:(?: |$))", re.MULTILINE), YamlLexer),
)


class TerminalLexer(Lexer):  # type: ignore[misc]  # pygments has no types
    """Text behind ``$ `` and ``> `` is a command; what follows is its output."""

    name = "terminal"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Yield each token with its index in the text."""
        for part in _PART.finditer(text):
            yield from _command(part) if part[0].startswith("$ ") else _output(part)


def _command(part: re.Match[str]) -> Iterator[tuple[int, Any, str]]:
    code, prompts = "", []
    for line in part[0].splitlines(keepends=True):
        prompts.append((len(code), [(0, Generic.Prompt, line[:2])]))
        code += line[2:]
    yield from do_insertions(prompts, _by(BashLexer, code, part.start()))


def _output(part: re.Match[str]) -> Iterator[tuple[int, Any, str]]:
    lexer = next((lexer for first, lexer in _LANGUAGES if first.match(part[0])), None)
    if lexer is None:
        yield part.start(), Generic.Output, part[0]
    else:
        yield from _by(lexer, part[0], part.start())


def _by(lexer: type[Lexer], text: str, at: int) -> Iterator[tuple[int, Any, str]]:
    for index, token, value in lexer().get_tokens_unprocessed(text):
        yield at + index, Generic.Output if token is Error else token, value
