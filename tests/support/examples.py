"""How much laws and sweeps are tried on: `make test` tries few examples of each, `make laws` many (`EXAMPLES=200`).

A law is tried on what is made up for it, and pytest marks it ``hypothesis`` where Hypothesis makes it up. A test with
the mark ``sweep`` asks about the cases of the catalogue's suites, or what is made of them: `make test` asks each
about one kind in twelve, or in six, and takes a case of each operation of them; 100 examples or more stand for
everything.
"""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

EXAMPLES = int(os.environ.get("EXAMPLES", "4"))
CHANGES = int(os.environ.get("CHANGES", str(EXAMPLES * 6)))
"""How many changes of objects a law is tried on for each kind, where a change costs less than an example."""
SWEEPS_ALL = EXAMPLES >= 100
"""Whether a sweep takes everything: only then can it show that nothing is left over."""


def swept(cases: Iterable[T], sort: Callable[[T], Hashable]) -> list[T]:
    """Return the first cases of each sort, one for every ten examples, or all of them."""
    most, seen, found = max(1, EXAMPLES // 10), Counter[Hashable](), list[T]()
    for case in cases:
        seen[sort(case)] += 1
        if SWEEPS_ALL or seen[sort(case)] <= most:
            found.append(case)
    return found


def few(kinds: Sequence[T], test: str) -> Sequence[T]:
    """Return every sixth of many kinds, chosen by the name of the test, or all kinds."""
    return kinds if SWEEPS_ALL or len(kinds) < 9 else kinds[len(test) % 6 :: 6]
