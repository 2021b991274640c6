"""Outcomes that are accepted for a reason: what differs without one fails a part, and so does a reason without a use.

A file has entries with a ``reason`` and its ``outcomes``, patterns in which * stands for any text. The subject of an
entry may have to fulfil ``when``, an expression of jq, in which ``lacks(.a.b)`` is true if no such field has a value.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jq
import yaml

from karta_interpreter.base.k8s.values import JSON

_LACKS = 'def lacks(f): [f] - [null, {}, [], ""] == []; '


class Row(NamedTuple):
    """One pattern of an entry."""

    pattern: str
    reason: str
    when: Any = None

    def explains(self, outcome: str, subject: JSON = None) -> bool:
        """Return whether this is a reason for an outcome of what is asked about a subject."""
        fits = re.fullmatch(".*".join(map(re.escape, self.pattern.split("*"))), outcome, re.DOTALL)
        return fits is not None and (self.when is None or bool(self.when.input_text(json.dumps(subject)).first()))


class Reasons:
    """The entries of a file, and the outcomes that were counted."""

    def __init__(self, file: Path) -> None:
        self._file = file.name
        self.rows = [
            Row(pattern, entry["reason"], jq.compile(_LACKS + entry["when"]) if "when" in entry else None)
            for entry in yaml.safe_load(file.read_text(encoding="utf-8"))
            for pattern in entry["outcomes"]
        ]
        self._used: Counter[Row] = Counter()
        self.unexplained: dict[str, list[str]] = {}

    def of(self, outcome: str, subject: JSON = None) -> Row | None:
        """Return the first row with a reason for an outcome."""
        return next((row for row in self.rows if row.explains(outcome, subject)), None)

    def count(self, outcome: str, example: str = "", subject: JSON = None) -> None:
        """Count an outcome that needs a reason."""
        if row := self.of(outcome, subject):
            self._used[row] += 1
        else:
            self.unexplained.setdefault(outcome, []).append(example)

    def __str__(self) -> str:
        by_reason: Counter[str] = Counter()
        for row, count in self._used.items():
            by_reason[row.reason] += count
        lines = [f"{sum(map(len, self.unexplained.values()))} without a reason"]
        return "\n".join([*lines, *(f"  {count} have one: {reason}" for reason, count in by_reason.most_common())])

    def failures(self, kinds: Container[str] | None = None) -> Iterator[str]:
        """Yield the outcomes without a reason, each with its shortest example, and the patterns without an outcome.

        Patterns that begin with a kind that was not asked are left out.
        """
        for outcome, examples in sorted(self.unexplained.items()):
            example = min(examples, key=len)
            yield f"{outcome}, {len(examples)} times: repair it, or give the reason in {self._file}\n{example}"
        for row in self.rows:
            if row not in self._used and (kinds is None or row.pattern.partition(" ")[0] in kinds):
                yield f"{row.pattern}: nothing is so any more, remove the reason from {self._file}"
