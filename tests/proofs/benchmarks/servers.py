"""Servers on a core of their own: ours as `serve` starts it, and Karmada's example webhook."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.processes import free_port, listens

SERVICE = "interpreter"
INTERPRET, EXAMPLE = "/interpret", "/interpreter-workload"
_NAMES = (f"{SERVICE}.karmada-system.svc", "localhost")
ROOT = Path(__file__).parents[3]
_PATIENCE, _PAUSE = 180.0, 0.01
_CLOCK_OF_PROCESS = 2  # CPUCLOCK_SCHED of Linux' include/linux/posix-timers.h
_KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
users: [{name: none, user: {}}]
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs; ``started_in`` is the time until it listened, in seconds, ``log`` what it writes."""

    name: str
    pid: int
    port: int
    path: str
    started_in: float
    log: Path

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def cpu(self) -> float:
        """The seconds of processor time that it and the processes it started have had, ended ones included."""
        return sum(_cpu(pid) for pid in family(self.pid))

    def memory(self) -> float:
        """Its resident memory in MiB, with that of the processes that it started."""
        return sum(self.resident())

    def resident(self) -> list[float]:
        """The resident memory in MiB: its own, and that of each process that it started."""
        return [_resident(pid) for pid in family(self.pid)]


class Bay:
    """Where servers are started, with certificates from one authority (ECDSA, P-256)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = Authority(folder / "authority")
        self._certificate, self._key = self._authority.server("tls", *_NAMES)
        (folder / "kubeconfig").write_text(_KUBECONFIG)

    @property
    def authority(self) -> bytes:
        """The certificate that clients are to trust, PEM."""
        return self._authority.bundle

    @property
    def files(self) -> tuple[str | Path, ...]:
        """The options of `serve` that name the certificate and its key."""
        return "--certificate-file", self._certificate, "--key-file", self._key

    @contextmanager
    def ours(self, name: str, *options: str | Path, on: Sequence[int] | None = None) -> Iterator[Server]:
        """Run `serve` with some options, on the servers' core or others; raises MeasurementError if that fails."""
        with serving(name, (sys.executable,), *self.files, *options, on=on) as server:
            yield server

    @contextmanager
    def of_commit(self, commit: str, *options: str | Path) -> Iterator[Server]:
        """Run `serve` as it was at a commit; raises as `ours`."""
        archive = subprocess.run(
            ["git", "archive", commit, "interpreter", "kartas"], cwd=ROOT, capture_output=True, check=False
        )
        if archive.returncode:
            raise MeasurementError(archive.stderr.decode())
        source = self._folder / "before"
        source.mkdir()
        subprocess.run(["tar", "--extract", "--directory", source], input=archive.stdout, check=True)
        python = str(source / "interpreter")
        with serving(f"this server at {commit}", (sys.executable,), *self.files, *options, PYTHONPATH=python) as server:
            yield server

    @contextmanager
    def floor(self) -> Iterator[Server]:
        """Run the server that knows the answer; raises as `ours`."""
        command = sys.executable, "-m", "tests.proofs.benchmarks.floor", self._certificate, self._key
        with _running("knows the answer, in Python", command, INTERPRET, {}) as server:
            yield server

    @contextmanager
    def peer(self, name: str, program: Path, **environment: str) -> Iterator[Server]:
        """Run a webhook in Go that has the options of Karmada's example, and no API server; raises as `ours`."""
        command = program, "--cert-dir", self._certificate.parent, "--bind-address", "127.0.0.1", "--secure-port"
        known = {"KUBECONFIG": str(self._folder / "kubeconfig"), **environment}
        with _running(name, command, EXAMPLE, known) as server:
            yield server


@contextmanager
def serving(
    name: str, python: Sequence[str], *options: str | Path, on: Sequence[int] | None = None, **environment: str
) -> Iterator[Server]:
    """Run `serve` with a Python; raises MeasurementError if that fails."""
    command = *python, "-m", "karta_interpreter", "serve", "--grace-period", "0", *options, "--port"
    with _running(name, command, INTERPRET, environment, on) as server:
        yield server


@contextmanager
def serving_types(name: str, python: Sequence[str], *options: str | Path, on: Sequence[int] | None) -> Iterator[Server]:
    """Run `types-api` with a Python; raises MeasurementError if that fails."""
    command = *python, "-m", "karta_interpreter", "types-api", *options, "--port"
    with _running(name, command, "", {}, on) as server:
        yield server


def cores() -> list[int]:
    """Return the two cores of this: servers get the first, who asks them the second; fewer where there are none."""
    return [*_CORES[:1], *_CORES[1:][-1:]]


def pin_to_clients_core() -> None:
    """Leave the servers' core alone from now on; what is started inherits that."""
    os.sched_setaffinity(0, _CORES[-1:])


@contextmanager
def started_on(cores: Sequence[int]) -> Iterator[None]:
    """Have what is started inside of the block run on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# Asked before anything is pinned.
_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


@contextmanager
def _running(
    name: str, command: Sequence[str | Path], path: str, environment: Mapping[str, str], on: Sequence[int] | None = None
) -> Iterator[Server]:
    port = free_port()
    around = {key: value for key, value in os.environ.items() if not key.startswith("KARTA_INTERPRETER_")}
    with NamedTemporaryFile() as log:
        begun = time.monotonic()
        with started_on(on or _CORES[:1]):
            process = subprocess.Popen(
                [*map(str, command), str(port)], env={**around, **environment}, stdout=log, stderr=log
            )
        try:
            if not _listens(process, port):
                log.seek(0)
                sys.stderr.buffer.write(log.read()[-2000:])
                raise MeasurementError(f"{name} does not start")
            yield Server(name, process.pid, port, path, time.monotonic() - begun, Path(log.name))
        finally:
            _stop(process)


def _listens(process: "subprocess.Popen[bytes]", port: int) -> bool:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if listens(port):
            return True
        time.sleep(_PAUSE)
    return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            parents.setdefault(int(_fields(stat)[1]), []).append(int(stat.parent.name))
    found = [pid]
    for member in found:
        found += parents.get(member, [])
    return found


def _cpu(pid: int) -> float:
    """Return the seconds of a process with all its threads, to the nanosecond, and of its children that have ended."""
    try:
        own = time.clock_gettime((~pid << 3) | _CLOCK_OF_PROCESS)
        user, system = _fields(Path(f"/proc/{pid}/stat"))[13:15]
    except OSError:
        return 0.0  # it has ended; its parent has its time
    return own + (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _fields(stat: Path) -> list[str]:
    """Return what follows the name in a file ``/proc/PID/stat``; the state comes first."""
    return stat.read_text().rpartition(")")[2].split()
