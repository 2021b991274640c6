"""What a call costs in instructions, which do not depend on what else a machine does."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.proofs.benchmarks.day import by_operation, gvk_of, recorded, sample
from tests.proofs.benchmarks.servers import ROOT

PYTHON: Final = f"CPython {platform.python_version()}, "
"""How the names of figures begin: another CPython has other instructions."""
LOOKED_AT: Final = "Retain, looked at for fights"
_RETAIN: Final = "Retain"
_OBJECTS, _CALLS, _CALLS_OF_KIND = 5_000, 40, 5
_TOTAL: Final = re.compile(r"^totals: (\d+)$", re.MULTILINE)


def counted() -> dict[str, float]:
    """Return the instructions of a call of each operation, in floors; nothing where Valgrind cannot count.

    The floor is a fixed program in Python. It makes up for most of what a build of CPython changes.
    """
    floor, *calls = instructions().items()
    return {PYTHON + name: number / floor[1] for name, number in calls}


def instructions() -> dict[str, float]:
    """Return the instructions of the floor, then those of a call of each operation; no call where none are counted.

    The last ones are of a call of Retain that is looked at for fights, for which a server has a hundredth of its time.
    """
    nothing = {"floor": 1.0}
    several = samples(recorded())
    with TemporaryDirectory() as name:
        for operation, calls in several.items():
            folder = Path(name) / "calls" / operation
            folder.mkdir(parents=True)
            for number, body in enumerate(calls):
                (folder / f"{number:03}").write_bytes(body)
        totals = totals_of("counted", Path(name) / "calls", len(several) + 2)
    if not totals:
        return nothing
    floor, *of_parts, looked_at = map(float, totals)
    by_kind = {part: total for part, total in zip(several, of_parts, strict=True) if part.startswith(_RETAIN)}
    of_calls = {part: total / len(several[part]) for part, total in zip(several, of_parts, strict=True)}
    retained = sum(len(several[part]) for part in by_kind)
    return {"floor": floor, **of_calls, _RETAIN: sum(by_kind.values()) / retained, LOOKED_AT: looked_at / retained}


def samples(day: Sequence[bytes]) -> dict[str, list[bytes]]:
    """Return bodies of calls of a day by their operation, those of Retain by their kind, as many of each kind.

    What Retain costs depends on the rules of a kind more than on anything else. Otherwise a few calls about one kind
    could move its mean, or hide what another kind costs.
    """
    of_day = by_operation(day)
    by_kind: dict[str, list[bytes]] = {}
    for call in of_day.pop(_RETAIN):
        group, _, kind = gvk_of(call)
        by_kind.setdefault(f"{_RETAIN} of {kind}{group and f'.{group}'}", []).append(call)
    chosen = {operation: [*sample(calls, _OBJECTS, _CALLS, 0)] for operation, calls in of_day.items()}
    of_kinds = {name: [*sample(calls, _OBJECTS, _CALLS_OF_KIND, 0)] for name, calls in by_kind.items()}
    return dict(sorted({**chosen, **of_kinds}.items()))


def totals_of(module: str, bodies: Path, parts: int) -> list[int]:
    """Return the instructions of each part of a program that is given bodies, nothing where Valgrind cannot count."""
    if not shutil.which("valgrind") or platform.machine() != "x86_64":
        return []
    with TemporaryDirectory() as name:
        out = Path(name) / "out"
        command = "valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"
        program = sys.executable, "-m", f"tests.proofs.benchmarks.{module}", str(bodies)
        # The order of a set, and with it the instructions, depend on the seed.
        around = os.environ | {"PYTHONHASHSEED": "0"}
        done = subprocess.run([*command, *program], cwd=ROOT, env=around, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(f"Valgrind cannot count:\n{done.stderr[-2000:]}\n")
            return []
        return [_total(out.with_name(f"out.{number}")) for number in range(1, parts + 1)]


def _total(file: Path) -> int:
    found = _TOTAL.search(file.read_text())
    assert found, f"{file.name} has no sum"
    return int(found[1])
