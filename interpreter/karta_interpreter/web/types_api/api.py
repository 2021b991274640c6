"""Serves the workload types API, as a program of its own."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, cast

from aiohttp import web
from aiohttp.web_server import Server

from karta_interpreter.base.errors import SettingsError
from karta_interpreter.definitions.sources import Budget, Store
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.cluster import Cluster
from karta_interpreter.definitions.sources.token_life import TokenWatch
from karta_interpreter.web.types_api.access import Access, ClusterAccess, TokenFile
from karta_interpreter.web.types_api.application import ClientLimits, application
from karta_interpreter.web.types_api.cluster_storage import ClusterStorage
from karta_interpreter.web.types_api.folder_storage import FolderStorage
from karta_interpreter.web.types_api.judge import Judge
from karta_interpreter.web.types_api.models import Choices
from karta_interpreter.web.types_api.routes import Routes
from karta_interpreter.web.types_api.settings import TypesSettings
from karta_interpreter.web.types_api.view import Storage, View
from karta_interpreter.webhook.http.connection import TimedConnection
from karta_interpreter.webhook.http.ports import cannot_listen, until_signal
from karta_interpreter.webhook.http.tls import Tls, certificate_files
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.memory import RELEASE_SECONDS, release_memory, settle_garbage
from karta_interpreter.webhook.process.server import every, log_definitions, store_of
from karta_interpreter.webhook.process.signals import process

_CERTIFICATE_SECONDS = 10.0
"""Between two looks at the files of the certificate."""
_HEAD_SECONDS = 10.0
"""How long the head of a request may take from its first byte."""
_DRAIN_SECONDS = 10.0
"""How long requests may take when the program ends."""


def run(settings: TypesSettings) -> None:
    """Serve until SIGTERM or SIGINT. Raises InterpreterError if the program cannot start."""

    def begin(url: str) -> None:
        settle_garbage()
        log.info("serving", url=url)

    with process(settings.log_level) as runner:
        runner.run(until_signal(serving(settings), begin))
        log.info("stopped")


@asynccontextmanager
async def serving(settings: TypesSettings) -> AsyncIterator[str]:
    """Serve in a block, at the URL that it gets. Raises InterpreterError if the settings do not allow it."""
    async with AsyncExitStack() as opened:
        tls = _tls(settings)
        api = cluster = None
        if settings.cluster:
            api = await opened.enter_async_context(ApiServer.of(settings.kubeconfig, settings.context))
            api.check()
            _keep(opened, TokenWatch(api.token_life).run())
            cluster = Cluster(api, reports=False, budget=Budget.of_container())
        store = store_of(
            replace(settings, folders=(*filter(None, [settings.types_folder]), *settings.folders)), cluster
        )
        storage, access = _storage(settings, store, api, cluster), _access(settings, api)
        choices = Choices.of(settings.types_categories, settings.types_priorities)
        log_definitions(await asyncio.to_thread(store.load))
        _keep(opened, store.watch())
        _keep(opened, every(RELEASE_SECONDS, release_memory))
        if tls:
            _keep(opened, tls.run(_CERTIFICATE_SECONDS))
        view, judge = View(store, storage), Judge(settings.judge_seconds)
        opened.callback(judge.close)
        if storage.is_known:
            await view.rows()  # 10,000 types take a second of processor time; clients do not have to wait for it
        handlers, limits = Routes(store, storage, view, judge, choices).handlers(), ClientLimits(settings.rate)
        made = application(handlers, access, limits, lambda: storage.is_known)
        yield await _listen(made, settings, tls, opened)
        log.info("stopping")


async def _listen(made: web.Application, settings: TypesSettings, tls: Tls | None, opened: AsyncExitStack) -> str:
    host, port = settings.host, settings.port
    runner = web.AppRunner(made, shutdown_timeout=_DRAIN_SECONDS)
    await runner.setup()
    opened.push_async_callback(runner.cleanup)
    connections = cast("Server", runner.server)

    def connect() -> TimedConnection:
        return TimedConnection(connections, _HEAD_SECONDS)

    context = _context(tls) if tls else None
    try:
        server = await asyncio.get_running_loop().create_server(connect, host, port, ssl=context)
    except OSError as error:
        raise cannot_listen(host, port, error) from error
    opened.callback(server.close)
    port = server.sockets[0].getsockname()[1]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def _tls(settings: TypesSettings) -> Tls | None:
    if source := certificate_files(settings):
        return Tls(source)
    is_loopback = settings.host == "localhost"
    with suppress(ValueError):  # a name is not an address
        is_loopback |= ipaddress.ip_address(settings.host).is_loopback
    if is_loopback:
        return None  # no packet leaves it
    raise SettingsError("an address other than loopback needs TLS: give --certificate-file and --key-file")


def _context(tls: Tls) -> ssl.SSLContext:
    """Return a context that hands every handshake to the newest one."""

    def renew(connection: Any, _name: str | None, _context: ssl.SSLContext) -> None:  # noqa: ANN401 - two types
        connection.context = tls.context

    context = tls.context
    context.sni_callback = renew
    return context


def _keep(opened: AsyncExitStack, work: Coroutine[None, None, None]) -> None:
    opened.callback(asyncio.create_task(work).cancel)


def _storage(settings: TypesSettings, store: Store, api: ApiServer | None, cluster: Cluster | None) -> Storage:
    folder = settings.types_folder
    if folder and cluster:
        raise SettingsError("types are stored on the cluster or in a folder: leave out --cluster or --types-folder")
    if folder:
        if settings.kubeconfig or settings.context:
            log.warning("the kubeconfig has no effect", hint="--cluster stores types there")
        return FolderStorage(folder, store)
    if api and cluster:
        return ClusterStorage(api, cluster, settings.judge_seconds)
    raise SettingsError("types need a place: give --cluster or --types-folder")


def _access(settings: TypesSettings, api: ApiServer | None) -> Access:
    if file := settings.types_token_file:
        return TokenFile(file)
    if api:
        return ClusterAccess(api)
    raise SettingsError("the API needs to know who may use it: give --types-token-file or --cluster")
