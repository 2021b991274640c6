"""A server: its parts put together, from the listening socket to the last answer."""

import asyncio
import errno
from collections.abc import Coroutine
from types import TracebackType
from typing import Self

from interpreter import admission
from interpreter.errors import ServeError
from interpreter.operations import Options
from interpreter.server.application import MUTATE, VALIDATE, Application
from interpreter.server.calls import Calls
from interpreter.server.certificates import certificate_source
from interpreter.server.connection import Limits
from interpreter.server.connections import Connections
from interpreter.server.control_plane import ControlPlane
from interpreter.server.log import log
from interpreter.server.metrics import Metrics
from interpreter.server.readiness import Readiness
from interpreter.server.renewal import Renewal
from interpreter.server.settings import Settings
from interpreter.server.startup import Started
from interpreter.server.tls import CertificateSource, Tls
from interpreter.sources.snapshot import Quarantined, Snapshot
from interpreter.sources.store import Store

_BACKLOG = 512
_HANDSHAKE_SECONDS = 10.0
_FAREWELL_SECONDS = 1.0


class Server:
    """A server that listens from entering its ``async with`` block to leaving it.

    Raises ServeError when its settings do not allow that.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._control_plane = ControlPlane(settings)
        self._tls = None if settings.plain_http else Tls(self._certificates())
        self._store = Store(
            settings.folders,
            catalogue=settings.catalogue,
            cluster=self._control_plane.cluster,
            overrides=settings.overrides,
        )
        self._metrics = Metrics()
        self._renewal = Renewal(self._tls, self._metrics, self._wake_registrar) if self._tls else None
        self._readiness = Readiness(lambda: self._store.snapshot, self._tls, lambda: self._control_plane.is_settled)
        options = Options(resource_quota_estimate=settings.resource_quota_estimate)
        self._calls = Calls(lambda: self._store.snapshot, self._metrics, options, self._store.reader)
        application = Application(
            self._calls,
            {VALIDATE: lambda body: admission.validate(body, self._control_plane.kinds), MUTATE: admission.mutate},
            self._readiness,
            self._metrics,
            body_limit=settings.body_limit,
            call_limit=settings.call_limit,
        )
        limits = Limits(settings.header_timeout, settings.exchange_timeout + settings.call_limit, settings.body_limit)
        self._connections = Connections(application.handle, application.refuse, limits, application.at_once)
        self._metrics.show_in_flight(lambda: self._connections.busy)
        if cluster := self._control_plane.cluster:
            self._metrics.show_staleness(lambda: cluster.stale_for)
        self._registrar = self._control_plane.registrar(self._store, self._authority, self._look)
        if registrar := self._registrar:
            self._metrics.show_registration(lambda: registrar.in_step)
        self._registration: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._quarantined: tuple[Quarantined, ...] = ()

    async def __aenter__(self) -> Self:
        self._show(self._store.load())
        self._store.subscribe(self._show)
        self._listener = await self._listen()
        if self._tls and self._tls.certificate.stands_in:
            await self._look()
        self._background("watching the definitions", self._store.watch())
        if self._renewal:
            renewal = self._renewal.run(self._settings.certificate_interval)
            self._background("renewing the certificate", renewal)
        if self._registrar:
            watch = self._control_plane.watch_authority(
                interval=self._settings.certificate_interval, changed=self._registrar.wake
            )
            self._background("watching the authority", watch)
            self._registration = self._background("registering", self._registrar.run())
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._connections.close(_FAREWELL_SECONDS)
        await self._control_plane.close()
        if self._tls:
            await self._tls.source.close()
        self._calls.close()

    @property
    def started(self) -> Started:
        """What there is to say about the server at this moment."""
        port = self._listener.sockets[0].getsockname()[1]
        certificate = self._tls.certificate if self._tls else None
        return Started(self._settings.host, port, self._store.snapshot, certificate)

    async def wind_down(self) -> None:
        """Say that the server is not ready, go on for the grace period, then finish the calls there are."""
        self._readiness.draining = True
        if self._registration:
            # From here on the replicas that stay say what is registered.
            self._registration.cancel()
        await asyncio.sleep(self._settings.grace_period)
        self._listener.close()
        try:
            async with asyncio.timeout(self._settings.drain_timeout):
                await self._connections.drained()
        except TimeoutError:
            log.warning("calls are cut off", in_flight=self._connections.busy)

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        host, port = self._settings.host, self._settings.port
        try:
            if not self._tls:
                return await loop.create_server(self._connections, host, port, backlog=_BACKLOG)
            return await loop.create_server(
                self._connections,
                host,
                port,
                backlog=_BACKLOG,
                ssl=self._tls.context,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=_FAREWELL_SECONDS,
            )
        except OSError as error:
            raise ServeError(_cannot_listen(host, port, error)) from error

    def _certificates(self) -> CertificateSource:
        plane = self._control_plane
        return certificate_source(self._settings, plane.server_name, plane.is_trusted)

    def _authority(self) -> bytes | None:
        if not self._tls:
            return b""
        return None if self._tls.certificate.stands_in else self._tls.certificate.authority

    async def _look(self) -> None:
        if self._renewal:
            await self._renewal.look()

    def _wake_registrar(self) -> None:
        if self._registrar:
            self._registrar.wake()

    def _background(self, what: str, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        def report(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()):
                log.error(f"{what} has ended", exc_info=error)

        task = asyncio.create_task(work)
        task.add_done_callback(report)
        self._tasks.append(task)
        return task

    def _show(self, snapshot: Snapshot) -> None:
        self._metrics.served(snapshot)
        scripts = sum(1 for entry in snapshot.entries.values() for _ in entry.definition.scripts)
        log.info("definitions loaded", served=len(snapshot.entries), scripts=scripts, generation=snapshot.generation)
        for conflict in snapshot.findings:
            log.warning("definitions conflict", reason=conflict.message, source=conflict.source)
        for broken in snapshot.quarantined:
            if broken not in self._quarantined:
                what = "definition quarantined" if broken.name else "definitions cannot be read"
                reasons = [finding.message for finding in broken.findings]
                log.warning(what, source=broken.source, name=broken.name, reasons=reasons)
        self._quarantined = snapshot.quarantined


def _cannot_listen(host: str, port: int, error: OSError) -> str:
    hints = {
        errno.EADDRINUSE: "another process listens there: stop it, or choose another port",
        errno.EACCES: "ports below 1024 are for root: choose a higher one",
        errno.EADDRNOTAVAIL: "this machine has no such address: 0.0.0.0 stands for all that it has",
    }
    hint = hints.get(error.errno or 0, error.strerror or str(error))
    return f"cannot listen on {host} port {port}: {hint}"
