"""Everything about a server that its user can choose."""

from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server; durations are in seconds.

    Definitions come from ``folders``, highest precedence first, then from the ``catalogue``; scripts over them from the
    folders ``overrides``. Those of ``kinds``, or all, are served, but not those of ``without``.

    The certificate comes from ``certificate_file`` and ``key_file``. Without them the server signs one, for
    ``certificate_names``, its own address and the registered one: for as long as it runs, or with
    ``certificate_secret`` (``namespace/name``, in-cluster) one that all replicas share and renew, valid for
    ``certificate_days``, its CA for ``authority_days``. The server looks for another one every
    ``certificate_interval``. ``plain_http`` turns TLS off.

    A body has at most ``body_limit`` bytes: AggregateStatus has the statuses of hundreds of clusters, and Go may write
    one character as six. There are at most ``connections``, and at most ``calls_in_work`` that wait for a thread or a
    process. At ``health_port`` a thread of its own answers probes over plain HTTP.

    A call may take ``call_limit``, or what Karmada's ``?timeout=`` leaves, whichever is shorter. A client has
    ``header_timeout`` to send its headers and ``exchange_timeout`` to send its body and take the answer. After
    ``connection_age``, a tenth less or more, an answer has ``Connection: close``, so that new replicas get their share
    of the calls; 0 is no limit.

    ``resource_quota_estimate`` and ``pod_requests`` change answers (`karta_interpreter.operations.Options`).

    ``cluster`` reads Kartas from the API server of ``kubeconfig`` and ``context``, or in-cluster. ``register`` keeps
    the configuration ``registration_name`` there in step, by which Karmada asks this server: at ``public_url``, or at
    ``service`` (``namespace/name:port``), trusting ``ca_file`` or the CA of the certificate, waiting for
    ``webhook_timeout``. ``multiple_pod_templates_scheduling``: Karmada's feature gate of that name is on.

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
