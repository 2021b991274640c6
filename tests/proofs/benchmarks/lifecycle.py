"""What happens rarely: a start, a command, and growing old."""

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Final

from tests.proofs.benchmarks.day import recorded
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort, sampled
from tests.proofs.benchmarks.servers import ROOT

_FEW, _MANY = 200, 20_000
_MOST_MEMORY: Final = 1.1
"""How many times the memory of a server of few objects one of many may take."""
_KARTA: Final = str(ROOT / "kartas" / "apps" / "v1" / "Deployment" / "karta.yaml")
_MODULE: Final = ("-m", "karta_interpreter")


def memory(field: Field, effort: Effort) -> Part:
    """Measure resident memory after as many calls about few and about many objects; fails above the gate."""
    rows, found = [], []
    for objects in (_FEW, _MANY):
        with (
            field.bay.ours(f"{objects} objects") as server,
            sampled(recorded(), objects, effort.memory, 0) as files,
        ):
            before = server.memory()
            field.load.run(server, files, 0)
            found.append(server.memory())
        rows.append((f"{objects:,}", number(before), f"{len(files):,}", number(found[-1])))
    ratio = found[1] / found[0]
    said = (
        f"After {effort.memory:,} calls about {_MANY:,} objects the server takes {number(found[1])} MiB, "
        f"**{ratio:.2f}** times as much as after as many calls about {_FEW}."
    )
    failures = [f"memory: {ratio:.2f} times, more than {_MOST_MEMORY}"] if ratio > _MOST_MEMORY else []
    heads = ("objects", "MiB after the start", "calls", "MiB after them")
    return Part({"memory": table(heads, rows)}, conclusions=(said,), failures=failures)


def start(field: Field, effort: Effort) -> Part:
    """Measure how long a server takes until it listens, an import of the library, and commands."""

    def served() -> float:
        with field.bay.ours("fresh") as server:
            return server.started_in

    asked: dict[str, Callable[[], float]] = {
        "`serve`, until it listens": served,
        "Python alone": lambda: _seconds("-c", "pass"),
        "`import karta_interpreter`": lambda: _seconds("-c", "import karta_interpreter"),
        "`karta-interpreter --version`": lambda: _seconds(*_MODULE, "--version"),
        "`karta-interpreter validate` of one definition": lambda: _seconds(*_MODULE, "validate", _KARTA),
        "`karta-interpreter test` of one definition": lambda: _seconds(
            *_MODULE, "test", str(ROOT / "kartas" / "apps" / "v1" / "Deployment")
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(effort.starts):
        for name, act in asked.items():
            found[name].append(act())
    rows = [(name, f"{median(several):.2f}") for name, several in found.items()]
    return Part({"start": table(("", "seconds"), rows)})


def _seconds(*arguments: str) -> float:
    begun = time.monotonic()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun
