"""A small API server on loopback, which can be told to misbehave."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.support.waiting import HANG

KARTAS = "/apis/run.ai/v1alpha1/kartas"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class _Rule:
    verb: str
    path: str
    handler: Handler
    times: int


@dataclass
class Asked:
    """A request as it arrived."""

    verb: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


def status(code: int, reason: str = "", message: str = "as the test wants it") -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response(_status(code, reason, message), status=code)

    return answer


def stream(*pieces: bytes, abort: bool = False, hang: bool = False) -> Handler:
    """Send the pieces one by one; then end, break the connection, or be silent."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(0)
        if hang:
            await asyncio.Event().wait()
        if abort and request.transport:
            request.transport.abort()
        return response

    return answer


async def never(_: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


@dataclass
class ScriptedApi:
    """Objects by the path of their collection, with the history of their changes.

    A collection that is not in ``collections`` does not exist. ``kinds`` are those that discovery tells of.
    """

    collections: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {KARTAS: {}})
    kinds: dict[str, list[str]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    """The paths of all requests, as they came."""
    url: str = ""
    _version: int = 100
    _forgotten: int = 0
    _history: list[tuple[int, str, str, dict[str, Any]]] = field(default_factory=list)
    _rules: list[_Rule] = field(default_factory=list)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: int = 0

    def put(self, path: str, name: str, spec: Any, **metadata: Any) -> None:
        """Create an object, or change its spec, which counts its generation up."""
        old = self.collections[path].get(name)
        kept = old["metadata"] if old else {"name": name, "uid": f"uid-{self._version}", "generation": 0}
        metadata = {"creationTimestamp": "2026-01-01T00:00:00Z", **kept, **metadata}
        if not old or old["spec"] != spec:
            metadata["generation"] += 1
        obj = {"apiVersion": path[6:].rpartition("/")[0], "kind": "Karta", "metadata": metadata, "spec": spec}
        if old and "status" in old:
            obj["status"] = old["status"]
        self._change("MODIFIED" if old else "ADDED", path, obj)

    def delete(self, path: str, name: str) -> None:
        self._change("DELETED", path, self.collections[path][name])

    def expire(self) -> None:
        """Forget all history: a client that watches from an older version has to list again."""
        self._forgotten = self._version = self._version + 1

    def end_watches(self) -> None:
        """End all watches in good order."""
        self._turn += 1
        self._wake()

    def on(self, verb: str, path: str, handler: Handler, *, times: int = 1) -> None:
        """Answer the next requests of that kind by the handler."""
        self._rules.append(_Rule(verb, path, handler, times))

    def behave(self) -> None:
        self._rules.clear()

    def requests(self, verb: str, path: str = "") -> list[Asked]:
        return [asked for asked in self.asked if asked.verb == verb and (not path or asked.path == path)]

    async def was_asked(self, verb: str, path: str = "", times: int = 1) -> Asked:
        """The request of that number, once it has arrived."""
        async with asyncio.timeout(HANG):
            while len(self.requests(verb, path)) < times:
                await self._next()
        return self.requests(verb, path)[times - 1]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        verb = _verb(request)
        body = json.loads(await request.read() or b"null")
        self.paths.append(request.raw_path.partition("?")[0])
        self.asked.append(Asked(verb, request.path, dict(request.query), dict(request.headers), body))
        self._wake()
        for rule in self._rules:
            if (rule.verb, rule.path) == (verb, request.path):
                rule.times -= 1
                if not rule.times:
                    self._rules.remove(rule)
                return await rule.handler(request)
        return await self._behaved(verb, request, body)

    async def _behaved(self, verb: str, request: web.Request, body: Any) -> web.StreamResponse:
        path = request.path
        group_version = path.removeprefix("/apis/").removeprefix("/api/")
        if group_version in self.kinds:
            resources = [{"name": kind.lower(), "kind": kind} for kind in self.kinds[group_version]]
            return web.json_response({"kind": "APIResourceList", "resources": resources})
        if path == "/apis":
            served = [{"versions": [{"groupVersion": version}]} for version in self.kinds]
            return web.json_response({"kind": "APIGroupList", "groups": served})
        if verb == "patch" and path.endswith("/status"):
            collection, _, name = path.removesuffix("/status").rpartition("/")
            obj = {**self.collections[collection][name], **body}
            self._change("MODIFIED", collection, obj)
            return web.json_response(obj)
        if path not in self.collections:
            return await status(404, "NotFound")(request)
        if verb == "create":
            return await self._create(request, body)
        if verb == "watch":
            return await self._watch(request)
        items = list(self.collections[path].values())
        return web.json_response({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _create(self, request: web.Request, body: Any) -> web.StreamResponse:
        name = body["metadata"]["name"]
        if name in self.collections[request.path]:
            return await status(409, "AlreadyExists")(request)
        self.collections[request.path][name] = body
        return web.json_response(body, status=201)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        after = int(request.query["resourceVersion"])
        turn = self._turn
        response = web.StreamResponse()
        await response.prepare(request)
        if after < self._forgotten:
            await response.write(_line("ERROR", _status(410, "Expired", "too old resource version")))
            return response
        while True:
            for version, path, kind, obj in self._history:
                if path == request.path and version > after:
                    after = version
                    await response.write(_line(kind, obj))
            if turn != self._turn and after < self._forgotten:
                # A bookmark of the present version would save the client from listing again.
                await response.write(_line("ERROR", _status(410, "Expired", "too old resource version")))
                return response
            if turn != self._turn:
                bookmark = {"metadata": {"resourceVersion": str(self._version)}}
                await response.write(_line("BOOKMARK", bookmark))
                return response
            await self._next()

    def _change(self, kind: str, path: str, obj: dict[str, Any]) -> None:
        self._version += 1
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        name = obj["metadata"]["name"]
        if kind == "DELETED":
            del self.collections[path][name]
        else:
            self.collections[path][name] = obj
        self._history.append((self._version, path, kind, obj))
        self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def _next(self) -> None:
        await self._moved.wait()


@asynccontextmanager
async def serving(api: ScriptedApi, *, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[ScriptedApi]:
    async with listening(api.handle, port=port, tls=tls) as taken:
        api.url = f"https://localhost:{taken}" if tls else f"http://127.0.0.1:{taken}"
        yield api


@asynccontextmanager
async def listening(handler: Handler, *, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A port on loopback whose requests go to a handler."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(application, shutdown_timeout=0.01, handler_cancellation=True)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", port))
    try:
        await web.SockSite(runner, listener, ssl_context=tls).start()
        yield listener.getsockname()[1]
    finally:
        # asyncio leaves a connection open for ever whose listener is closed while it is being accepted.
        asyncio.get_running_loop().remove_reader(listener)
        for _ in range(5):
            await asyncio.sleep(0)
        await runner.cleanup()


def write_kubeconfig(path: Path, server: str, *, token: str = "token", **cluster: str) -> Path:  # noqa: S107 - none
    config = {
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "clusters": [{"name": "test", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "test", "user": {"token": token}}],
    }
    path.write_text(json.dumps(config))
    return path


def _verb(request: web.Request) -> str:
    if request.method == "GET":
        return "watch" if "watch" in request.query else "get"
    return {"POST": "create", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}[request.method]


def _status(code: int, reason: str, message: str) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}


def _line(kind: str, obj: Any) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"
