"""The settings of a server that its user can choose."""

from dataclasses import dataclass
from pathlib import Path

from karta_interpreter.definitions.karta import API_GROUP

MIB = 1024 * 1024
ANSWER_MARGIN = 0.5
"""Seconds of the client's timeout that are left for the answer to travel."""
_DAY, _LOOKS = 86_400, 40
"""Seconds, and the least number of looks for a new certificate in the life of one."""


_CHART_VALUES = {
    "certificate-file": "certificate.existingSecret",
    "certificate-name": "certificate.extraNames",
    "kinds": "server.kinds",
    "kubeconfig": "karmada.kubeconfig",
    "multiple-pod-templates-scheduling": "registration.multiplePodTemplatesScheduling",
    "operations": "registration.operations",
    "register": "registration.enabled",
    "registration-name": "registration.name",
    "service": "registration.service",
    "without": "server.without",
}


def option(name: str) -> str:
    """Return an option of ``serve``, with the value of the chart that sets it.

    >>> option("register")
    '--register (value registration.enabled of the chart)'
    """
    return f"--{name} (value {_CHART_VALUES[name]} of the chart)"


@dataclass(frozen=True)
class DefinitionSettings:
    """What every program needs that serves definitions: where they come from, and its address.

    Kartas on the cluster are of ``karta_api_group``, Kartas in files of any group.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    folders: tuple[Path, ...] = ()
    catalogue: bool = True
    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    overrides: tuple[Path, ...] = ()
    certificate_file: Path | None = None
    key_file: Path | None = None
    log_level: str = "info"
    cluster: bool = False
    karta_api_group: str = API_GROUP
    kubeconfig: Path | None = None
    context: str | None = None


@dataclass(frozen=True)
class Bounds:
    """Bounds that suit every server, so no option sets them. Durations are in seconds.

    A body of ``body_limit`` bytes has room for AggregateStatus: it has the statuses of hundreds of clusters, and Go may
    write one character as six.
    """

    body_limit: int = 32 * MIB
    header_timeout: float = 10.0
    exchange_timeout: float = 30.0
    certificate_interval: float = 10.0
    drain_timeout: float = 10.0


@dataclass(frozen=True)
class Settings(Bounds, DefinitionSettings):
    """The settings of one server. `karta_interpreter.cli.serve` has a line about each, except the bounds.

    Durations are in seconds, except ``certificate_days`` and ``authority_days``, which are in days. Calls are recorded
    in the folder ``record``. With ``record_secrets``, they are recorded as they came.

    On SIGTERM the server becomes not ready and keeps serving for ``grace_period``, so that load balancers remove it.
    Then it waits for running calls.

    ``resource_quota_estimate``, ``pod_requests``, ``device_classes``, ``count_pods`` and
    ``empty_workload_propagation`` change answers
    (`karta_interpreter.engine.operations.Options`).
    """

    ready_without_cluster: bool = False
    secret_references: bool = False
    resource_quota_estimate: bool = False
    pod_requests: str = "scheduler"
    device_classes: tuple[str, ...] = ()
    count_pods: tuple[str, ...] = ()
    health_port: int | None = None
    certificate_names: tuple[str, ...] = ()
    certificate_secret: str | None = None
    certificate_days: float = 90.0
    authority_days: float = 3650.0
    plain_http: bool = False
    connection_age: float = 60.0
    grace_period: float = 5.0
    record: Path | None = None
    record_secrets: bool = False
    register: bool = False
    registration_name: str = "karta-interpreter"
    public_url: str | None = None
    service: str | None = None
    ca_file: Path | None = None
    webhook_timeout: int = 3
    multiple_pod_templates_scheduling: bool = False
    empty_workload_propagation: bool = False
    operations: tuple[str, ...] = ()

    @property
    def call_limit(self) -> float:
        """Return how long an answer may take: Karmada's wait without the time of the answer on its way."""
        return self.webhook_timeout - ANSWER_MARGIN

    @property
    def look_interval(self) -> float:
        """Return the seconds between two looks for a new certificate: fewer if it lives for minutes."""
        return min(self.certificate_interval, self.certificate_days * _DAY / _LOOKS)
