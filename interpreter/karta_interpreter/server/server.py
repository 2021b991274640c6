"""A server: its parts put together, from the definitions to the listener, and the process around it."""

import asyncio
import gc
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Self

from karta_interpreter.findings import in_one_line
from karta_interpreter.k8s.requirements import Counting
from karta_interpreter.operations import Options
from karta_interpreter.server.application import Application
from karta_interpreter.server.beside import Beside, Shared
from karta_interpreter.server.calls import Calls
from karta_interpreter.server.health import HealthListener, Readiness
from karta_interpreter.server.listener import Connections, Listener, cannot_listen, release_memory
from karta_interpreter.server.load import Load
from karta_interpreter.server.log import configure_log, flush_log, has_terminal, log, open_standard_files
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.started import Started
from karta_interpreter.server.tls import Tls, certificate_source
from karta_interpreter.sources.snapshot import Quarantined, Selection, Snapshot
from karta_interpreter.sources.store import Store

if TYPE_CHECKING:
    from karta_interpreter.server.control_plane import ControlPlane

_MOST_LOGGED = 20


class Server:
    """A server that listens from entering its ``async with`` block to leaving it.

    ``beside`` serves something else meanwhile. Raises ServeError when its settings do not allow that.
    """

    def __init__(self, settings: Settings, beside: Iterable[Beside] = ()) -> None:
        self._settings = settings
        self._control_plane = plane = _control_plane(settings)
        cluster = plane.cluster if plane else None
        self._store = Store(
            (*filter(None, [settings.types_folder]), *settings.folders),
            catalogue=settings.catalogue,
            cluster=cluster,
            overrides=settings.overrides,
            selection=Selection(settings.kinds, settings.without),
        )
        self._metrics = Metrics()
        self._tls = None
        if not settings.plain_http:
            trust = (plane.server_name, plane.is_trusted) if plane else ()
            source = certificate_source(settings, *trust)
            self._tls = Tls(source, self._metrics, plane.wake if plane else lambda: None)
        if plane:
            plane.register(self._store, self._tls)
            if registrar := plane.registrar:
                self._metrics.show_registration(lambda: registrar.in_step)
        if cluster:
            self._metrics.show_staleness(lambda: cluster.stale_for)
        self._readiness = Readiness(
            self._store,
            lambda: self._tls.not_after if self._tls else inf,
            lambda: plane is None or plane.is_settled,
        )
        options = Options(settings.resource_quota_estimate, Counting(settings.pod_requests))
        self._calls = Calls(self._store, self._metrics, options, Load(settings.calls_in_work))
        taken = (lambda: plane.kinds) if plane else dict
        application = Application(self._calls, self._readiness, self._metrics, settings, taken)
        connections = Connections(application, settings)
        self._metrics.show_in_flight(lambda: connections.busy)
        self._listener = Listener(
            connections, self._tls, most=settings.connections, rejected=self._metrics.connection_rejected
        )
        self._health: HealthListener | None = None
        self._health_port: int | None = None
        self._registration: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._quarantined: tuple[Quarantined, ...] = ()
        self._shared = Shared(settings, self._store, options, self._readiness, self._metrics, self._tls, plane)
        self._beside, self._stack = tuple(beside), AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._show(self._store.load())
        self._store.subscribe(self._show)
        await self._listener.open(self._settings.host, self._settings.port)
        if self._settings.health_port is not None:
            await self._listen_for_probes(self._settings.host, self._settings.health_port)
        if self._tls and self._tls.certificate.stands_in:
            await self._tls.look()
        try:
            for each in self._beside:
                await self._stack.enter_async_context(each(self._shared))
        except BaseException:
            await self._listener.close()
            if self._health:
                self._health.close()
            raise
        self._background("beating", self._readiness.run())
        self._background("watching the definitions", self._store.watch())
        if self._tls:
            self._background("renewing the certificate", self._tls.run(self._settings.certificate_interval))
        if self._control_plane:
            self._registration = self._background("registering", self._control_plane.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._listener.close()
        self._calls.close()
        if self._control_plane:
            await self._control_plane.close()
        if self._tls:
            await self._tls.source.close()
        if self._health:
            self._health.close()

    @property
    def started(self) -> Started:
        """The address, the definitions and the certificate at this moment."""
        certificate = self._tls.certificate if self._tls else None
        return Started(self._settings.host, self._listener.port, self._store.snapshot, certificate, self._health_port)

    async def reload_when(self, asked: asyncio.Event) -> None:
        """Read folders, certificate and CA file again each time that the event is set, until cancelled.

        The server notices changes by itself; this is for the user who wants to have them now.
        """
        while await asked.wait():
            asked.clear()
            await self._store.reload()
            if self._tls:
                await self._tls.look()
            if self._control_plane:
                await self._control_plane.look()
            log.info("reloaded", generation=self._store.snapshot.generation)

    async def wind_down(self) -> None:
        """Report that the server is not ready, go on for the grace period, then finish the calls in flight."""
        self._readiness.draining = True
        self._readiness.beat()
        if self._registration:
            # From here on the replicas that stay write the registration.
            self._registration.cancel()
        await asyncio.sleep(self._settings.grace_period)
        await self._listener.drain(self._settings.drain_timeout)

    async def _listen_for_probes(self, host: str, port: int) -> None:
        self._readiness.beat()
        self._health = HealthListener(self._readiness, host, port)
        try:
            self._health_port = await self._health.open()
        except OSError as error:
            await self._listener.close()
            raise cannot_listen(host, port, error) from error

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
            log.warning("definitions conflict", reason=in_one_line(conflict), source=conflict.source)
        known = set(self._quarantined)
        _log_quarantined([broken for broken in snapshot.quarantined if broken not in known])
        self._quarantined = snapshot.quarantined
        release_memory()


def _control_plane(settings: Settings) -> "ControlPlane | None":
    asks = settings.types_api and settings.types_token_review
    if not (settings.cluster or settings.register or settings.service or settings.public_url or asks):
        return None
    # Imported only where there is one: what watches a cluster takes memory and time at each start.
    from karta_interpreter.server.control_plane import ControlPlane  # noqa: PLC0415

    return ControlPlane(settings)


def _log_quarantined(quarantined: Sequence[Quarantined]) -> None:
    """Log which definitions cannot be used, a limited number per source, so that other log lines can be found."""
    logged = Counter[str]()
    for broken in quarantined:
        logged[broken.source] += 1
        if logged[broken.source] <= _MOST_LOGGED:
            what = "definition quarantined" if broken.name else "definitions cannot be read"
            reasons = [in_one_line(finding) for finding in broken.findings[:_MOST_LOGGED]]
            log.warning(what, source=broken.source, name=broken.name, reasons=reasons)
    for source, count in logged.items():
        if count > _MOST_LOGGED:
            log.warning("more definitions cannot be used", source=source, more=count - _MOST_LOGGED)


# uvloop is not there on every platform that Python runs on.
_LOOPS = "uvloop" if find_spec("uvloop") else "asyncio"


def run(
    settings: Settings, *, started: Callable[[Started], None] = lambda _: None, beside: Iterable[Beside] = ()
) -> None:
    """Serve until SIGTERM or SIGINT, and what is ``beside``; ``started`` is called once the server listens.

    The first signal ends the server in order (see `Settings`), a second one at once. SIGHUP reloads, unless it is sent
    because the server's terminal was closed: then it ends the server, too. Raises ServeError when the server cannot
    start.
    """
    open_standard_files()
    configure_log(settings.log_level, settings.log_format)
    gc.freeze()  # imported modules: to load definitions takes a tenth less then
    try:
        with asyncio.Runner(loop_factory=import_module(_LOOPS).new_event_loop) as runner:
            runner.run(_serve(settings, started, beside))
    finally:
        flush_log()


async def _serve(settings: Settings, started: Callable[[Started], None], beside: Iterable[Beside]) -> None:
    asked, insisted, reload = asyncio.Event(), asyncio.Event(), asyncio.Event()
    had_terminal = has_terminal()

    def stop() -> None:
        (insisted if asked.is_set() else asked).set()

    def hang_up() -> None:
        if had_terminal and not has_terminal():
            stop()
        else:
            reload.set()

    for number, act in ((signal.SIGTERM, stop), (signal.SIGINT, stop), (signal.SIGHUP, hang_up)):
        asyncio.get_running_loop().add_signal_handler(number, act)
    async with Server(settings, beside) as server:
        _settle_garbage()
        log.info("serving", url=server.started.url)
        started(server.started)
        reloading = asyncio.create_task(server.reload_when(reload))
        await asked.wait()
        log.info("stopping", grace_period=settings.grace_period)
        reloading.cancel()
        ends = [asyncio.create_task(server.wind_down()), asyncio.create_task(insisted.wait())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
    log.info("stopped")


def _settle_garbage() -> None:
    """Exclude present objects from garbage collection, and collect less often.

    Definitions stay, and requests are trees without cycles: this saves a fifth of the time that parsing a large body
    takes.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
