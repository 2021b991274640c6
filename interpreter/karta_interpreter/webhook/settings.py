"""The settings of a server that its user can choose."""

from dataclasses import dataclass
from pathlib import Path

from karta_interpreter.definitions.karta.schema import API_GROUP

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server. `karta_interpreter.cli.serve` has a line about each.

    Durations are in seconds, except ``certificate_days`` and ``authority_days``, which are in days. A call may take
    ``call_limit``, or the rest of Karmada's ``?timeout=``, whichever is shorter. A body of ``body_limit`` bytes has
    room for AggregateStatus: it has the statuses of hundreds of clusters, and Go may write one character as six.
    Kartas on the cluster are of ``karta_api_group``, Kartas in files of any group. ``resource_quota_estimate`` and
    ``pod_requests`` change answers (`karta_interpreter.engine.operations.Options`).

    ``log_format`` is ``json`` or ``text``. The default is text if stderr is a terminal. Only there, ``serve`` prints
    the definitions and addresses at the start, unless it is ``quiet``.

    ``types_api`` is host and port of the workload types API, which stores types on the cluster or in ``types_folder``.
    Priorities are written as ``NAME=VALUE``. ``types_rate`` is the most requests of an address in a minute.

    Calls are recorded in the folder ``record``, at most ``record_limit`` bytes of them. With ``record_secrets``, they
    are recorded as they came. The definitions at ``shadow`` answer ``shadow_sample`` of the calls, too, and the answers
    are compared.

    On SIGTERM the server becomes not ready and keeps serving for ``grace_period``, so that load balancers remove it.
    Then it waits up to ``drain_timeout`` for running calls.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    health_port: int | None = None
    console_port: int | None = None
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
    call_limit: float = 2.5  # Karmada waits `webhook_timeout`, which includes the way there and back
    header_timeout: float = 10.0
    exchange_timeout: float = 30.0
    connection_age: float = 60.0
    grace_period: float = 5.0
    drain_timeout: float = 10.0
    log_level: str = "info"
    log_format: str | None = None
    quiet: bool = False
    record: Path | None = None
    record_limit: int = 1024 * MIB
    record_secrets: bool = False
    shadow: Path | None = None
    shadow_sample: float = 0.01
    resource_quota_estimate: bool = False
    pod_requests: str = "scheduler"
    cluster: bool = False
    karta_api_group: str = API_GROUP
    kubeconfig: Path | None = None
    context: str | None = None
    register: bool = False
    registration_name: str = "karta-interpreter"
    public_url: str | None = None
    service: str | None = None
    ca_file: Path | None = None
    webhook_timeout: int = 3
    multiple_pod_templates_scheduling: bool = False
    types_api: tuple[str, int] | None = None
    types_folder: Path | None = None
    types_token_file: Path | None = None
    types_token_review: bool = False
    types_categories: tuple[str, ...] = ("Build", "Train", "Deploy")
    types_priorities: tuple[str, ...] = (
        "very-low=25",
        "low=40",
        "medium-low=65",
        "medium=80",
        "medium-high=90",
        "high=125",
        "very-high=150",
    )
    types_rate: int = 600
