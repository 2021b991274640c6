"""Karmada's own client in a process of its own, which calls as often as it is told."""

import base64
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from tests.proofs.rig.api import Object

_PATIENCE = 60.0


@dataclass
class Caller:
    """Calls through the Service at ``port``; ``told`` are its reports, some a second."""

    child: subprocess.Popen[str]
    told: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any]:
        return self.told[-1] if self.told else {"calls": 0, "failed": 0, "slowest": 0.0, "waiting": 0, "error": ""}

    def rate(self, calls: int) -> None:
        self._write(str(calls))

    def slowest(self, since: int = 0) -> float:
        """The longest that a call has taken, in seconds, in the reports from that one on."""
        return max((report["slowest"] for report in self.told[since:]), default=0.0)

    def _write(self, line: str) -> None:
        assert self.child.stdin
        self.child.stdin.write(f"{line}\n")
        self.child.stdin.flush()

    def _read(self) -> None:
        assert self.child.stdout
        for line in self.child.stdout:
            self.told.append(json.loads(line))


@contextmanager
def calling(
    program: Path,
    service: tuple[str, str, int],
    authority: bytes,
    objects: Sequence[Object],
    workers: int,
    clients: int = 1,
) -> Iterator[Caller]:
    """Have a caller with so many workers until the end of the block; it begins when it is told a rate.

    Each of the ``clients`` has connections of its own, and as many workers as any other.

    ``service`` is namespace, name and port, ``authority`` whom it trusts, ``objects`` what it asks about in turn.
    """
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        caller = Caller(child)
        reader = Thread(target=caller._read)  # noqa: SLF001 - its own
        reader.start()
        namespace, name, port = service
        whom = {
            "namespace": namespace,
            "service": name,
            "port": port,
            "authority": base64.b64encode(authority).decode(),
        }
        caller._write(json.dumps({**whom, "workers": workers, "clients": clients, "objects": list(objects)}))  # noqa: SLF001
        try:
            yield caller
        finally:
            child.kill()
            child.wait(_PATIENCE)
            reader.join()
