"""Our product on a control plane: how servers are started there, and what they answered."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.proofs.e2e.flow import shows
from tests.proofs.e2e.kinds import KINDS
from tests.proofs.rig.api import Object, named, until
from tests.proofs.rig.interpreter import Interpreter, loopback_alias, serve
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port

SERVICE = "karta-interpreter.karmada-system.svc"

_REGISTRATION = named("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", "karta-interpreter")
# Karmada has no sign of having seen a registration; its informers take some milliseconds.
SETTLE = 3.0


@dataclass
class Installed:
    """The installation; ``kubeconfig`` is that of the server's own account."""

    plane: ControlPlane
    kubeconfig: Path
    ledger: Ledger
    host: str = field(default_factory=loopback_alias)
    started: int = 0

    @contextmanager
    def serving(self, *options: str | Path) -> Iterator[Interpreter]:
        """Have a server registered by its own URL during the block."""
        server = self.serve(*options)
        self.registered({"url": server.url})
        yield server
        self.stop(server)

    def serve(self, *options: str | Path, service: int = 0) -> Interpreter:
        """Start a server with a certificate of the rig's authority; ``options`` come last.

        Karmada reaches it by the Service at the port ``service``, or else by its own URL.
        """
        chain, key = self.plane.authority.server("interpreter", self.host, SERVICE)
        pair = ("--certificate-file", chain, "--key-file", key)
        trusted = ("--ca-file", self.plane.authority.file)
        at = (f"--service=karmada-system/karta-interpreter:{service}",) if service else ()
        return self._serve(self.plane.authority.file, *pair, *trusted, *at, *options, by_url=not service)

    def serve_self_signed(self, *options: str | Path, service: int = 0) -> Interpreter:
        """Start a server that signs its certificate itself; Karmada reaches it as one of `serve`."""
        at = (f"--service=karmada-system/karta-interpreter:{service}",) if service else ()
        return self._serve(None, "--certificate-name", self.host, *at, *options, by_url=not service)

    def _serve(self, authority: Path | None, *options: str | Path, by_url: bool = True) -> Interpreter:
        self.started += 1
        address = self.host, free_port()
        common = ("--no-catalogue", "--cluster", "--register", "--kubeconfig", self.kubeconfig, "--grace-period", "1")
        url = (f"--public-url=https://{address[0]}:{address[1]}",) if by_url else ()
        name = f"interpreter-{self.started}"
        return serve(self.plane.processes, name, address, authority, *common, *url, *options)

    def stop(self, server: Interpreter) -> None:
        """Stop a server in order, and enter what it answered; no test has a controller that fights with Karmada."""
        assert server.fights() == []
        server.terminate()
        code, metrics = server.ended()
        assert code == 0
        self.ledger.read(metrics)

    def registration(self) -> Object:
        """Return the webhook configuration on the control plane, or one without webhooks."""
        return self.plane.karmada.find(_REGISTRATION) or _REGISTRATION | {"webhooks": []}

    def registered(self, client: Object, kinds: int = len(KINDS)) -> None:
        """Wait until all kinds are registered there, and give Karmada time to see it."""

        def matches() -> bool:
            webhooks = self.registration()["webhooks"]
            called = [shows(webhook["clientConfig"], client) for webhook in webhooks]
            return all(called) and len(called) == kinds

        until(f"{kinds} kinds are registered at {client}", matches)
        time.sleep(SETTLE)
