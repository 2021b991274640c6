"""Text in columns."""

from collections.abc import Sequence

import click

_GAP = "  "


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> str:
    """The rows with their columns aligned, every line ending in a newline; colours do not count as width.

    >>> print(table([["a", "long"], ["bb", "x"]], header=["K", "V"]), end="")
    K   V
    a   long
    bb  x
    """
    lines = [header, *rows] if header else rows
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    return "".join(_line(cells, widths) for cells in lines)


def indent(text: str, prefix: str = "  ") -> str:
    """The text with every line moved to the right."""
    return "".join(prefix + line for line in text.splitlines(keepends=True))


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "pod"), count(0, "warning")
    ('1 pod', '0 warnings')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip() + "\n"


def _width(cell: str) -> int:
    return len(click.unstyle(cell))
