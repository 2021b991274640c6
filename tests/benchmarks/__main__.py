"""Measure the server as `serve` starts it, and write the table into docs/performance.md.

The server is pinned to one core and the load to another; rounds over the cases are interleaved and each figure is
the median of its rounds. CPU per request is what the operating system accounts to the server's process.
"""

import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import uvloop

from tests.benchmarks.load import Load
from tests.benchmarks.workload import HOT_OPERATIONS, deployment, ray_cluster, request_body

PAGE = Path("docs/performance.md")
BEGIN, END = "<!-- bench: begin -->\n", "<!-- bench: end -->\n"
KINDS = {"Deployment": deployment, "RayCluster": ray_cluster}
SIZES = {"5 KB": 5 * 1024, "24 KB": 24 * 1024}
CONNECTIONS = 8
ROUNDS = 5
SECONDS = 2.0
WARM_UP_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Case:
    """One operation on one size, with a figure per round."""

    operation: str
    kind: str
    size: str
    body: bytes
    cpu: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)

    def row(self) -> str:
        """Return the medians as a row of the table, times in microseconds."""
        cpu, rate, p50, p99 = map(statistics.median, (self.cpu, self.rate, self.p50, self.p99))
        figures = f"{cpu:.1f} | {1e6 / cpu:,.0f} | {rate:,.0f} | {p50:.0f} | {p99:.0f}"
        return f"| {self.operation} | {self.kind}, {self.size} | {figures} |"


def main() -> None:
    """Run all rounds and write the page."""
    cases = [
        Case(operation, kind, size, request_body(operation, length, make))
        for size, length in SIZES.items()
        for kind, make in KINDS.items()
        for operation in HOT_OPERATIONS
    ]
    cores = sorted(os.sched_getaffinity(0))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "interpreter", "serve", "--port", str(port)],
            stderr=log,
            preexec_fn=lambda: os.sched_setaffinity(0, cores[:1]),  # noqa: PLW1509 - no threads yet
        )
        try:
            os.sched_setaffinity(0, cores[-1:])
            _await_listening(server, port)
            for number in range(ROUNDS + 1):
                for case in cases:
                    _measure(case, server.pid, port, warm_up=number == 0)
        finally:
            server.terminate()
            server.wait(30)
    table = _table(cases)
    sys.stdout.write(table)
    _write(table)


def _await_listening(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(200):
        if server.poll() is not None:
            raise SystemExit(f"the server ended with {server.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("the server does not listen")


def _measure(case: Case, pid: int, port: int, *, warm_up: bool) -> None:
    load = Load("127.0.0.1", port, case.body)
    before, start = _cpu_seconds(pid), time.perf_counter()
    uvloop.run(load.run(CONNECTIONS, WARM_UP_SECONDS if warm_up else SECONDS))
    elapsed, spent = time.perf_counter() - start, _cpu_seconds(pid) - before
    if warm_up:
        return
    count = len(load.latencies)
    quantiles = statistics.quantiles(load.latencies, n=100)
    case.cpu.append(1e6 * spent / count)
    case.rate.append(count / elapsed)
    case.p50.append(1e6 * quantiles[49])
    case.p99.append(1e6 * quantiles[98])


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _table(cases: list[Case]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("aiohttp", "uvloop", "orjson", "pydantic"))
    setting = (
        f"`make bench` on one core of {_processor()} ({os.cpu_count()} cores), {platform.system()}, "
        f"CPython {platform.python_version()}, {packages}; {CONNECTIONS} TLS keep-alive connections, "
        f"median of {ROUNDS} rounds of {SECONDS:.0f} s."
    )
    heads = ("operation", "object", "CPU µs per request", "requests/s per core", "requests/s seen", "p50 µs", "p99 µs")
    head, line = f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"
    return "\n".join([setting, "", head, line, *(case.row() for case in cases), ""])


def _processor() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    return names[0] if names else platform.machine()


def _write(table: str) -> None:
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    PAGE.write_text(f"{head}{BEGIN}{table}{END}{tail}")


if __name__ == "__main__":
    main()
