"""What real controllers have made of workloads, in each state of the cases of ``make reality``: saved folders."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.clusters.saved import read_about, read_workloads
from karta_interpreter.engine.verification import Evidence

FOLDER = Path(__file__).parents[1] / "proofs" / "reality" / "recorded"
ABOUT, WORKLOADS = "member.json", "workloads.jsonl.gz"


@cache
def recorded() -> dict[GVK, list[Evidence]]:
    """Return the recorded states by kind. Their namespace tells the case and the state."""
    found: dict[GVK, list[Evidence]] = {}
    for folder in sorted(FOLDER.iterdir()):
        for evidence in states_of(folder):
            found.setdefault(GVK.of(evidence.object), []).append(evidence)
    return found


def states_of(folder: Path) -> Iterator[Evidence]:
    """Yield the states of one controller."""
    return read_workloads(folder, read_about(folder))


def state_of(evidence: Evidence) -> str:
    """Return the case and the step of a state."""
    return str(evidence.object["metadata"]["namespace"])
