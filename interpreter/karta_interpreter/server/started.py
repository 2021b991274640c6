"""What is known of a server once it listens."""

from dataclasses import dataclass

from karta_interpreter.server.certificate import Certificate
from karta_interpreter.sources.snapshot import Snapshot

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound to


@dataclass(frozen=True, slots=True)
class Started:
    """A server that listens; ``certificate`` is None for plain HTTP, ``health_port`` without such a port.

    ``certificate.authority`` is there when the server has signed its certificate itself: the ``caBundle`` for
    Karmada's webhook configuration.
    """

    host: str
    port: int
    snapshot: Snapshot
    certificate: Certificate | None
    health_port: int | None = None

    @property
    def url(self) -> str:
        """Where the server can be reached from the same machine.

        >>> Started("::", 8443, Snapshot(), None).url
        'http://[::1]:8443'
        """
        host = _EVERYWHERE.get(self.host, self.host)
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"
