"""The one writer of commands: what goes to stdout and stderr."""

import re

import click

from karta_interpreter.base.findings import escaped

_STYLE = re.compile(r"(\x1b\[(?:[01]|3[0-7]|22)m)")
"""The output of `click.style` for the colours and the bold text of this program."""
_WORKFLOW_COMMAND = re.compile(r"^([^\S\n]*+(?:\x1b\[\d+m[^\S\n]*+)*+)::", re.MULTILINE)
"""A line that GitHub would take for a command."""


class Data(str):
    """Text for machines, which has rules of its own and is written as it is."""

    __slots__ = ()


def one_line(text: str, keep: str = "") -> str:
    r"""Return a text as one line: all that is no visible character is escaped, but for its colours and what to keep.

    >>> print(one_line("a\nb\x1b[2J"))
    a\nb\x1b[2J
    """
    return "".join(part if place % 2 else escaped(part, keep) for place, part in enumerate(_STYLE.split(text)))


def plain(text: str) -> str:
    r"""Return text for people: nothing in it acts on a terminal or on GitHub's log. Colours, tabs and lines stay.

    >>> print(plain("a\n ::error::x\x1b[2J\u202e"))
    a
     \::error::x\x1b[2J\u202e
    """
    return _WORKFLOW_COMMAND.sub(r"\1\\::", one_line(text, "\t\n"))


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Write to stdout or stderr: `Data` as it is, anything else as `plain` text."""
    click.echo(text if isinstance(text, Data) else plain(str(text)), err=err, nl=nl)
