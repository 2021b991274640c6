"""Everything about a server that its user can choose."""

from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server; durations are in seconds.

    Definitions come from ``folders``, strongest first, and then from the ``catalogue``. Scripts over them come from
    the ``overrides``, folders too. Of all of them those of ``kinds`` are served, or all, but not those of ``without``
    (`karta_interpreter.sources.precedence`).

    The certificate comes from ``certificate_file`` and ``key_file``, which are read again when they change. Without
    them the server signs one itself, for ``certificate_names``, its own address and the registered one: for as long as
    it runs, or with ``certificate_secret`` (``namespace/name``, in the cluster that the server runs in) one that all
    replicas share there and renew. That one is valid for ``certificate_days``, its authority for ``authority_days``.
    Every ``certificate_interval`` the server looks for another one. ``plain_http`` turns TLS off.

    A body has at most ``body_limit`` bytes. AggregateStatus has the statuses of hundreds of clusters, and Go may
    write one character as six. Large bodies are answered in processes of their own
    (`karta_interpreter.server.isolated_calls`).

    There are at most ``connections`` at a time, and at most ``calls_in_work`` that wait for a thread or a process
    (`karta_interpreter.server.listener`, `karta_interpreter.server.load`). With a ``health_port`` a thread of its own
    answers ``/healthz`` and ``/readyz`` there, over plain HTTP, however busy the server is.

    A call may take ``call_limit``, or what Karmada's ``?timeout=`` leaves, whichever is shorter. A client has
    ``header_timeout`` to send its headers and ``exchange_timeout`` to send its body and take the answer.
    After ``connection_age``, or a tenth less or more, an answer has ``Connection: close``, so that new replicas get
    their share of the calls; with 0 a connection has no limit of age.

    ``resource_quota_estimate`` and ``pod_requests`` change answers (`karta_interpreter.operations.Options`).

    ``cluster`` reads Kartas from the API server of ``kubeconfig`` and ``context``, with precedence over all others;
    without a kubeconfig from the cluster that the server runs in. ``register`` keeps the configuration
    ``registration_name`` there in step, by which Karmada asks this server: at ``public_url``, or at ``service``
    (``namespace/name:port``), trusting ``ca_file`` or the CA of the certificate, and waiting for ``webhook_timeout``.
    ``multiple_pod_templates_scheduling``: Karmada's feature gate of that name is on.

    On SIGTERM the server becomes not ready and keeps serving for ``grace_period``, so that load balancers remove it;
    then it waits up to ``drain_timeout`` for running calls.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    health_port: int | None = None
    folders: tuple[Path, ...] = ()
    catalogue: bool = True
    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    overrides: tuple[Path, ...] = ()
    certificate_file: Path | None = None
    key_file: Path | None = None
    certificate_names: tuple[str, ...] = ()
    certificate_secret: str | None = None
    certificate_days: float = 90.0
    authority_days: float = 3650.0
    certificate_interval: float = 10.0
    plain_http: bool = False
    body_limit: int = 32 * MIB
    call_limit: float = 2.5
    calls_in_work: int = 64
    connections: int = 2000
    header_timeout: float = 10.0
    exchange_timeout: float = 30.0
    connection_age: float = 60.0
    grace_period: float = 5.0
    drain_timeout: float = 10.0
    log_level: str = "info"
    resource_quota_estimate: bool = False
    pod_requests: str = "scheduler"
    cluster: bool = False
    kubeconfig: Path | None = None
    context: str | None = None
    register: bool = False
    registration_name: str = "karta-interpreter"
    public_url: str | None = None
    service: str | None = None
    ca_file: Path | None = None
    webhook_timeout: int = 3
    multiple_pod_templates_scheduling: bool = False
