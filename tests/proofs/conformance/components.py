"""The contract of components, kept by exported scripts in Karmada's own VM.

Karmada compares what a script answers before and after each change of an object, as `tests/catalogue` says of Kartas.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from karta_interpreter.base.errors import ExportError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.component_changes import Step, has_several_pod_sets, steps
from tests.catalogue.entries import entries
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Outcome, Question

_OPERATIONS = (Operation.INTERPRET_COMPONENT, Operation.INTERPRET_REPLICA)


@dataclass
class Tally:
    """What was tried; ``violations`` has a text for each change after which the contract is broken."""

    kinds: int = 0
    rejected: list[str] = field(default_factory=list)
    changes: int = 0
    violations: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        without = f"; not exported: {', '.join(self.rejected)}" if self.rejected else ""
        return f"{self.changes} changes of {self.kinds} kinds, {len(self.violations)} break the contract{without}"

    def failures(self) -> Iterator[str]:
        """Yield the violations, and whether nothing was tried."""
        yield from self.violations
        if not self.changes:
            yield "no change was tried"


def compare(peer: Peer, changes: int) -> Tally:
    """Ask Karmada's VM before and after that many changes to objects of each kind with several pod sets."""
    tally = Tally()
    for entry in filter(has_several_pod_sets, entries()):
        definition = entry.definition
        assert definition
        try:
            # The sum over the components is the number of pods, also where groups are counted.
            scripts = [_script(definition.in_pods, operation) for operation in _OPERATIONS]
        except ExportError:
            tally.rejected.append(definition.gvk.kind)
            continue
        tried = list(islice(steps(definition, entry.objects, entry.reported), changes))
        tally.kinds += 1
        tally.changes += len(tried)
        tally.violations += (f"{definition.gvk} {problem}" for problem in _violations(peer, scripts, tried))
    return tally


def _script(definition: Definition, operation: Operation) -> Script | None:
    if not definition.answers(operation):
        return None
    return Script(operation, script_of(definition, operation), definition.name)


def _violations(peer: Peer, scripts: Iterable[Script | None], tried: list[Step]) -> Iterator[str]:
    component, replica = scripts
    assert component
    before = peer.answers(Question((component,), step.obj) for step in tried)
    after = peer.answers(Question((component,), step.change.obj) for step in tried)
    totals: Iterable[Outcome | None] = [None] * len(tried)
    if replica:
        totals = peer.answers(Question((replica,), step.change.obj) for step in tried)
    for step, old, new, total in zip(tried, list(before), list(after), list(totals), strict=True):
        if old.results is None:
            yield f"{step.law}: {old}"
            continue
        components_after = None if new.results is None else new.results["components"]
        sum_after = total.results["replica"] if total and total.results else None
        if problem := step.violation(old.results["components"], components_after, sum_after):
            yield f"{problem}\n  {old}\n  {new}\n  {total}"
