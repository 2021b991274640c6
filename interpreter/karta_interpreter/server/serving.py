"""A server: its parts put together, from the definitions and the certificate to whoever answers."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.resolution import Reader
from karta_interpreter.server.certificates import certificate_source
from karta_interpreter.server.front import Front, OwnFront
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.no_control_plane import NoControlPlane
from karta_interpreter.server.overview import OwnOverview
from karta_interpreter.server.readiness import Readiness
from karta_interpreter.server.reception import Reception
from karta_interpreter.server.renewal import Renewal
from karta_interpreter.server.runtime import collect_replaced
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.startup import Started
from karta_interpreter.server.tls import CertificateSource, Tls
from karta_interpreter.sources.kind_filter import Selection
from karta_interpreter.sources.snapshot import Quarantined, Snapshot
from karta_interpreter.sources.store import Store

if TYPE_CHECKING:
    from karta_interpreter.server.control_plane import ControlPlane
    from karta_interpreter.server.workers import State

_MOST_TOLD = 20


class Server:
    """A server that listens from entering its ``async with`` block to leaving it.

    Raises ServeError when its settings do not allow that.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._control_plane = _control_plane(settings)
        self._tls = None if settings.plain_http else Tls(self._certificates())
        self._store = Store(
            settings.folders,
            catalogue=settings.catalogue,
            cluster=self._control_plane.cluster,
            overrides=settings.overrides,
            selection=Selection(settings.kinds, settings.without),
        )
        self._metrics = Metrics()
        self._renewal = Renewal(self._tls, self._metrics, self._renewed) if self._tls else None
        self._readiness = Readiness(lambda: self._store.snapshot, self._tls, lambda: self._control_plane.is_settled)
        self._front = self._own_front() if settings.workers == 1 else self._workers()
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
        await self._front.open()
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
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._front.close()
        await self._control_plane.close()
        if self._tls:
            await self._tls.source.close()

    @property
    def started(self) -> Started:
        """What there is to say about the server at this moment."""
        certificate = self._tls.certificate if self._tls else None
        return Started(self._settings.host, self._front.port, self._store.snapshot, certificate)

    async def wind_down(self) -> None:
        """Say that the server is not ready, go on for the grace period, then finish the calls there are."""
        self._readiness.draining = True
        self._front.refresh()
        if self._registration:
            # From here on the replicas that stay say what is registered.
            self._registration.cancel()
        await asyncio.sleep(self._settings.grace_period)
        await self._front.finish()

    def _own_front(self) -> Front:
        overview = OwnOverview(self._metrics, self._readiness)
        knowledge = _Knowledge(self._store, self._control_plane)
        reception = Reception(self._settings, knowledge, self._metrics, self._readiness, overview)
        return OwnFront(self._settings, reception, self._tls)

    def _workers(self) -> Front:
        # Only who has workers pays for the language they are spoken to in.
        from karta_interpreter.server.workers import Workers  # noqa: PLC0415

        workers = Workers(self._settings, self._state, self._metrics, self._readiness)
        if cluster := self._control_plane.cluster:
            cluster.referenced.subscribe(workers.refresh)
        return workers

    def _state(self) -> "State":
        from karta_interpreter.server.workers import State  # noqa: PLC0415 - as above

        cluster = self._control_plane.cluster
        return State(
            self._store.snapshot,
            cluster.referenced.holdings if cluster else {},
            self._control_plane.kinds,
            self._tls.certificate if self._tls else None,
            self._readiness.draining,
        )

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

    def _renewed(self) -> None:
        self._front.refresh()
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
        known = set(self._quarantined)
        _tell([broken for broken in snapshot.quarantined if broken not in known])
        self._quarantined = snapshot.quarantined
        self._front.refresh()
        collect_replaced()


def _control_plane(settings: Settings) -> "ControlPlane | NoControlPlane":
    if not (settings.cluster or settings.register or settings.service or settings.public_url):
        return NoControlPlane()
    # Only who has one pays for what watches it and registers there.
    from karta_interpreter.server.control_plane import ControlPlane  # noqa: PLC0415

    return ControlPlane(settings)


def _tell(quarantined: Sequence[Quarantined]) -> None:
    """Log what cannot be used, of one source only so much that the rest of the log can still be found."""
    told = Counter[str]()
    for broken in quarantined:
        told[broken.source] += 1
        if told[broken.source] <= _MOST_TOLD:
            what = "definition quarantined" if broken.name else "definitions cannot be read"
            reasons = [finding.message for finding in broken.findings[:_MOST_TOLD]]
            log.warning(what, source=broken.source, name=broken.name, reasons=reasons)
    for source, count in told.items():
        if count > _MOST_TOLD:
            log.warning("more definitions cannot be used", source=source, more=count - _MOST_TOLD)


class _Knowledge:
    """What this process knows by itself (`karta_interpreter.server.reception.Knowledge`)."""

    def __init__(self, store: Store, control_plane: "ControlPlane | NoControlPlane") -> None:
        self._store = store
        self._control_plane = control_plane

    @property
    def snapshot(self) -> Snapshot:
        return self._store.snapshot

    @property
    def reader(self) -> Reader | None:
        return self._store.reader

    @property
    def kinds(self) -> Mapping[GVK, str]:
        return self._control_plane.kinds
