"""Why an exported script may answer a changed object otherwise than its Karta: the rows of ``customizations.yaml``."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.engine.operations import Call, Operation
from tests.proofs.conformance.changed_calls import each_value, with_exact_numbers, without_empty, without_nulls

Differs: TypeAlias = Callable[[Call], str]
"""Ask an engine about a call; the text of the difference, nothing where there is none."""

_CAUSES: Mapping[str, Callable[[JSON], JSON]] = {
    "nulls": without_nulls,
    "large numbers": with_exact_numbers,
    "empty values": without_empty,
}


@dataclass(frozen=True)
class Reason:
    """One row: it applies to differences that end without ``causes``, or to those in which ``pattern`` is found."""

    text: str
    operations: frozenset[Operation]
    causes: Sequence[str] = ()
    pattern: str = ""

    def excuses(self, operation: Operation, call: Call, difference: str, differs: Differs) -> bool:
        """Whether this is why the answers to a call differ."""
        if operation not in self.operations:
            return False
        if self.pattern:
            return re.search(self.pattern, difference) is not None
        without = call
        for cause in self.causes:
            without = each_value(without, _CAUSES[cause])
        return without != call and not differs(without)


@cache
def reasons() -> tuple[Reason, ...]:
    """All rows, in the order in which they are tried."""
    file = Path(__file__).with_name("customizations.yaml")
    (document,) = read_documents(file.read_text(encoding="utf-8"), file.name)
    return tuple(
        Reason(
            row["reason"],
            frozenset(map(Operation, row.get("operations", Operation))),
            tuple(row.get("without", ())),
            row.get("difference", ""),
        )
        for row in document.value
    )
