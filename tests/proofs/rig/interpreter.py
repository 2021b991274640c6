"""Our server, started as a user would start it."""

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.proofs.rig.api import Object, until
from tests.proofs.rig.processes import Process, Processes
from tests.support.waiting import HANG

_PAUSE = 0.05
_HOSTS = Path("/etc/hosts")
PROGRAM = Path(os.environ.get("E2E_PROGRAM") or Path(sys.executable).with_name("karta-interpreter"))
"""That of the image, or else that of this checkout."""
_REST = ("observedObject", "replicas", "aggregatedStatus")
"""The fields of a request behind its object, in the order of Karmada's type."""


def loopback_alias() -> str:
    """Return a name of 127.0.0.1 that Karmada does not recognize as such.

    For a URL of loopback its client may speak HTTP/2, which it never does in production. Falls back to ``localhost``.
    """
    entries = [line.partition("#")[0].split() for line in _HOSTS.read_text(encoding="utf-8").splitlines()]
    names = [name for entry in entries if entry[:1] == ["127.0.0.1"] for name in entry[1:]]
    return next((name for name in names if name.lower() != "localhost"), "localhost")


@dataclass
class Interpreter:
    """A running ``karta-interpreter serve``."""

    process: Process
    host: str
    port: int
    context: ssl.SSLContext

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """What Karmada is told to call."""
        return f"https://{self.address}/interpret"

    def get(self, path: str) -> tuple[int, str]:
        return self._exchange("GET", path)

    def ask(self, operation: str, thing: Object, **more: object) -> Object:
        """Ask as Karmada does, and return the response; ``more`` are further fields of the request."""
        version, kind, metadata = thing["apiVersion"], thing["kind"], thing["metadata"]
        group, _, short = version.rpartition("/")
        request = {
            "uid": "e2e",
            "kind": {"group": group, "version": short, "kind": kind},
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "operation": operation,
            "object": _as_go_writes(thing),
        }
        # In Karmada's order: the server looks for fights in its bytes, and sends more of other spellings to processes.
        values = {"replicas": 0, **more}
        request |= {name: _as_go_writes(values[name]) for name in _REST if name in values}
        context = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1", "request": request}
        body = json.dumps(context, separators=(",", ":")) + "\n"
        response: Object = json.loads(self._exchange("POST", "/interpret?timeout=3s", body)[1])["response"]
        return response

    def counts(self, thing: Object, expected: int) -> float:
        """Wait until it counts that many pods of an object, and return the seconds."""
        begun = time.monotonic()
        until(f"{expected} pods", lambda: self.ask("InterpretReplica", thing).get("replicas") == expected)
        return time.monotonic() - begun

    def ready(self) -> bool:
        return self.get("/readyz")[0] == http.client.OK

    def logged(self) -> list[dict[str, Any]]:
        lines = self.process.log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def fights(self) -> list[dict[str, Any]]:
        """The lines of its log about fields that Karmada and a member overwrite in turns."""
        return [line for line in self.logged() if line["message"].startswith("Karmada and a manager in a member")]

    def terminate(self) -> None:
        """Ask it to end, as Kubernetes does."""
        self.process.child.send_signal(signal.SIGTERM)

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit code, and the metrics as they were last."""
        metrics = ""
        with suppress(OSError, http.client.HTTPException):
            while self.process.alive:
                metrics = self.get("/metrics")[1]
                time.sleep(_PAUSE)
        return self.process.child.wait(HANG), metrics

    def _exchange(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=HANG / 2)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def serve(
    processes: Processes, name: str, address: tuple[str, int], authority: Path | None, *options: str | Path
) -> Interpreter:
    """Start a server at a host name and port of loopback, and wait until it is ready.

    ``authority`` is whom the tests trust, None for everybody.
    """
    server = start(processes, name, address, authority, *options)
    until(f"{name} is ready", server.ready)
    return server


def start(
    processes: Processes,
    name: str,
    address: tuple[str, int],
    authority: Path | None,
    *options: str | Path,
    environment: Mapping[str, str] | None = None,
) -> Interpreter:
    """Start a server as `serve` does, and wait for nothing; ``environment`` has variables of its own."""
    host, port = address
    process = processes.start(name, PROGRAM, "serve", "--port", str(port), *options, environment=environment)
    return Interpreter(process, host, port, _trusting(authority))


def _as_go_writes(value: object) -> object:
    return json.loads(json.dumps(value, sort_keys=True))


def _trusting(authority: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority)
    if authority is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=HANG, check=False)
