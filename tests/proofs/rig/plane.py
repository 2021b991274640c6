"""The control plane: etcd, the API servers, Karmada's components, and the members that it pushes to."""

import ssl
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

from tests.proofs.rig import karmada
from tests.proofs.rig.api import Api, Object, until
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.commands import api_server, command, controllers_of_karmada
from tests.proofs.rig.layout import MEMBERS, TOKEN, Layout
from tests.proofs.rig.ledger import requests_seen
from tests.proofs.rig.processes import Processes
from tests.support.waiting import HANG

_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_MANAGER = "karmada-controller-manager"
_GATED = ("karmada-webhook", _MANAGER, "karmada-scheduler")
"""What reads feature gates."""
_GATES = {
    "MultiplePodTemplatesScheduling": False,
    # These change nothing without a policy that has statePreservation, and without a FederatedResourceQuota.
    "StatefulFailoverInjection": True,
    "FederatedQuotaEnforcement": True,
}


@dataclass
class ControlPlane:
    """A running Karmada; ``karmada`` is its API server, ``members`` those of the members by name."""

    layout: Layout
    processes: Processes
    karmada: Api
    members: Mapping[str, Api]
    metrics: list[str] = field(default_factory=list)
    """What the instances of karmada-controller-manager that are gone told about themselves."""
    gates: str = ""
    """The feature gates that Karmada's components run with."""

    @classmethod
    def create(cls, folder: Path, binaries: Path, members: Sequence[str] = MEMBERS) -> Self:
        """Lay out the files; nothing runs yet."""
        layout = Layout.create(folder, binaries)
        servers = {name: layout.api(name) for name in ("karmada", *members)}
        return cls(layout, Processes(folder / "log"), servers.pop("karmada"), servers)

    @property
    def folder(self) -> Path:
        return self.layout.folder

    @property
    def authority(self) -> Authority:
        return self.layout.authority

    def start(self, say: Callable[[str], None]) -> None:
        """Start everything, in the order in which one thing needs another, until the members are ready."""
        begun = time.monotonic()
        for what, step in (
            ("etcd", self._start_etcd),
            ("API servers", self._start_api_servers),
            ("Karmada's types", self._install_types),
            ("the aggregated API server", self._start_aggregated),
            ("Kubernetes' own controllers", self._start_controllers),
            ("Karmada's components", self._start_components),
            ("the members Ready", self._join_members),
        ):
            step()
            say(f"+{time.monotonic() - begun:4.1f} s  {what}")

    def start_api_server(self, name: str) -> None:
        self.processes.start(f"{name}-apiserver", *api_server(self.layout, name))

    def restart_scheduler(self, *, asks_estimators: bool) -> None:
        """Start the scheduler anew, with the gates that it has."""
        self.processes.stop("karmada-scheduler")
        self._start_gated("karmada-scheduler", asks_estimators=asks_estimators)

    def restart_components(self, *, multiple_pod_templates: bool, **gates: bool) -> None:
        """Start what reads feature gates anew, with the gates as they are wanted."""
        self.metrics.append(self.manager_metrics())
        self.processes.stop(*_GATED)
        self._start_components_with(MultiplePodTemplatesScheduling=multiple_pod_templates, **gates)

    def restart(self, name: str) -> None:
        """Start one of the components anew, with the gates that it has."""
        if name == _MANAGER:
            self.metrics.append(self.manager_metrics())
        self.processes.stop(name)
        self._start_gated(name)
        self._until_ready()

    def clusters_served(self) -> bool:
        """Whether the aggregated API server is reached through karmada-apiserver."""
        return self.karmada.get(_CLUSTERS) is not None

    def manager_metrics(self) -> str:
        return fetch(f"http://{self.layout.local('manager')}/metrics")

    def requests_seen(self, host: str) -> Counter[str]:
        """How often karmada-controller-manager got each HTTP code from a host; ``<error>`` is not an answer at all."""
        seen = Counter[str]()
        for text in (*self.metrics, self.manager_metrics()):
            seen.update(requests_seen(text, host))
        return seen

    def slow_calls(self) -> int:
        """How many calls of an interpreter took more than half a second: karmada-controller-manager logs those."""
        log = self.processes.folder / "karmada-controller-manager.log"
        return log.read_text(encoding="utf-8").count('"Call resource interpret webhook"')

    def warnings(self) -> list[Object]:
        listed = self.karmada.get("/api/v1/events") or {"items": []}
        return [event for event in listed["items"] if event["type"] == "Warning"]

    def stop(self) -> None:
        self.processes.stop_all()

    def _start_etcd(self) -> None:
        self.processes.start("etcd", *command(self.layout, "etcd"))
        until("etcd is healthy", partial(fetch, f"http://{self.layout.local('etcd')}/health"))

    def _start_api_servers(self) -> None:
        servers = (self.karmada, *self.members.values())
        for api in servers:
            self.start_api_server(api.name)
        for api in servers:
            until(f"{api.name} is ready", api.ready)

    def _install_types(self) -> None:
        karmada.install_types(self.karmada, self.layout)

    def _start_aggregated(self) -> None:
        self.processes.start("karmada-aggregated-apiserver", *command(self.layout, "karmada-aggregated-apiserver"))
        until("clusters are served", self.clusters_served)

    def _start_controllers(self) -> None:
        self.processes.start("karmada-kube-controller-manager", *controllers_of_karmada(self.layout))

    def _start_components(self) -> None:
        self._start_components_with()
        karmada.install_admission(self.karmada, self.layout)

    def _start_components_with(self, **gates: bool) -> None:
        self.gates = ",".join(f"{name}={str(is_on).lower()}" for name, is_on in (_GATES | gates).items())
        for name in _GATED:
            self._start_gated(name)
        self._until_ready()

    def _until_ready(self) -> None:
        until("karmada-webhook is ready", self._webhook_answers)
        until("karmada-controller-manager is ready", self.manager_metrics)

    def _start_gated(self, name: str, *, asks_estimators: bool = False) -> None:
        asks = str(asks_estimators).lower()
        self.processes.start(name, *command(self.layout, name, gates=self.gates, asks_estimators=asks))

    def _join_members(self) -> None:
        for name, api in self.members.items():
            karmada.join(self.karmada, name, api.port, TOKEN, self.authority.bundle)
        for name in self.members:
            until(f"{name} is Ready", partial(karmada.is_ready, self.karmada, name))

    def _webhook_answers(self) -> bool:
        context = ssl.create_default_context(cafile=self.authority.file)
        try:
            with urllib.request.urlopen(f"https://{self.layout.local('webhook')}/", timeout=HANG / 2, context=context):
                return True
        except urllib.error.HTTPError:
            return True  # it answers, and that is enough


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=HANG / 2) as answer:  # noqa: S310 - a URL of this module
        text: str = answer.read().decode()
        return text
