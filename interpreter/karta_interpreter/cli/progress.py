"""Progress of work that takes seconds, for people who watch it."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

Item = TypeVar("Item")


def watched(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Yield the items; on a terminal a bar on stderr shows how many are done."""
    if not sys.stderr.isatty():
        yield from items
        return
    with click.progressbar(items, label=label, file=sys.stderr, show_pos=True) as bar:
        yield from bar
