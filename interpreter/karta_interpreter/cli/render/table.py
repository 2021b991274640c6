"""Text in columns."""

import re
from collections.abc import Sequence

import click

from karta_interpreter.findings import escaped
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.values import JSON

_GAP = "  "
_STYLE = re.compile(r"(\x1b\[(?:[01]|3[0-7]|22)m)")
"""What `click.style` writes for the colours and the bold text of this program."""


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> str:
    """The rows with their columns aligned, every line ending in a newline; colours do not count as width.

    >>> print(table([["a", "long"], ["bb", "x"]], header=["K", "V"]), end="")
    K   V
    a   long
    bb  x
    """
    lines = [*([header] if header else []), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    return "".join(_line(cells, widths) for cells in lines)


def one_line(text: str) -> str:
    r"""Return a text as one line, control characters and line breaks escaped, its colours as they are.

    >>> print(one_line("a\nb\x1b[2J"))
    a\nb\x1b[2J
    """
    return "".join(part if place % 2 else escaped(part) for place, part in enumerate(_STYLE.split(text)))


def full_name(metadata: JSON) -> str:
    """The namespace, if any, and the name in an object's metadata or in a reference to an object.

    >>> full_name({"namespace": "default", "name": "web"}), full_name({"name": "web"}), full_name(None)
    ('default/web', 'web', '')
    """
    names = (get(metadata, (field,)) for field in ("namespace", "name"))
    return "/".join(name for name in names if isinstance(name, str) and name)


def indent(text: str, prefix: str = "  ") -> str:
    """The text with every line moved to the right."""
    return "".join(prefix + line for line in text.splitlines(keepends=True))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip() + "\n"


def _width(cell: str) -> int:
    return len(click.unstyle(cell))
