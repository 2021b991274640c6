"""What a GitOps tool is asked by exported health checks, and what came of it."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.export.gitops import by_kind
from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance.mutation import mutate


def kinds() -> Iterator[list[tuple[Definition, Entry]]]:
    """Yield the versions of each kind of the catalogue."""
    entry_of = {entry.definition.gvk: entry for entry in entries() if entry.definition}
    for versions in by_kind(entry.definition for entry in entry_of.values() if entry.definition):
        yield [(each, entry_of[each.gvk]) for each in versions]


@dataclass
class Tally:
    """The verdicts that were compared, by verdict; the kinds that cannot be exported; the differences.

    ``wanted`` are verdicts that some object must have, or nothing was compared.
    """

    wanted: tuple[str, ...]
    verdicts: Counter[str] = field(default_factory=Counter)
    kinds: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counted = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.most_common())
        rejected = ", ".join(self.rejected)
        return f"{self.kinds} kinds, {self.verdicts.total()} verdicts: {counted}\nnot exported: {rejected}"

    def failures(self) -> Iterator[str]:
        """Yield what differs, and whether nothing was compared at all."""
        yield from self.differences
        for verdict in self.wanted:
            if not self.verdicts[verdict]:
                yield f"no object is {verdict}: nothing was compared"


def objects_of(entry: Entry, mutants: int, is_impossible: Callable[[JSON], bool]) -> Iterator[tuple[Object, bool]]:
    """Yield each object of a case and copies of it with changed statuses, and whether an expression may fail on it.

    A changed status that ``is_impossible`` is left out.
    """
    cases = [obj for case in entry.cases for obj in (case.call.object, case.call.observed) if obj]
    for number, obj in enumerate({json.dumps(obj): obj for obj in cases if "metadata" in obj}.values()):
        yield obj, not {"spec", "status"} <= obj.keys()
        for seed in range(mutants if "status" in obj else 0):
            status = mutate({"status": obj["status"]}, number * mutants + seed).get("status")
            if not is_impossible(status):
                yield {**obj, "status": status}, True
