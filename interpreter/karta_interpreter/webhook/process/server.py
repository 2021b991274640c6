"""A server, put together from its parts, from the definitions to the listener."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct

from karta_interpreter.base.findings import errors_first, in_one_line
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.sandbox.container import container_memory
from karta_interpreter.definitions.sources import Budget, Quarantined, Selection, Snapshot, Store, keep_running
from karta_interpreter.definitions.sources.background import AsyncAction
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.call_log import LOOK_PAUSE, AnswerGaps, CallLog
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.load import Load
from karta_interpreter.webhook.answering.unread_reports import UnreadReports
from karta_interpreter.webhook.http.certificate import Certificate
from karta_interpreter.webhook.http.listener import MOST_CONNECTIONS, Connections, Listener
from karta_interpreter.webhook.http.ports import cannot_listen
from karta_interpreter.webhook.http.tls import Tls, certificate_source
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.memory import RELEASE_SECONDS, release_memory
from karta_interpreter.webhook.process.application import Application
from karta_interpreter.webhook.process.health import BEAT_SECONDS, HealthListener, Readiness
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.settings import DefinitionSettings, Settings

if TYPE_CHECKING:
    from karta_interpreter.definitions.sources.cluster import Cluster
    from karta_interpreter.webhook.answering.recorder import Recorder
    from karta_interpreter.webhook.process.control_plane import ControlPlane

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound to
_RETRY_SECONDS = 1.0
_MOST_LOGGED = 20
"""The most broken definitions of a source, and findings of each, in the log: a folder may be mounted wrongly."""


class Started(Struct, frozen=True):
    """A server that listens. ``certificate`` is None for plain HTTP, ``health_port`` is None without such a port.

    ``certificate.authority`` is set if the server has signed its certificate itself: the ``caBundle`` for Karmada's
    webhook configuration.
    """

    host: str
    port: int
    snapshot: Snapshot
    certificate: Certificate | None
    health_port: int | None = None

    @property
    def url(self) -> str:
        """Return the URL of the server for clients on the same machine.

        >>> Started("::", 8443, Snapshot(), None).url
        'http://[::1]:8443'
        """
        host = _EVERYWHERE.get(self.host, self.host)
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"


class Server:
    """A server that listens while its ``async with`` block runs. Raises ServeError if its settings do not allow it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._control_plane = plane = _control_plane(settings)
        cluster = plane.cluster if plane else None
        options, load = options_of(settings), Load()
        self._store = store_of(settings, cluster, options.looked_up)
        self._metrics = Metrics()
        self._metrics.show_budget(self._store.budget)
        self._tls = None
        if not settings.plain_http:
            source = certificate_source(settings, *((plane.server_name, plane.is_trusted) if plane else ()))
            self._tls = tls = Tls(source, plane.wake if plane else lambda: None, self._metrics.certificate_failed)
            self._metrics.show("certificate_expiry_timestamp_seconds", lambda: tls.not_after or 0.0)
        if plane:
            # Only now: registration needs the certificate, which in turn asks the control plane who trusts its CA.
            plane.register(self._store, self._tls)
            self._metrics.show("token_expiry_timestamp_seconds", lambda: plane.token.end)
            if registrar := plane.registrar:
                ca_file = plane.ca_file
                # While the file is broken, it is not known whom Karmada has to trust.
                self._metrics.show(
                    "registration_in_step", lambda: registrar.in_step and not (ca_file and ca_file.problem)
                )
        if cluster:
            referenced = cluster.referenced
            self._metrics.show("cluster_stale_seconds", lambda: cluster.stale_for)
            self._metrics.show("references_bytes", lambda: referenced.held)
            self._metrics.show("references_unread", lambda: len(referenced.unread()))
            self._metrics.show("references_without_room", lambda: len(referenced.without_room()))
        self._readiness = Readiness(
            self._store,
            lambda: self._tls.not_after if self._tls else inf,
            lambda: plane.awaited if plane else "",
        )
        self._recorder = _recorder(settings, self._metrics)
        self._gaps = AnswerGaps(lambda: self._store.reader, options, self._metrics.kept)
        self._calls = Calls(self._store, options, load)
        self._metrics.fights.limited = self._calls.interruption.limited
        unread = UnreadReports(self._metrics.left_report_out)
        observers = CallLog(), self._metrics, self._metrics.fights, self._gaps, unread
        self._calls.observers = [observer.see for observer in observers]
        if self._recorder:
            self._calls.observers.append(self._recorder.see)
        existing_kinds = (lambda: plane.kinds) if plane else dict
        application = Application(self._calls, self._readiness, self._metrics, settings, existing_kinds)
        connections = Connections(application, settings)
        self._metrics.show("requests_in_flight", lambda: connections.busy)
        self._listener = Listener(
            connections, self._tls, most=MOST_CONNECTIONS, rejected=self._metrics.connection_rejected
        )
        self._health_port: int | None = None
        self._registration: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._quarantined: tuple[Quarantined, ...] = ()
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        # If the start fails, it closes everything that it has opened. Otherwise `__aexit__` does so.
        async with AsyncExitStack() as opened:
            self._show(self._store.load())
            self._store.subscribe(self._show)
            await self._start(opened)
            self._readiness.beat()
            if self._control_plane:
                self._registration = self._background("registers", self._control_plane.run)
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def _start(self, opened: AsyncExitStack) -> None:
        """Start everything that stays. ``opened`` closes it in reverse order."""
        settings, tls, plane = self._settings, self._tls, self._control_plane
        if tls:
            opened.push_async_callback(tls.source.close)
        if plane:
            opened.push_async_callback(plane.close)
        if self._recorder:
            self._recorder.start()
            opened.push_async_callback(asyncio.to_thread, self._recorder.close)
        opened.callback(self._calls.close)
        opened.enter_context(self._calls.interruption.running())
        opened.push_async_callback(self._listener.close)
        await self._listener.open(settings.host, settings.port)
        if settings.health_port is not None:
            # A beat has no objections before the first one, so an early probe would find the server ready.
            self._readiness.beat()
            health = HealthListener(self._readiness, settings.host, settings.health_port)
            try:
                self._health_port = await health.open()
            except OSError as error:
                raise cannot_listen(settings.host, settings.health_port, error) from error
            opened.callback(health.close)
        # Not before the ports are open: the API server with the Secret may be unavailable, and probes need an answer.
        if tls and tls.certificate.is_placeholder:
            await tls.reload_if_changed()
        # Closed in reverse: first the tasks, then the ports, and last the parts that they use.
        opened.push_async_callback(self._end_tasks)
        if container_memory() == sys.maxsize:
            log.info("no memory limit of a container is known: bounds of memory are the largest")
        self._background("notes that it is alive", partial(every, BEAT_SECONDS, self._readiness.beat))
        self._background("releases memory", partial(every, RELEASE_SECONDS, release_memory))
        self._background("looks for what answers lack", partial(every, LOOK_PAUSE, self._gaps.look))
        self._background("watches the definitions", self._store.watch)
        if tls:
            self._background("renews the certificate", partial(tls.run, settings.look_interval))

    @property
    def started(self) -> Started:
        """Return the address, the definitions and the certificate at this moment."""
        certificate = self._tls.certificate if self._tls else None
        return Started(self._settings.host, self._listener.port, self._store.snapshot, certificate, self._health_port)

    async def wind_down(self) -> None:
        """Report that the server is not ready, go on for the grace period, then finish the calls in flight."""
        self._readiness.draining = True
        self._readiness.beat()
        if self._registration:
            # From now on the remaining replicas write the registration.
            self._registration.cancel()
        await asyncio.sleep(self._settings.grace_period)
        await self._listener.drain(self._settings.drain_timeout)

    def _background(self, what: str, work: AsyncAction) -> asyncio.Task[None]:
        """Do endless work, and go on after an error: no call, file or answer of another server ends it."""
        task = asyncio.create_task(keep_running(what, work, _RETRY_SECONDS))
        self._tasks.append(task)
        return task

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _show(self, snapshot: Snapshot) -> None:
        self._metrics.served(snapshot)
        log_definitions(snapshot, set(self._quarantined))
        self._quarantined = snapshot.quarantined


async def every(seconds: float, act: Callable[[], None]) -> None:
    """Do some work after each pause of so many seconds, until cancelled."""
    while True:
        await asyncio.sleep(seconds)
        act()


_CONFLICTS: Final = {"unknown-kind": "a named kind has no definition", "kind-of-resource": "a kind may be misspelt"}


def log_definitions(snapshot: Snapshot, logged: Collection[Quarantined] = ()) -> None:
    """Log how many definitions are in use, their conflicts, and the others that are not in ``logged``."""
    scripts = sum(1 for entry in snapshot.scripted.values() for _ in entry.definition.scripts)
    log.info("definitions loaded", served=len(snapshot.entries), scripts=scripts, generation=snapshot.generation)
    for conflict in snapshot.findings:
        log.warning(
            _CONFLICTS.get(conflict.rule, "definitions conflict"), reason=in_one_line(conflict), source=conflict.source
        )
    _log_quarantined([broken for broken in snapshot.quarantined if broken not in logged])


def store_of(settings: DefinitionSettings, cluster: "Cluster | None", looked_up: Sequence[GVK] = ()) -> Store:
    """Return a store of all sources that settings name. None of them has been read.

    Answers look up objects of the kinds that are ``looked_up``.
    """
    count_pods = settings.count_pods if isinstance(settings, Settings) else ()
    return Store(
        settings.folders,
        catalogue=settings.catalogue,
        cluster=cluster,
        overrides=settings.overrides,
        selection=Selection(settings.kinds, settings.without, count_pods),
        budget=cluster.budget if cluster else Budget.of_container(),
        looked_up=looked_up,
    )


def options_of(settings: Settings) -> Options:
    """Return how operations answer."""
    return Options.of(asdict(settings))


def _recorder(settings: Settings, metrics: Metrics) -> "Recorder | None":
    if not settings.record:
        return None
    # Imported only with its setting, as below.
    from karta_interpreter.webhook.answering.recorder import MOST_RECORDED, Recorder  # noqa: PLC0415

    secret = settings.record_secrets
    return Recorder(settings.record, MOST_RECORDED, options_of(settings), metrics.recorded, secret=secret)


def _control_plane(settings: Settings) -> "ControlPlane | None":
    if not (settings.cluster or settings.register or settings.service or settings.public_url):
        return None
    # Imported only if needed: watching a cluster takes memory, and time at each start.
    from karta_interpreter.webhook.process.control_plane import ControlPlane  # noqa: PLC0415

    return ControlPlane(settings)


def _log_quarantined(quarantined: Sequence[Quarantined]) -> None:
    """Log which definitions cannot be used, a limited number per source, so that other log lines can be found."""
    logged = Counter[str]()
    for broken in quarantined:
        logged[broken.source] += 1
        if logged[broken.source] <= _MOST_LOGGED:
            message = "definition quarantined" if broken.name else "definitions cannot be read"
            reasons = [in_one_line(finding) for finding in errors_first(broken.findings)[:_MOST_LOGGED]]
            keeps = broken.serving_last_good
            log.warning(message, source=broken.source, name=broken.name, reasons=reasons, serving_last_good=keeps)
    for source, count in logged.items():
        if count > _MOST_LOGGED:
            log.warning("more definitions cannot be used", source=source, more=count - _MOST_LOGGED)
