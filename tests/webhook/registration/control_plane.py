"""A small API server on loopback: list, watch, server-side apply, delete, and everything that goes wrong with them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from aiohttp import web

from karta_interpreter.webhook.registration.admission_ca import PATH
from tests.definitions.sources.scripted_api import listening

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIGURATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"


class ControlPlane:
    """Objects by collection and name. ``refused`` are (method, collection) with the status to answer with.

    ``completion`` is what an admission webhook adds to every webhook that is applied.
    """

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, Any]] = {
            place: {} for place in (CRDS, CONFIGURATIONS, CUSTOMIZATIONS, PATH)
        }
        self.refused: dict[tuple[str, str], int] = {}
        self.available = True
        self.applied: list[Any] = []
        self.lists: list[str] = []
        self.requests = 0
        self.url = ""
        self.completion: dict[str, str] = {}
        self.on_apply: Callable[[], object] = lambda: None
        self.on_removal: Callable[[], object] = lambda: None
        self._version = 100
        self._oldest = 0
        self._history: list[tuple[int, str, str, Any]] = []
        self._moved = asyncio.Event()
        self._broken = asyncio.Event()

    def write(self, collection: str, name: str, obj: Any, *, manager: str | None = "kubectl") -> Any:
        """Store an object as some client would have written it; one without a name has no field manager."""
        is_new = name not in self.collections[collection]
        self._version += 1
        owner: dict[str, Any] = {"operation": "Update", "fieldsV1": {"f:webhooks": {}}}
        if manager:
            owner["manager"] = manager
        metadata = {**obj.get("metadata", {}), "name": name, "resourceVersion": str(self._version)}
        stored = {**obj, "metadata": {**metadata, "managedFields": [owner]}}
        self.collections[collection][name] = stored
        self._tell(collection, "ADDED" if is_new else "MODIFIED", stored)
        return stored

    def remove(self, collection: str, name: str) -> None:
        self._version += 1
        obj = deepcopy(self.collections[collection].pop(name))
        obj["metadata"]["resourceVersion"] = str(self._version)
        self._tell(collection, "DELETED", obj)

    def break_off(self, *, available: bool) -> None:
        """End every watch; from now on answer, or do not."""
        self.available = available
        self._broken.set()
        self._broken = asyncio.Event()

    def compact(self) -> None:
        """Forget the history, so that watches have to begin anew."""
        self._version += 1
        self._oldest = self._version
        self.break_off(available=True)

    @property
    def configuration(self) -> Any:
        """The configuration with the usual name, or None."""
        return self.collections[CONFIGURATIONS].get("karta-interpreter")

    def operations(self, kind: str) -> list[str] | None:
        """The operations registered for a kind, None when there is no webhook for it."""
        for webhook in (self.configuration or {}).get("webhooks", []):
            if webhook["rules"][0]["kinds"] == [kind]:
                return list(webhook["rules"][0]["operations"])
        return None

    def kubeconfig(self, folder: Path) -> Path:
        file = folder / "kubeconfig"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url}}],
            "users": [{"name": "test", "user": {}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        file.write_text(json.dumps(content))
        return file

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        collection, name = request.path, ""
        if collection not in self.collections:
            collection, _, name = collection.rpartition("/")
        if not self.available:
            return _status(503, "the server is starting")
        if collection not in self.collections:
            return _status(404, "the server could not find the requested resource")
        if (request.method, collection) in self.refused:
            return _status(self.refused[request.method, collection], "somebody may not do that")
        if request.method == "PATCH":
            return self._apply(collection, name, json.loads(await request.text()), request.query["fieldManager"])
        if not name:
            is_watch = request.query.get("watch") == "true"
            return await self._watch(request, collection) if is_watch else self._list(collection)
        if name not in self.collections[collection]:
            return _status(404, f"{name} not found", "NotFound")
        obj = self.collections[collection][name]
        if request.method == "DELETE":
            self.remove(collection, name)
            self.on_removal()
        return web.json_response(obj)

    def _apply(self, collection: str, name: str, obj: Any, manager: str) -> web.Response:
        before = self.collections[collection].get(name, {"metadata": {}})
        self.applied.append(obj)
        labels = {**before["metadata"].get("labels", {}), **obj["metadata"].get("labels", {})}
        merged = {**before, **obj, "metadata": {**before["metadata"], **obj["metadata"], "labels": labels}}
        owned = collection == CONFIGURATIONS  # by whoever applies, as a whole
        theirs = {} if owned else {webhook["name"]: webhook for webhook in before["webhooks"]}
        for webhook in obj["webhooks"]:
            known = theirs.get(webhook["name"], {"clientConfig": {}})
            client = known["clientConfig"] | webhook["clientConfig"]
            theirs[webhook["name"]] = known | webhook | {"clientConfig": client} | self.completion
        merged["webhooks"] = list(theirs.values())
        stored = self.write(collection, name, merged, manager=manager)
        self.on_apply()
        return web.json_response(stored)

    def _list(self, collection: str) -> web.Response:
        self.lists.append(collection)
        items = list(self.collections[collection].values())
        return web.json_response({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _watch(self, request: web.Request, collection: str) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        version, broken = int(request.query["resourceVersion"]), self._broken
        if version < self._oldest:
            expired = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
            await response.write(_line("ERROR", expired))
            return response
        while not broken.is_set():
            moved = self._moved
            for number, place, event, obj in self._history:
                if number > version and place == collection:
                    await response.write(_line(event, obj))
                    version = number
            await _first(moved.wait(), broken.wait())
        return response

    def _tell(self, collection: str, event: str, obj: Any) -> None:
        self._history.append((self._version, collection, event, deepcopy(obj)))
        self._moved.set()
        self._moved = asyncio.Event()


@asynccontextmanager
async def running() -> AsyncIterator[ControlPlane]:
    """A control plane that serves, in this event loop."""
    plane = ControlPlane()
    async with listening(plane.handle) as port:
        plane.url = f"http://127.0.0.1:{port}"
        yield plane


async def _first(*works: Any) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _line(event: str, obj: Any) -> bytes:
    return json.dumps({"type": event, "object": obj}).encode() + b"\n"


def _status(code: int, message: str, reason: str = "") -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}
    body |= {"reason": reason} if reason else {}
    return web.json_response(body, status=code)
