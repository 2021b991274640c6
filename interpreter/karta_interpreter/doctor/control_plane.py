"""What karmada-apiserver holds, as far as it is about interpreters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol

from karta_interpreter.doctor.kinds import Served, Stored, group_path, read_stored, served, version_path, versions_of
from karta_interpreter.doctor.precedence import Customization, read_customization
from karta_interpreter.doctor.result import Result, listed, ok, problem, warning
from karta_interpreter.doctor.webhooks import Client, Service, Webhook, read_webhooks
from karta_interpreter.errors import ClusterError
from karta_interpreter.findings import count
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.registration.admission_ca import PATHS
from karta_interpreter.registration.registrar import CONFIGURATIONS

_CHECK = "control plane"
_CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_KARTAS = ("/apis/run.ai/v1alpha1/kartas", "/apis/optimization.nvidia.com/v1alpha1/resourceinterfaces")
_WITHOUT = "the checks about it are left out; give the user of the kubeconfig what it lacks"


class Api(Protocol):
    """The part of an API server that a diagnosis uses; it only reads."""

    @property
    def url(self) -> str:
        """Where it is."""

    async def probe(self) -> str:
        """Its version."""

    async def get(self, path: str) -> Object:
        """The object at a path; raises ClusterError."""

    async def list(self, path: str) -> Sequence[Object]:
        """The objects of a collection; raises ClusterError."""

    async def resources(self, api_version: str) -> Sequence[Object]:
        """The entries of the ``APIResourceList`` of an API version; raises ClusterError."""


@dataclass(slots=True)
class ControlPlane:
    """Reads karmada-apiserver; ``results`` collects what could not be read."""

    api: Api
    results: list[Result] = field(default_factory=list)

    async def webhooks(self) -> list[Webhook] | None:
        """The webhooks of all configurations, None when they cannot be read."""
        try:
            configurations = await self.api.list(CONFIGURATIONS)
        except ClusterError as error:
            foreign = error.status == HTTPStatus.NOT_FOUND
            advice = "give the kubeconfig of karmada-apiserver, this is no Karmada" if foreign else _WITHOUT
            self.results.append(problem(_CHECK, str(error), advice))
            return None
        return [webhook for configuration in configurations for webhook in read_webhooks(configuration)]

    async def customizations(self) -> list[Customization]:
        """The customizations that there are."""
        return [read_customization(obj) for obj in await self._readable(_CUSTOMIZATIONS)]

    async def clusters(self) -> Sequence[Object]:
        """The member clusters."""
        return await self._readable(_CLUSTERS)

    async def kartas(self) -> list[Stored]:
        """The definitions, in both forms; a form whose CRD is not installed has none."""
        return [read_stored(obj) for path in _KARTAS for obj in await self._readable(path, optional=True)]

    async def admission(self, name: str) -> list[Object]:
        """The admission configurations of a name."""
        found: list[Object] = []
        for path in PATHS:
            try:
                found.append(await self.api.get(f"{path}/{name}"))
            except ClusterError as error:
                if error.status != HTTPStatus.NOT_FOUND:
                    self.results.append(warning(_CHECK, str(error), _WITHOUT))
        return found

    async def service(self, reference: Service) -> Object | None:
        """The Service that a reference names, None when there is none; raises ClusterError."""
        try:
            return await self.api.get(f"/api/v1/namespaces/{reference.namespace}/services/{reference.name}")
        except ClusterError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def served(self, kinds: Iterable[GVK]) -> dict[GVK, Served]:
        """How each kind is served; raises ClusterError."""
        kinds = tuple(kinds)
        resources = {group: await self._resources(group) for group in sorted({gvk.group for gvk in kinds})}
        return {gvk: served(gvk, resources[gvk.group]) for gvk in kinds}

    async def _resources(self, group: str) -> dict[str, Object]:
        try:
            versions = versions_of(await self.api.get(group_path(group)))
            return {version: await self.api.get(version_path(group, version)) for version in versions}
        except ClusterError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return {}
            raise

    async def _readable(self, path: str, *, optional: bool = False) -> Sequence[Object]:
        try:
            return await self.api.list(path)
        except ClusterError as error:
            if not (optional and error.status == HTTPStatus.NOT_FOUND):
                self.results.append(warning(_CHECK, str(error), _WITHOUT))
            return []


_PULL_MODE = "clusters"


def judge_clusters(clusters: Sequence[Object], clients: Sequence[Client]) -> Iterator[Result]:
    """Warn about Pull-mode clusters, whose agents cannot be checked."""
    pulling = [
        str(edit.get(cluster, ("metadata", "name")))
        for cluster in clusters
        if edit.get(cluster, ("spec", "syncMode")) == "Pull"
    ]
    if not pulling:
        yield ok(_PULL_MODE, f"{count(len(clusters), 'member cluster')}, and none in Pull mode")
        return
    found = (
        f"in Pull mode, karmada-agent calls from inside the cluster, for Retain, status and health: {listed(pulling)}"
    )
    advice = "make sure that its pods reach the address; run doctor in a pod there"
    if any(client.service for client in clients):
        advice = "register a URL that its pods can resolve and reach: a Service of the host cluster they cannot"
    yield warning(_PULL_MODE, found, advice)
