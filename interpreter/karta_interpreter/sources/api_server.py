"""Talking to an API server: requests by path, plain JSON objects as answers, one kind of error.

Configuration and credentials are those of a kubeconfig, or of the pod this runs in. They are read with the first
request, and once more when the server does not accept them: rotated tokens and certificates are picked up so.

The only module that imports kubernetes_asyncio, and only when it is used: that costs 0.3 s and 60 MB.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from karta_interpreter import __version__
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.values import Object
from karta_interpreter.sources.api_errors import Request, read_event, read_object, refused, unreachable, unusable

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientTimeout
    from kubernetes_asyncio.client import ApiClient

MANAGER = "karta-interpreter"
"""The field manager of everything that this program writes."""

_SECONDS = 10.0
"""The time for one request, from connecting to the end of its answer."""
_SILENCE_SECONDS = 5.0
"""How long after its end a watch may still be silent before its connection counts as lost."""
_PAGE = "500"
"""The most objects to have listed in one answer, as kubectl asks for."""
_CREDENTIALS_SECONDS = 60.0
"""The time for a program that gets credentials; somebody may have to log in."""

_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


@dataclass(slots=True)
class _Connection:
    """The client of one reading of the configuration, closed once it was given up and is not in use."""

    client: "ApiClient"
    users: int = 0
    given_up: bool = False

    async def close(self) -> None:
        """Close the client unless it is in use."""
        if self.given_up and not self.users:
            await self.client.close()


class ApiServer:
    """An API server, in an ``async with`` block that closes its connections.

    Paths are those of the Kubernetes API, as ``/apis/run.ai/v1alpha1/kartas``. Every method raises ClusterError,
    and nothing else, when it does not succeed: also for a kubeconfig that cannot be used.
    """

    def __init__(self, kubeconfig: str, context: str | None = None) -> None:
        self._kubeconfig = kubeconfig
        self._context = context
        self._present: _Connection | None = None
        self._connecting = asyncio.Lock()

    @classmethod
    def of(cls, kubeconfig: Path | None = None, context: str | None = None) -> Self:
        """The server of a kubeconfig and one of its contexts.

        Without a kubeconfig the server of the cluster that this runs in; outside of one, that of ``$KUBECONFIG`` or
        ``~/.kube/config``.
        """
        if kubeconfig:
            return cls(str(kubeconfig), context)
        if not context and "KUBERNETES_SERVICE_HOST" in os.environ and _SERVICE_ACCOUNT.is_file():
            return cls("")
        return cls(os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config"), context)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._present:
            await self._present.client.close()

    @property
    def url(self) -> str:
        """The URL of the server; before the first request, where it will be read."""
        return str(self._present.client.configuration.host) if self._present else self._source

    async def probe(self) -> str:
        """The version of the server, as ``v1.36.2``."""
        version = await self.get("/version")
        return str(version.get("gitVersion", "unknown"))

    async def get(self, path: str) -> Object:
        """The object at a path."""
        return await self._ask(Request("GET", path, ("get",)))

    async def list(self, path: str, **query: str) -> Object:
        """The list object at the path of a collection; ``query`` as ``labelSelector``."""
        async with aclosing(self._pages(path, ("list",), query)) as pages:
            parts = [page async for page in pages]
        return {**parts[0], "items": [item for page in parts for item in page.get("items") or ()]}

    def pages(self, path: str) -> AsyncGenerator[Object]:
        """Yield the parts of a large list one by one, all of the same version, for a watch from there."""
        return self._pages(path, ("list", "watch"), {})

    async def _pages(self, path: str, verbs: tuple[str, ...], query: Mapping[str, str]) -> AsyncGenerator[Object]:
        asked = {"limit": _PAGE, **query}
        while True:
            page = await self._ask(Request("GET", path, verbs, tuple(asked.items())))
            yield page
            rest = get(page, ("metadata", "continue"))
            if not rest:
                return
            asked["continue"] = str(rest)

    async def create(self, path: str, obj: Object) -> Object:
        """The object as it was created in the collection at a path."""
        return await self._ask(Request("POST", path, ("create",), body=obj))

    async def replace(self, path: str, obj: Object) -> Object:
        """The object at a path after it was replaced; refused with 409 when ``obj`` is of an older resourceVersion."""
        return await self._ask(Request("PUT", path, ("update",), body=obj))

    async def apply(self, path: str, obj: Object, *, manager: str = MANAGER, force: bool = True) -> Object:
        """The object at a path after a server-side apply; ``force`` takes fields over from other managers."""
        query = (("fieldManager", manager), ("force", "true" if force else "false"))
        return await self._ask(Request("PATCH", path, ("create", "patch"), query, obj, _APPLY))

    async def patch_status(self, path: str, body: Object) -> Object:
        """The object at a path after a merge patch of its status subresource; ``body`` holds a ``status``."""
        query = (("fieldManager", MANAGER),)
        return await self._ask(Request("PATCH", f"{path}/status", ("patch",), query, body, _MERGE))

    async def delete(self, path: str) -> Object:
        """Delete the object at a path; return the server's answer."""
        return await self._ask(Request("DELETE", path, ("delete",)))

    async def watch(
        self, path: str, resource_version: str, *, timeout_seconds: int
    ) -> AsyncGenerator[tuple[str, Object]]:
        """Yield type and object of what happens in a collection after a version, until the server ends it in time.

        ``BOOKMARK`` is among the types. An ``ERROR`` event is raised, with its code as the status: 410 when the
        version is too old. Leave the iteration early only inside `contextlib.aclosing`.
        """
        query = (
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", resource_version),
            ("timeoutSeconds", str(timeout_seconds)),
        )
        silence = timeout_seconds + _SILENCE_SECONDS
        async with self._answer(Request("GET", path, ("watch",), query), silence=silence) as (request, response):
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield read_event(request, line)
            if rest:
                raise ConnectionResetError("in the middle of an event")

    async def _ask(self, request: Request) -> Object:
        async with self._answer(request) as (asked, response):
            return read_object(asked, await response.read())

    @asynccontextmanager
    async def _answer(
        self, request: Request, *, silence: float | None = None
    ) -> AsyncIterator[tuple[Request, "ClientResponse"]]:
        """The answer to a request if it is a good one; one without end may be silent for ``silence`` seconds."""
        limit = _limit(silence)
        async with AsyncExitStack() as used:
            client = await used.enter_async_context(self._client())
            request = replace(request, server=self.url)
            try:
                response = await _send(client, request, limit)
                if response.status == HTTPStatus.UNAUTHORIZED:
                    response.close()
                    self._give_up(client)
                    client = await used.enter_async_context(self._client())
                    response = await _send(client, request, limit)
                try:
                    if response.status >= HTTPStatus.BAD_REQUEST:
                        raise refused(request, response.status, await response.read())
                    yield request, response
                finally:
                    response.close()
            except _connection_errors() as error:
                if isinstance(error, ssl.SSLError):
                    self._give_up(client)
                raise unreachable(request, error) from error

    @property
    def _source(self) -> str:
        return f"the kubeconfig {self._kubeconfig}" if self._kubeconfig else "the service account of this pod"

    @asynccontextmanager
    async def _client(self) -> AsyncIterator["ApiClient"]:
        connection = await self._connect()
        connection.users += 1
        try:
            yield connection.client
        finally:
            connection.users -= 1
            await connection.close()

    async def _connect(self) -> _Connection:
        async with self._connecting:
            if self._present is None:
                try:
                    async with asyncio.timeout(_CREDENTIALS_SECONDS):
                        self._present = _Connection(await _open_client(self._kubeconfig, self._context))
                except Exception as error:  # there is no list of what a malformed configuration makes it raise
                    raise unusable(self._source, error) from error
            return self._present

    def _give_up(self, client: "ApiClient") -> None:
        """Let the next request read the configuration again."""
        if self._present and client is self._present.client:
            self._present.given_up = True
            self._present = None


async def _open_client(kubeconfig: str, context: str | None) -> "ApiClient":
    await asyncio.to_thread(import_module, "kubernetes_asyncio.config")
    from kubernetes_asyncio.client import ApiClient, Configuration  # noqa: PLC0415 - see the top of this module
    from kubernetes_asyncio.config import kube_config, load_incluster_config  # noqa: PLC0415 - the same

    configuration = Configuration()
    # Python's strict check refuses certificates that Kubernetes' own clients accept, and that karmadactl makes.
    configuration.disable_strict_ssl_verification = True
    if kubeconfig:
        _look_for(kubeconfig)
        await kube_config.load_kube_config(kubeconfig, context, configuration)
    else:
        load_incluster_config(configuration)  # type: ignore[no-untyped-call] # it has no annotations
    client = ApiClient(configuration)
    # Python takes client certificates from files only. They have been read: no private key stays behind in one.
    kube_config._cleanup_temp_files()  # noqa: SLF001 - there is no public way
    client.user_agent = f"{MANAGER}/{__version__}"
    return client


def _look_for(kubeconfig: str) -> None:
    if not any(Path(file).expanduser().is_file() for file in kubeconfig.split(os.pathsep)):
        raise FileNotFoundError("there is no such file")


async def _send(client: "ApiClient", request: Request, limit: "ClientTimeout") -> "ClientResponse":
    response: ClientResponse = await client.call_api(
        request.path,
        request.method,
        query_params=list(request.query),
        header_params={"Accept": "application/json", "Content-Type": request.content_type},
        body=request.body,
        auth_settings=["BearerToken"],
        _preload_content=False,
        _request_timeout=limit,
    )
    return response


def _limit(silence: float | None) -> "ClientTimeout":
    from aiohttp import ClientTimeout  # noqa: PLC0415 - see the top of this module

    if silence is None:
        return ClientTimeout(total=_SECONDS)
    return ClientTimeout(total=None, connect=_SECONDS, sock_read=silence)


def _connection_errors() -> tuple[type[Exception], ...]:
    from aiohttp import ClientError  # noqa: PLC0415 - see the top of this module

    return (ClientError, OSError)
