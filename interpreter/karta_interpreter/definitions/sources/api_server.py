"""The client of an API server: requests by path, plain JSON objects as answers, one kind of error.

Configuration and credentials come from a kubeconfig, or from the pod. They are read at the first request, and again
when the server does not accept them, because tokens and certificates are rotated.

kubernetes_asyncio, and aiohttp below it, are imported on first use: only some servers and commands need them.
"""

import asyncio
import os
import re
import shutil
import ssl
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from functools import partial
from http import HTTPStatus
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import yaml
from msgspec.structs import replace

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import Object, get, objects_in, request_path
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.definitions.sources.api_errors import (
    ApiRequest,
    read_event,
    read_object,
    rejected,
    too_large,
    unreachable,
    unusable,
)
from karta_interpreter.definitions.sources.token_life import TokenLife

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from karta_interpreter.definitions.sources.kubernetes_client import ApiClient

MANAGER = "karta-interpreter"
"""The field manager of everything that this program writes."""
CRD = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CRDS = request_path(*CRD)

# The time for one request, from connecting to the end of its answer.
_SECONDS = 10.0
# How long after its end a watch may still be silent before its connection counts as lost.
_SILENCE_SECONDS = 5.0
# The most objects in one answer to a list, and the most bytes if it has several. No call is answered while they are
# decoded, at 20 ms for a megabyte.
_PAGE, _PAGE_BYTES = 50, 2**20
_MOST_BYTES = 2**24  # of any answer, and of an event of a watch
_MOST_LISTED = 2**26  # bytes of all parts of a list that is kept whole
# Of any list: the time for all parts, the most objects, and how many a part without an object counts for. Kubernetes
# lets a server filter all objects of a part.
_LIST_SECONDS, _MOST_OBJECTS, _EMPTY = 600.0, 1_000_000, 10_000
# The time for a program that gets credentials. A user may have to log in.
_CREDENTIALS_SECONDS = 60.0

_TOKEN = re.compile(r"[\w.~+/=-]*\s*", re.ASCII)
_NAMESPACE = "default"
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


Answer = TypeVar("Answer")


async def existing(answer: Awaitable[Answer]) -> Answer | None:
    """Return the answer of an API server, None if what it is about does not exist. Raises ClusterError."""
    try:
        return await answer
    except ClusterError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return None


class ApiServer:
    """An API server, in an ``async with`` block that closes its connections.

    Paths are paths of the Kubernetes API, such as ``/apis/run.ai/v1alpha1/kartas``. A method that fails raises
    ClusterError and nothing else, even if the kubeconfig is unusable.
    """

    def __init__(self, kubeconfig: str, context: str | None = None) -> None:
        self._kubeconfig = kubeconfig
        self._context = context
        self._present: ApiClient | None = None
        self._users: Counter[ApiClient] = Counter()
        self._connecting = asyncio.Lock()
        self.namespace = _NAMESPACE
        """The namespace of the context, known after the first request."""

    @classmethod
    def of(cls, kubeconfig: Path | None = None, context: str | None = None) -> Self:
        """Return the server of a kubeconfig and one of its contexts.

        Without a kubeconfig, a pod uses the server of its cluster. Any other process uses ``$KUBECONFIG`` or
        ``~/.kube/config``.
        """
        if kubeconfig:
            return cls(str(kubeconfig), context)
        if not context and "KUBERNETES_SERVICE_HOST" in os.environ and _SERVICE_ACCOUNT.is_file():
            return cls("")
        home = os.path.expanduser("~/.kube/config")  # noqa: PTH111 - `Path.home` raises RuntimeError where there is none
        return cls(os.environ.get("KUBECONFIG") or home, context)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._present:
            await self._present.close()

    def check(self) -> None:
        """Raise ClusterError if the kubeconfig or the context does not exist. Other failures show with a request."""
        try:
            _check_there(self._kubeconfig, self._context)
        except Exception as error:  # the errors that a malformed configuration raises are not documented
            raise unusable(self._source, error) from error

    def token_life(self) -> TokenLife | None:
        """Return the life of the token that the kubeconfig has now.

        Return None if it has another token or none, or cannot be used. Then requests have the reason.
        """
        try:
            return TokenLife.of(_check_there(self._kubeconfig, self._context))
        except Exception:  # noqa: BLE001 - as above
            return None

    @property
    def url(self) -> str:
        """The URL of the server. Before the first request, the source of the configuration."""
        return str(self._present.configuration.host) if self._present else self._source

    async def get(self, path: str) -> Object:
        """Return the object at a path."""
        return await self._ask(ApiRequest("GET", path, ("get",)))

    async def list(self, path: str, selector: str = "") -> Sequence[Object]:
        """Return the objects of a collection that a label selector matches, or all objects without a selector."""
        async with aclosing(self.pages(path, ("list",), selector=selector, most=_MOST_LISTED)) as pages:
            return [obj async for page in pages for obj in objects_in(page.get("items"))]

    async def resources(self, api_version: str) -> Sequence[Object]:
        """Return the kinds and subresources of an API version: the entries of its ``APIResourceList``."""
        group, _, version = api_version.rpartition("/")
        return objects_in((await self.get(request_path(group, version))).get("resources"))

    async def pages(
        self,
        path: str,
        verbs: tuple[str, ...] = ("list", "watch"),
        *,
        selector: str = "",
        size: int = _PAGE,
        most: int = sys.maxsize,
        read: Callable[[ApiRequest, bytes], Awaitable[Object]] | None = None,
    ) -> AsyncGenerator[Object]:
        """Yield the parts of a large list one by one. All have the same version, and a watch can start from it.

        A part has at most ``size`` objects, and is what ``read`` makes of an answer. Raise ClusterError if all parts
        together have more than ``most`` bytes, or do not come to an end.
        """
        selected = (("labelSelector", selector),) if selector else ()
        limit, continuation, bytes_read, objects = size, selected, 0, 0
        until = asyncio.get_running_loop().time() + _LIST_SECONDS
        while True:
            request = ApiRequest("GET", path, verbs, (("limit", str(limit)), *continuation))
            try:
                async with self._answer(request) as (authorized, response):
                    most_read = _PAGE_BYTES * size // _PAGE if limit > 1 else _MOST_BYTES
                    content = await _read(authorized, response, most_read)
            except ClusterError as error:
                if error.reason != "TooLarge" or limit == 1:
                    raise
                limit = max(limit // 4, 1)
                continue
            bytes_read += len(content)
            if bytes_read > most:
                raise too_large(authorized, most)
            page = await read(authorized, content) if read else read_object(authorized, content)
            yield page
            token, number = get(page, ("metadata", "continue")), len(objects_in(page.get("items")))
            if not token:
                return
            before, continuation = continuation, (*selected, ("continue", str(token)))
            objects, limit = objects + (number or _EMPTY), min(limit * 2, size)
            is_late = asyncio.get_running_loop().time() > until
            if before == continuation or objects >= _MOST_OBJECTS or is_late:
                raise ClusterError(f"{authorized}: the list does not end", reason="Endless")

    async def create(self, path: str, obj: Object) -> Object:
        """Create an object in the collection at a path, and return it."""
        return await self._ask(ApiRequest("POST", path, ("create",), body=obj))

    async def replace(self, path: str, obj: Object) -> Object:
        """Replace the object at a path, and return it. The server refuses an older resourceVersion with 409."""
        return await self._ask(ApiRequest("PUT", path, ("update",), body=obj))

    async def apply(self, path: str, obj: Object) -> Object:
        """Apply an object on the server, take over fields from other managers, and return the result."""
        query = (("fieldManager", MANAGER), ("force", "true"))
        return await self._ask(
            ApiRequest("PATCH", path, ("create", "patch"), query, obj, "application/apply-patch+yaml")
        )

    async def patch_status(self, path: str, body: Object) -> Object:
        """Merge the ``status`` of ``body`` into the status subresource at a path, and return the object."""
        query, content_type = (("fieldManager", MANAGER),), "application/merge-patch+json"
        return await self._ask(ApiRequest("PATCH", f"{path}/status", ("patch",), query, body, content_type))

    async def delete(self, path: str, *, preconditions: Object | None = None) -> Object:
        """Delete the object at a path, and return the answer. If ``preconditions`` do not match, the answer is 409."""
        body = {"preconditions": preconditions} if preconditions else None
        return await self._ask(ApiRequest("DELETE", path, ("delete",), body=body))

    async def watch(
        self,
        path: str,
        resource_version: str,
        *,
        timeout_seconds: int,
        read: Callable[[ApiRequest, bytes], Awaitable[tuple[str, Object]]] | None = None,
    ) -> AsyncGenerator[tuple[str, Object]]:
        """Yield type and object of each event in a collection after a version, until the server ends the watch in time.

        An ``ERROR`` event is raised, with its code as the status. Leave early only inside `contextlib.aclosing`.
        """
        query = (
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", resource_version),
            ("timeoutSeconds", str(timeout_seconds)),
        )
        silence = timeout_seconds + _SILENCE_SECONDS
        async with self._answer(ApiRequest("GET", path, ("watch",), query), silence=silence) as (request, response):
            tail = b""
            async for chunk in response.content.iter_any():
                # aiohttp limits the length of its lines, and an event has an object of up to 1.5 MiB.
                *lines, tail = (tail + chunk).split(b"\n")
                for line in lines:
                    yield await read(request, line) if read else read_event(request, line)
                if len(tail) > _MOST_BYTES:
                    raise too_large(request, _MOST_BYTES)
            if tail:
                raise ConnectionResetError("in the middle of an event")

    async def _ask(self, request: ApiRequest) -> Object:
        async with self._answer(request) as (authorized, response):
            return read_object(authorized, await _read(authorized, response, _MOST_BYTES))

    @asynccontextmanager
    async def _answer(
        self, request: ApiRequest, *, silence: float | None = None
    ) -> AsyncIterator[tuple[ApiRequest, "ClientResponse"]]:
        """Yield the successful answer to a request. An endless answer may be silent for ``silence`` seconds."""
        from aiohttp import ClientError  # noqa: PLC0415 - see the top of this module

        # Rejected credentials may have been rotated: read them again, once.
        for may_be_outdated in (True, False):
            async with self._client() as client:
                request = replace(request, server=self.url)
                try:
                    # An answer read to its end has returned its connection. A watch ends with its connection.
                    with closing(await _send(client, request, silence)) as response:
                        if may_be_outdated and response.status == HTTPStatus.UNAUTHORIZED:
                            self._give_up(client)
                            continue
                        if response.status >= HTTPStatus.MULTIPLE_CHOICES:
                            raise rejected(request, response.status, await _read(request, response, _MOST_BYTES))
                        yield request, response
                        return
                except (ClientError, OSError, UnicodeError) as error:
                    # The base of aiohttp's TLS errors. The CA or our certificate may have been rotated.
                    if isinstance(error, ssl.SSLError):
                        self._give_up(client)
                    raise unreachable(request, error) from error

    @property
    def _source(self) -> str:
        return f"the kubeconfig {self._kubeconfig}" if self._kubeconfig else "the service account of this pod"

    @asynccontextmanager
    async def _client(self) -> AsyncIterator["ApiClient"]:
        # Concurrent requests share one connection pool, and one login of the user.
        async with self._connecting:
            client = self._present = self._present or await self._connect()
        self._users[client] += 1
        try:
            yield client
        finally:
            self._users[client] -= 1
            # The client was given up while another request, such as a watch, used it.
            if client is not self._present and not self._users[client]:
                del self._users[client]
                await client.close()

    async def _connect(self) -> "ApiClient":
        # In a thread: the import takes longer than any answer, and would block all calls.
        await asyncio.to_thread(import_module, "karta_interpreter.definitions.sources.kubernetes_client")
        try:
            async with asyncio.timeout(_CREDENTIALS_SECONDS):
                client, self.namespace = await _open_client(self._kubeconfig, self._context)
                return client
        except Exception as error:  # the errors that a malformed configuration raises are not documented
            raise unusable(self._source, error) from error

    def _give_up(self, client: "ApiClient") -> None:
        """Let the next request read the configuration again. The last user of the client closes it."""
        if client is self._present:
            self._present = None


async def _open_client(kubeconfig: str, context: str | None) -> tuple["ApiClient", str]:
    from karta_interpreter.definitions.sources.kubernetes_client import (  # noqa: PLC0415 - see the top of this module
        ApiClient,
        Configuration,
        check_server,
        kube_config,
        load_incluster_config,
    )

    configuration, namespace = Configuration(), None
    # Python's strict check refuses certificates that Kubernetes' own clients accept, and that karmadactl makes.
    configuration.disable_strict_ssl_verification = True
    if kubeconfig:
        _check_there(kubeconfig, context, has_to_run=True)
        loaded = await kube_config.load_kube_config(kubeconfig, context, configuration)
        namespace = get(loaded.current_context, ("context", "namespace"))
    else:
        load_incluster_config(configuration)  # type: ignore[no-untyped-call] # it has no annotations
    check_server(str(configuration.host))
    client = ApiClient(configuration)
    # Python reads client certificates from files only. Remove them now, so that no private key stays on disk.
    kube_config._cleanup_temp_files()  # noqa: SLF001 - there is no public way
    # No API server redirects. Whoever does so would choose the next path.
    session = client.rest_client.pool_manager
    session.request = partial(session.request, allow_redirects=False)  # type: ignore[method-assign]
    client.user_agent = f"{MANAGER}/{metadata.version('karta-interpreter')}"
    return client, str(namespace or _NAMESPACE)


def _check_there(kubeconfig: str, context: str | None, *, has_to_run: bool = False) -> str:
    """Return the token of the user. Raises an error of any type if the kubeconfig cannot be used."""
    # `$KUBECONFIG` may list several files. Like kubectl, ignore missing ones.
    files = [*filter(os.path.isfile, map(os.path.expanduser, kubeconfig.split(os.pathsep)))]
    if kubeconfig and not files:
        raise FileNotFoundError(
            "it is a folder"
            if Path(kubeconfig).is_dir()
            else "it is a pipe or a device"
            if Path(kubeconfig).exists()
            else "there is no such file" + f"; `{os.pathsep}` stands between several" * ("," in kubeconfig)
        )
    # What is not a mapping may be recognized, such as base64 from a Secret.
    contents: list[Any] = [
        content
        if isinstance(content := yaml.safe_load(text := Path(file).read_bytes()), dict)
        else [*read_documents(text.decode(errors="replace"), file), None][0]
        for file in files
    ]
    if kinds := [str(content["kind"]) for content in contents if content.get("kind", "Config") != "Config"]:
        raise ValueError(
            f"it is not a kubeconfig, but a {kinds[0]}"
            + "; `base64 -d` makes one of a value of its data" * (kinds[0] == "Secret")
        )
    contexts, clusters, users = (
        {str(entry["name"]): entry for content in contents for entry in objects_in(content.get(field))}
        for field in ("contexts", "clusters", "users")
    )
    # Of several files kubernetes_asyncio takes the last one's.
    context_name = context or next(
        (content["current-context"] for content in reversed(contents) if "current-context" in content), ""
    )
    if contents and context_name not in contexts:
        what = f'there is no context "{context_name}"' if context_name else "it names no current-context"
        raise LookupError(f"{what}; its contexts are: {', '.join(contexts) or 'none'}")
    for part, entries in (("cluster", clusters), ("user", users)):
        if (name := get(contexts.get(context_name), ("context", part))) and str(name) not in entries:
            raise LookupError(
                f'its context "{context_name}" names the {part} "{name}"; '
                f"its {part}s are: {', '.join(entries) or 'none'}"
            )
    user = users.get(get(contexts.get(context_name), ("context", "user")))
    program = get(user, ("user", "exec", "command"))
    # A program to come may be installed while a server runs, and `env` may have another PATH for it.
    if has_to_run and program and not (get(user, ("user", "exec", "env")) or shutil.which(str(program))):
        raise ValueError(f'its user "{get(user, ("name",))}" logs in by {program}, which is not installed here')
    token = str(get(user, ("user", "token")) or "")
    is_encoded = token.startswith("ZXlK")  # base64 of a JSON Web Token, which begins with eyJ
    if is_encoded or not _TOKEN.fullmatch(token):
        raise ValueError(
            "the token of its user is in base64, as a Secret has it: `base64 -d` gives the token"
            if is_encoded
            else "the token of its user is not one: it has other signs than letters, digits and - . _ ~ + / ="
        )
    return token.strip()


async def _send(client: "ApiClient", request: ApiRequest, silence: float | None) -> "ClientResponse":
    from aiohttp import ClientTimeout  # noqa: PLC0415 - see the top of this module

    unlimited = silence is not None
    response: ClientResponse = await client.call_api(
        request.path,
        request.method,
        query_params=list(request.query),
        header_params={"Accept": "application/json", "Content-Type": request.content_type},
        body=request.body,
        auth_settings=["BearerToken"],
        _preload_content=False,  # the response of aiohttp itself, and no models of objects
        _request_timeout=ClientTimeout(None if unlimited else _SECONDS, connect=_SECONDS, sock_read=silence),
    )
    return response


async def _read(request: ApiRequest, response: "ClientResponse", most: int) -> bytes:
    try:
        await response.content.readexactly(most + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise too_large(request, most)
