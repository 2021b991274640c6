"""What a case found out, one line for each thing that was compared."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.proofs.rig.api import Object


@dataclass(frozen=True, slots=True)
class Finding:
    """One comparison: ``what`` was compared, and ``problem`` is the difference, empty where there is none."""

    what: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """A state of a case: what is saved of its workload, and the objects that its definition looks up."""

    name: str
    workload: Object
    references: tuple[Object, ...] = ()


@dataclass(slots=True)
class Outcome:
    """Everything that one case found. ``racing`` are the names of states that another run may not have."""

    case: str
    controller: str
    kind: str
    api_version: str
    findings: list[Finding] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    racing: frozenset[str] = frozenset()
    seconds: float = 0.0

    def problems(self) -> Iterator[Finding]:
        return (finding for finding in self.findings if finding.problem)
