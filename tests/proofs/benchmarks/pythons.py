"""Compare CPythons: processor time per request of this server, each run from a root file system of its own.

``python -m tests.proofs.benchmarks.pythons 3.11=ROOT 3.13=ROOT`` prints a table; the first one is what the others are
compared with. Each ROOT holds the Python of that name, and this project with what it requires in /app, as in the image.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.figures import mean_cpu
from tests.proofs.benchmarks.golang import build
from tests.proofs.benchmarks.load import Load
from tests.proofs.benchmarks.report import number, table
from tests.proofs.benchmarks.rounds import Case, measure
from tests.proofs.benchmarks.servers import Bay, Server, pin_to_clients_core, serving
from tests.proofs.benchmarks.workload import OPERATIONS, Make, deployment, pytorch_job, ray_cluster

_KINDS: Final[Mapping[str, Make]] = {"Deployment": deployment, "RayCluster": ray_cluster, "PyTorchJob": pytorch_job}
_SIZES: Final[Mapping[str, int]] = {"5 KB": 5 * 1024, "24 KB": 24 * 1024, "100 KB": 100 * 1024}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks.pythons", description=__doc__)
    parser.add_argument("roots", nargs="+", metavar="VERSION=ROOT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each case in each round")
    options = parser.parse_args()
    roots = dict(root.split("=", 1) for root in options.roots)
    if not (programs := build()):
        sys.exit("The load generator needs Go.")
    pin_to_clients_core()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        bay = Bay(Path(folder))
        servers = [stack.enter_context(_serving(name, Path(root))) for name, root in roots.items()]
        floor, load = stack.enter_context(bay.floor()), stack.enter_context(Load(programs.load))
        field = Field(servers[0], floor, None, load, bay, Path(folder))
        found = _measure(field, servers, options.rounds, options.seconds)
        sys.stdout.write(_table(servers, found))


@contextmanager
def _serving(version: str, root: Path) -> Iterator[Server]:
    python = "chroot", str(root), f"/usr/bin/python{version}"
    about = "import platform; print(platform.python_version())"
    name = subprocess.run([*python, "-c", about], check=True, capture_output=True, text=True).stdout.strip()
    with serving(name, python, PYTHONPATH="/app") as server:
        yield server


def _measure(field: Field, servers: Sequence[Server], rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Return the mean CPU of all operations and kinds by size, by server."""
    cases = {
        (server.name, size): [
            Case(server, field.bodies(operation, length, make)) for make in _KINDS.values() for operation in OPERATIONS
        ]
        for size, length in _SIZES.items()
        for server in servers
    }
    turns = [case for same in zip(*cases.values(), strict=True) for case in same]
    measure(turns, field.load, rounds, seconds)
    return {
        server.name: {size: mean_cpu(case.found for case in cases[server.name, size]) for size in _SIZES}
        for server in servers
    }


def _table(servers: Sequence[Server], found: Mapping[str, Mapping[str, float]]) -> str:
    first = found[servers[0].name]
    heads = ["CPython", *(head for size in _SIZES for head in (f"{size}: CPU µs", "ratio")), "MiB after them"]
    rows = [
        [
            server.name,
            *(cell for size in _SIZES for cell in (number(cpu[size]), f"{cpu[size] / first[size]:.2f}")),
            number(server.memory()),
        ]
        for server, cpu in ((server, found[server.name]) for server in servers)
    ]
    return table(heads, rows)


if __name__ == "__main__":
    main()
