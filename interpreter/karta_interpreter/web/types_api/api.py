"""Serves the workload types API, on an address of its own."""

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from karta_interpreter.base.errors import ServeError
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.cluster import Cluster
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.web.types_api.access import Access, ClusterAccess, TokenFile
from karta_interpreter.web.types_api.cluster_storage import ClusterStorage
from karta_interpreter.web.types_api.edge import ClientLimits, HttpApi
from karta_interpreter.web.types_api.folder_storage import FolderStorage
from karta_interpreter.web.types_api.judge import Judge
from karta_interpreter.web.types_api.models import Choices
from karta_interpreter.web.types_api.records import Storage
from karta_interpreter.web.types_api.routes import Routes
from karta_interpreter.web.types_api.view import View
from karta_interpreter.web.webhook import Webhook
from karta_interpreter.webhook.http.listener import Connections, Listener
from karta_interpreter.webhook.http.tls import Tls
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.process.server import options_of
from karta_interpreter.webhook.settings import MIB, Settings

_CONNECTIONS = 256
_MOST_BYTES = 2 * MIB
"""Of a request."""
_DRAIN_SECONDS = 1.0
"""How long requests may take when the server stops: it has been about to stop for its grace period by then."""
_CALLS = 2
"""How many times the limit of a call a request may take: it judges several Kartas, or answers all operations."""


@asynccontextmanager
async def serve_types(
    settings: Settings, store: Store, api: ApiServer | None, cluster: Cluster | None, tls: Tls | None, webhook: Webhook
) -> AsyncIterator[str]:
    """Serve in a block, at the URL that it gets. Raises ServeError if the settings do not allow it.

    ``api`` and ``cluster`` are None if the settings ask for neither, ``tls`` if the webhook has none.
    """
    if settings.types_api is None:
        raise ServeError("the workload types API needs an address: give --types-api")
    host, port = settings.types_api
    if _is_loopback(host):
        tls = None  # no packet leaves it
    elif tls is None:
        raise ServeError("the workload types API on an address other than loopback needs TLS: leave out --plain-http")
    seconds = _CALLS * settings.call_limit
    storage, access = _storage(settings, store, api, cluster, webhook, seconds), _access(settings, api)
    choices = Choices.of(settings.types_categories, settings.types_priorities)
    judge = Judge(seconds)
    view, limit = View(store, storage), _MOST_BYTES
    routes = Routes(store, storage, view, judge, choices, options_of(settings), limit)
    edge = HttpApi(routes.table(), access, ClientLimits(settings.types_rate))
    webhook.on_drain = lambda: setattr(edge, "draining", True)
    connections = Connections(edge, replace(settings, body_limit=limit))
    listener = Listener(connections, tls, most=_CONNECTIONS, rejected=Metrics().connection_rejected)
    await view.rows()  # 10,000 types take a second of processor time; clients do not have to wait for it
    await listener.open(host, port)
    try:
        yield f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{listener.port}"
        await listener.drain(_DRAIN_SECONDS)
        await edge.finish(_DRAIN_SECONDS)
    finally:
        await listener.close()
        judge.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _storage(
    settings: Settings, store: Store, api: ApiServer | None, cluster: Cluster | None, webhook: Webhook, seconds: float
) -> Storage:
    folder = settings.types_folder
    if folder and cluster:
        raise ServeError(
            "workload types are stored on the cluster or in a folder: leave out --cluster or --types-folder"
        )
    if folder:
        return FolderStorage(folder, store, webhook.ask)
    if api and cluster:
        return ClusterStorage(api, cluster, webhook.ask, seconds)
    raise ServeError("--types-api needs a place to store workload types: give --cluster or --types-folder")


def _access(settings: Settings, api: ApiServer | None) -> Access:
    if file := settings.types_token_file:
        return TokenFile(file)
    if api:
        return ClusterAccess(api)
    raise ServeError("--types-api needs to know who may use it: give --types-token-file or --cluster")
