"""Plain processes on loopback: started with a log each, and stopped by their ids."""

import atexit
import ctypes
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PATIENCE = 60.0
_LOOPBACK = "127.0.0.1"
_PORTS = range(20_000, 30_000)
"""Below those that Linux gives to connections, and to programs that ask for any port."""
_claims = ExitStack()
atexit.register(_claims.close)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


def free_port() -> int:
    """Return a TCP port that nothing listens on, and that no other call returns until this process ends.

    The UDP port of the same number is the claim: the kernel gives it to one socket at a time, in this run or in one
    next to it. Raises OSError when all ports are taken.
    """
    for port in _PORTS:
        claim = socket.socket(type=socket.SOCK_DGRAM)
        try:
            claim.bind((_LOOPBACK, port))
            with socket.socket() as probe:
                probe.bind(("", port))
        except OSError:
            claim.close()
        else:
            _claims.enter_context(claim)
            return port
    message = f"no port from {_PORTS.start} to {_PORTS.stop - 1} is free"
    raise OSError(message)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((_LOOPBACK, port), timeout=1):
        return True
    return False


@dataclass
class Process:
    """A running program."""

    name: str
    child: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        return self.child.poll() is None

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, wait for the end, and return the exit code; kill what does not end."""
        self.child.send_signal(number)
        try:
            return self.child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait()

    def tail(self, lines: int = 5) -> str:
        text = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  {self.name}: {line[:240]}" for line in text[-lines:])


@dataclass
class Processes:
    """The programs of one run, each with its log in ``folder``."""

    folder: Path
    running: dict[str, Process] = field(default_factory=dict)

    def start(
        self,
        name: str,
        *command: str | Path,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> Process:
        """Start a program; one of the same name is started anew with the same log.

        ``environment`` has variables next to those of the tests.
        """
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                cwd=directory,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - one system call, and nothing is left behind by a kill
            )
        self.running[name] = Process(name, child, log)
        return self.running[name]

    def stop(self, *names: str) -> None:
        for name in names:
            self.running.pop(name).stop()

    def stop_all(self) -> None:
        for process in reversed(self.running.values()):
            if process.alive:
                process.child.kill()
                process.child.wait()
        self.running.clear()

    def tails(self) -> str:
        return "\n".join(process.tail() for process in self.running.values())


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
