"""The Karmada control plane of a server: the source of Kartas, and the API server where it registers."""

import asyncio
import time
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from karta_interpreter.base.errors import ServeError, SettingsError
from karta_interpreter.base.findings import listed
from karta_interpreter.definitions.sources import Budget, Store
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.cluster import Cluster
from karta_interpreter.definitions.sources.token_life import TokenWatch
from karta_interpreter.webhook.admission import KindNames
from karta_interpreter.webhook.http.tls import Tls
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.registration.choice import Choice
from karta_interpreter.webhook.registration.configuration import (
    Endpoint,
    certificates,
    distrust,
    webhook_configuration,
)
from karta_interpreter.webhook.registration.registrar import Registrar
from karta_interpreter.webhook.settings import Settings

_FIRST_LOOK_SECONDS = 10.0
"""How long a starting server waits for the Kartas of the cluster if it may be ready without them."""


class CaFile:
    """The certificates of ``--ca-file``, which another program writes. The last good ones stay until there are others.

    Raises ServeError if the file cannot be used at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pem = certificates(path)
        self.problem = ""

    def reload_if_changed(self) -> bool:
        """Read the file again. Return whether the certificates or the `problem` have changed.

        A missing or broken file does not change the certificates: Kubernetes and people replace files in several steps.
        """
        before = self.pem, self.problem
        try:
            self.pem, self.problem = certificates(self._path), ""
        except ServeError as error:
            self.problem = str(error)
        return (self.pem, self.problem) != before


class ControlPlane:
    """A connection to karmada-apiserver, used as `Settings` say.

    Raises ServeError if the settings contradict each other, ClusterError if they name a kubeconfig or context that is
    missing. An unavailable control plane is not an error: folders and catalogue are served meanwhile.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._begun = time.monotonic()
        self.api = ApiServer.of(settings.kubeconfig, settings.context)
        if settings.kubeconfig or settings.context:
            self.api.check()
        self.token = TokenWatch(self.api.token_life)
        self.cluster = (
            Cluster(self.api, budget=Budget.of_container(), secrets=settings.secret_references)
            if settings.cluster
            else None
        )
        self.registrar: Registrar | None = None
        self.ca_file = CaFile(settings.ca_file) if settings.register and settings.ca_file else None
        at_url = Endpoint.of_url(settings.public_url) if settings.public_url else None
        at_service = Endpoint.of_service(settings.service) if settings.service else None
        if settings.register and at_url and at_service:
            raise SettingsError("--register takes one address: give --public-url or --service, not both")
        if settings.register and not (at_url or at_service):
            raise SettingsError(
                "--register needs the address Karmada calls: give --public-url URL or --service NAMESPACE/NAME:PORT"
            )
        self._address = (at_url or at_service) if settings.register else None

    async def close(self) -> None:
        """Close the connection."""
        await self.api.__aexit__(None, None, None)

    @property
    def awaited(self) -> str:
        """Return what the start still waits for, empty if all sources have been read, or waited for long enough."""
        waited = time.monotonic() - self._begun
        if self.cluster is None or (self._settings.ready_without_cluster and waited > _FIRST_LOOK_SECONDS):
            return ""
        if not self.cluster.synced:
            return "the Kartas of the cluster have not been read yet"
        kinds = self.cluster.referenced.awaited()
        return f"objects that definitions refer to have not been read yet: {listed(map(str, kinds))}" if kinds else ""

    @property
    def server_name(self) -> str | None:
        """Return the name that Karmada expects in the certificate."""
        return self._address.server_name if self._address else None

    @property
    def kinds(self) -> KindNames:
        """Return the kinds of the cluster's Kartas, with their names: no other Karta may define these kinds again."""
        entries = self.cluster.layer.entries if self.cluster else ()
        # Reversed: of two Kartas for one kind, the older one is in use, which comes first.
        return {entry.definition.gvk: entry.definition.name for entry in reversed(entries)}

    def register(self, store: Store, tls: Tls | None) -> None:
        """Let `run` keep Karmada's configuration in step, if the settings ask for it."""
        if not (address := self._address):
            return
        configuration = partial(
            webhook_configuration,
            multiple_pod_templates=self._settings.multiple_pod_templates_scheduling,
            timeout_seconds=self._settings.webhook_timeout,
            choice=Choice.of(self._settings.operations),
        )

        def endpoint() -> Endpoint | None:
            # Without the Kartas of the cluster as they are, the configuration would lose what other replicas know.
            if (tls and tls.certificate.is_placeholder) or (self.cluster and not self.cluster.in_step):
                return None
            bundle = self.ca_file.pem if self.ca_file else tls.certificate.authority if tls else b""
            doubt = distrust(tls.certificate.chain, bundle, address.server_name) if tls else ""
            return replace(address, ca_bundle=bundle, doubt=doubt)

        async def refresh() -> None:
            if tls:
                await tls.reload_if_changed()
            if self.cluster:
                await self.cluster.read_again()

        name = self._settings.registration_name
        self.registrar = Registrar(self.api, store, endpoint, name, configuration=configuration, refresh=refresh)

    def is_trusted(self, authority: bytes) -> bool:
        """Return whether Karmada trusts a CA (PEM). Without registration, any CA counts as trusted."""
        return self.registrar is None or self.registrar.has_announced(authority)

    def wake(self) -> None:
        """Look soon whether the registration is as desired."""
        if self.registrar:
            self.registrar.wake()

    async def run(self) -> None:
        """Register, and read the CA file and the token again at intervals, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.token.run())
            if self.registrar:
                tasks.create_task(self.registrar.run())
            if self.ca_file:
                tasks.create_task(self._watch(self.ca_file))

    async def _watch(self, file: CaFile) -> None:
        """Read the CA file again at intervals, and register its certificates."""
        while True:
            await asyncio.sleep(self._settings.certificate_interval)
            if not await asyncio.to_thread(file.reload_if_changed):
                continue
            if file.problem:
                log.error("the CA file cannot be used; the authorities it had stay registered", reason=file.problem)
            else:
                log.info("the CA file has been read again")
                self.wake()
