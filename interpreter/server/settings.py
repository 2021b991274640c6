"""Everything about a server that its user can choose."""

from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server; durations are in seconds.

    Definitions come from ``folders``, strongest first, and then from the ``catalogue``.

    The certificate comes from ``certificate_file`` and ``key_file``, which are read again when they change. Without
    them the server signs one itself, for ``certificate_names`` and its own address. ``plain_http`` turns TLS off.

    A body has at most ``body_limit`` bytes. etcd stores 1.5 MiB of an object, and Retain carries two of them; the
    default is twice that, because nobody else is answered while a body is decoded: for 0.05 s at 6 MiB.

    A call may take ``call_limit``, or what Karmada's ``?timeout=`` leaves, whichever is shorter. A client has
    ``header_timeout`` to send its headers and ``exchange_timeout`` to send its body and take the answer.

    When told to stop, the server says that it is not ready and goes on for ``grace_period``, so that whatever sends
    it traffic can look elsewhere; then it waits up to ``drain_timeout`` for the calls it still has.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    folders: tuple[Path, ...] = ()
    catalogue: bool = True
    certificate_file: Path | None = None
    key_file: Path | None = None
    certificate_names: tuple[str, ...] = ()
    certificate_interval: float = 10.0
    plain_http: bool = False
    body_limit: int = 6 * MIB
    call_limit: float = 2.5
    header_timeout: float = 10.0
    exchange_timeout: float = 30.0
    grace_period: float = 5.0
    drain_timeout: float = 10.0
    log_level: str = "info"
    resource_quota_estimate: bool = False
