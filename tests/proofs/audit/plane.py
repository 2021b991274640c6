"""A control plane with many or large objects, in a process of its own, which lists, watches and deletes them."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession, web

from tests.definitions.sources.scripted_api import write_kubeconfig
from tests.proofs.rig.processes import free_port

NAMESPACE: Final = "bakery"
_VERSION: Final = "1000"


@dataclass(frozen=True, slots=True)
class Collection:
    """Objects of a kind: so many, each with a list of about ``size`` bytes, in the namespace of the audit.

    ``workloads`` are kinds of the same API that the server has no objects of.
    """

    api_version: str
    kind: str
    count: int
    size: int
    workloads: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Where the collection is."""
        return f"/apis/{self.api_version}/{self.kind.lower()}"

    def objects(self) -> list[bytes]:
        """Return the objects as JSON."""
        filler = [{"name": f"n{number}"} for number in range(self.size // 30)]
        return [
            json.dumps(self._object(number, filler), separators=(",", ":")).encode() for number in range(self.count)
        ]

    def _object(self, number: int, filler: list[Any]) -> dict[str, Any]:
        metadata = {"name": f"o{number}", "namespace": NAMESPACE, "resourceVersion": str(number)}
        metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
        containers = [{"name": "main", "env": filler}]
        spec = {"template": {"spec": {"containers": containers}}, "steps": filler}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, "spec": spec}


@dataclass(frozen=True, slots=True)
class Plane:
    """A control plane that runs."""

    url: str
    kubeconfig: Path

    async def delete(self, path: str, count: int) -> None:
        """Have so many objects of a collection deleted, as ``kubectl delete --all`` does."""
        async with ClientSession() as session, session.post(f"{self.url}{path}", json=count) as answer:
            answer.raise_for_status()

    async def create(self, path: str, objects: Sequence[bytes]) -> None:
        """Have objects created in a collection, one after the other."""
        async with ClientSession() as session:
            for obj in objects:
                async with session.put(f"{self.url}{path}", data=obj) as answer:
                    answer.raise_for_status()

    async def was_watched(self, *paths: str) -> None:
        """Wait until a server watches these collections."""
        async with ClientSession() as session:
            while True:
                async with session.get(f"{self.url}/watched") as answer:
                    if {*paths} <= {*await answer.json()}:
                        return
                await asyncio.sleep(0.2)


@contextmanager
def running(folder: Path, collections: Sequence[Collection]) -> Iterator[Plane]:
    """Run a control plane with these collections."""
    port = free_port()
    orders = json.dumps([asdict(collection) for collection in collections])
    process = subprocess.Popen([sys.executable, "-m", __name__, str(port), orders], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        if not process.stdout.readline():
            raise ConnectionError("the control plane of the audit does not start")
        url = f"http://127.0.0.1:{port}"
        yield Plane(url, write_kubeconfig(folder / "plane", url))
    finally:
        process.kill()
        process.wait()


class _Served:
    def __init__(self, collections: Sequence[Collection]) -> None:
        self._objects = {collection.path: collection.objects() for collection in collections}
        self._kinds: dict[str, list[str]] = {}
        for collection in collections:
            kinds = self._kinds.setdefault(f"/apis/{collection.api_version}", [])
            kinds += [collection.kind, *collection.workloads]
        self._watches: dict[str, list[asyncio.Queue[bytes]]] = {}

    async def get(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if path == "/watched":
            return web.json_response([*self._watches])
        if path in self._kinds:
            return web.json_response(
                {"resources": [{"name": kind.lower(), "kind": kind} for kind in self._kinds[path]]}
            )
        if path.endswith("/kartas") and "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": _VERSION}, "items": []})
        if path not in self._objects and not path.endswith("/kartas"):
            return web.json_response({"kind": "Status", "code": 404, "reason": "NotFound"}, status=404)
        return await self._watch(request) if "watch" in request.query else self._list(request)

    def _list(self, request: web.Request) -> web.Response:
        objects, limit = self._objects[request.path], int(request.query["limit"])
        begin = int(request.query.get("continue", 0))
        end = begin + limit
        metadata = {"resourceVersion": _VERSION} | ({"continue": str(end)} if end < len(objects) else {})
        items = b",".join(objects[begin:end])
        return web.Response(body=b'{"metadata":' + json.dumps(metadata).encode() + b',"items":[' + items + b"]}")

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        events = asyncio.Queue[bytes]()
        self._watches.setdefault(request.path, []).append(events)
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(await events.get())

    async def delete(self, request: web.Request) -> web.Response:
        count = await request.json()
        objects = self._objects[request.path]
        self._objects[request.path] = objects[count:]
        lines = b"".join(b'{"type":"DELETED","object":%s}\n' % each for each in objects[:count])
        for events in self._watches.get(request.path, ()):
            events.put_nowait(lines)
        return web.Response()

    async def create(self, request: web.Request) -> web.Response:
        obj = await request.read()
        for events in self._watches.get(request.path, ()):
            events.put_nowait(b'{"type":"ADDED","object":%s}\n' % obj)
        return web.Response()


async def _serve(port: int, collections: Sequence[Collection]) -> None:
    served, application = _Served(collections), web.Application(client_max_size=2**24)
    application.router.add_get("/{path:.*}", served.get)
    application.router.add_post("/{path:.*}", served.delete)
    application.router.add_put("/{path:.*}", served.create)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), [Collection(**order) for order in json.loads(sys.argv[2])]))
