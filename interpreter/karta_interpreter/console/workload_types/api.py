"""Serves the workload types API beside the webhook, on an address of its own."""

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from karta_interpreter.console.workload_types.access import Access, ClusterAccess, TokenFile
from karta_interpreter.console.workload_types.cluster_storage import ClusterStorage
from karta_interpreter.console.workload_types.edge import ClientLimits, Edge
from karta_interpreter.console.workload_types.folder_storage import FolderStorage
from karta_interpreter.console.workload_types.judge import Judge
from karta_interpreter.console.workload_types.models import Choices
from karta_interpreter.console.workload_types.records import Storage
from karta_interpreter.console.workload_types.routes import Routes
from karta_interpreter.console.workload_types.view import View
from karta_interpreter.errors import ServeError
from karta_interpreter.server.listener import Connections, Listener
from karta_interpreter.server.log import log
from karta_interpreter.server.server import Shared
from karta_interpreter.server.tls import Tls

_CONNECTIONS = 256
_DRAIN_SECONDS = 1.0
"""How long requests may take when the server stops: it has been about to stop for its grace period by then."""
_CALLS = 2
"""How many times the limit of a call a request may take: it judges several Kartas, or answers all operations."""


@asynccontextmanager
async def serve_types(shared: Shared) -> AsyncIterator[str]:
    """Serve in a block, at the URL that it gets, with what a server shares.

    Raises ServeError where the settings do not allow it.
    """
    settings = shared.settings
    if settings.types_api is None:
        raise ServeError("the workload types API needs an address: give --types-api")
    host, port = settings.types_api
    tls = _tls(shared, host)
    seconds = _CALLS * settings.call_limit
    storage, access = _storage(shared, seconds), _access(shared)
    choices = Choices.of(settings.types_categories, settings.types_priorities)
    judge = Judge(seconds)
    view, limit = View(shared.store, storage), settings.types_body_limit
    routes = Routes(shared.store, storage, view, judge, choices, shared.options, limit)
    edge = Edge(routes.table(), access, ClientLimits(settings.types_rate), shared.readiness)
    connections = Connections(edge, replace(settings, body_limit=limit))
    listener = Listener(connections, tls, most=_CONNECTIONS, rejected=shared.metrics.connection_rejected)
    await listener.open(host, port)
    try:
        url = f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{listener.port}"
        log.info("workload types API", url=url)
        yield url
        await listener.drain(_DRAIN_SECONDS)
        await edge.finish(_DRAIN_SECONDS)
    finally:
        await listener.close()
        judge.close()


def _tls(shared: Shared, host: str) -> Tls | None:
    """The certificate of the server; none on loopback, which no packet leaves."""
    if _is_loopback(host):
        return None
    if shared.tls is None:
        raise ServeError("the workload types API on an address other than loopback needs TLS: leave out --plain-http")
    return shared.tls


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _storage(shared: Shared, seconds: float) -> Storage:
    folder, plane = shared.settings.types_folder, shared.control_plane
    if folder and plane and plane.cluster:
        raise ServeError(
            "workload types are stored on the cluster or in a folder: leave out --cluster or --types-folder"
        )
    if folder:
        return FolderStorage(folder, shared.store)
    if plane and plane.cluster:
        return ClusterStorage(plane.api, plane.cluster, seconds)
    raise ServeError("--types-api needs a place to store workload types: give --cluster or --types-folder")


def _access(shared: Shared) -> Access:
    file, asks = shared.settings.types_token_file, shared.settings.types_token_review
    if file and asks:
        raise ServeError("tokens come from --types-token-file or from --types-token-review: leave one out")
    if file:
        return TokenFile(file)
    if asks and shared.control_plane:
        return ClusterAccess(shared.control_plane.api)
    raise ServeError("--types-api needs to know who may use it: give --types-token-file or --types-token-review")
