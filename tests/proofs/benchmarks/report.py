"""What a section of the page is made of, and how it gets into the page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_BLOCK: Final = re.compile(r"(<!-- bench: (?P<name>[a-z-]+) -->\n)(?P<text>.*?)(<!-- bench: end -->\n)", re.DOTALL)
HEADLINE: Final = re.compile(r"^- \[Performance\]\(docs/performance\.md\): .*\n(?:  .*\n)*", re.MULTILINE)
"""The item of the README that says what was measured."""
NOTHING: Final = "-"
"""Stands in a table where there is no figure."""


class PageError(Exception):
    """The page has no place for something, or a place for something that is not there."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one section has found: texts for places of the pages, and what a call costs in floors, by name.

    ``conclusions`` are sentences for who reads nothing else. ``failures`` are figures that a gate forbids.
    """

    texts: Mapping[str, str]
    floors: Mapping[str, float] = field(default_factory=dict)
    conclusions: Sequence[str] = ()
    failures: Sequence[str] = ()


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; numbers stand on the right.

    >>> print(table(("size", "µs"), [("5 KB", "21.4")]), end="")
    | size | µs |
    |---|--:|
    | 5 KB | 21.4 |
    """
    lines = [tuple(row) for row in rows]
    rule = "|".join("--:" if _is_number(lines, place) else "---" for place in range(len(heads)))
    return f"| {' | '.join(heads)} |\n|{rule}|\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float) -> str:
    """Return a number with three digits that count, thousands apart.

    >>> number(0.0123), number(4.567), number(21.44), number(158.6), number(47123.0)
    ('0.0123', '4.57', '21.4', '159', '47,100')
    """
    if value == 0:
        return "0"
    digits = 2
    while abs(value) >= 10 ** (3 - digits) and digits > -6:
        digits -= 1
    while abs(value) < 10 ** (2 - digits) and digits < 6:
        digits += 1
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def fill_pages(pages: Mapping[Path, str], blocks: Mapping[str, str]) -> dict[Path, str]:
    """Return pages with these texts, each in the page that has its place; raises PageError."""
    places = {match["name"] for page in pages.values() for match in _BLOCK.finditer(page)}
    if missing := sorted(set(blocks) - places):
        raise PageError(f"no page has a place for {', '.join(missing)}")
    return {path: fill(page, blocks) for path, page in pages.items()}


def fill(page: str, blocks: Mapping[str, str]) -> str:
    """Return the page with these texts in their places, if it has any, and other places as they were.

    A place begins with a line ``<!-- bench: name -->`` and ends with ``<!-- bench: end -->``.
    """

    def filled(match: re.Match[str]) -> str:
        return f"{match[1]}{blocks.get(match['name'], match['text'])}{match[4]}"

    return _BLOCK.sub(filled, page)


def _is_number(rows: Sequence[Sequence[str]], place: int) -> bool:
    cells = [row[place] for row in rows if row[place] != NOTHING]
    return bool(cells) and all(re.fullmatch(r"-?[0-9.,]+( %)?", cell) for cell in cells)
