"""An API server on loopback that stores Kartas, and that knows tokens and what their users may do."""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, status

USER_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass
class KartaApi(ScriptedApi):
    """``users`` are those of tokens, ``allowed`` the verbs that each may use on Kartas."""

    users: dict[str, str] = field(default_factory=dict)
    allowed: dict[str, set[str]] = field(default_factory=dict)

    @property
    def kartas(self) -> dict[str, dict[str, Any]]:
        return self.collections[KARTAS]

    def held(self, name: str, **metadata: Any) -> None:
        """Change the metadata of a Karta, as another client does it."""
        obj = self.kartas[name]
        self._change("MODIFIED", KARTAS, {**obj, "metadata": {**obj["metadata"], **metadata}})

    async def _behaved(self, verb: str, request: web.Request, body: Any) -> web.StreamResponse:
        if request.path == USER_REVIEWS:
            user = self.users.get(body["spec"]["token"])
            found = {"authenticated": True, "user": {"username": user, "groups": ["mill"]}} if user else {}
            return web.json_response({**body, "status": found}, status=201)
        if request.path == ACCESS_REVIEWS:
            spec = body["spec"]
            allowed = spec["resourceAttributes"]["verb"] in self.allowed.get(spec["user"], set())
            return web.json_response({**body, "status": {"allowed": allowed}}, status=201)
        collection, _, name = request.path.rpartition("/")
        if collection == KARTAS and verb in ("get", "replace", "delete"):
            return await self._one(verb, name, request, body)
        if request.path == KARTAS and verb == "create":
            return await self._created(request, body)
        if selector := request.query.get("labelSelector"):
            key, _, value = selector.partition("=")
            items = [each for each in self.kartas.values() if each["metadata"].get("labels", {}).get(key) == value]
            return web.json_response({"metadata": {"resourceVersion": str(self._version)}, "items": items})
        return await super()._behaved(verb, request, body)

    async def _one(self, verb: str, name: str, request: web.Request, body: Any) -> web.StreamResponse:
        present = self.kartas.get(name)
        if present is None:
            return await status(404, "NotFound")(request)
        if verb == "get":
            return web.json_response(present)
        known = body["metadata"] if verb == "replace" else (body or {}).get("preconditions", {})
        if any(known[part] != present["metadata"][part] for part in ("uid", "resourceVersion") if part in known):
            return await status(409, "Conflict")(request)
        self._change("MODIFIED" if verb == "replace" else "DELETED", KARTAS, body if verb == "replace" else present)
        return web.json_response(self.kartas.get(name, present))

    async def _created(self, request: web.Request, body: Any) -> web.StreamResponse:
        name = body["metadata"]["name"]
        if name in self.kartas:
            return await status(409, "AlreadyExists")(request)
        fields = {"uid": f"uid-{self._version}", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1}
        managed = [{"manager": "karta-interpreter", "fieldsV1": {"f:spec": {}}}]
        self._change("ADDED", KARTAS, {**body, "metadata": {**body["metadata"], **fields, "managedFields": managed}})
        return web.json_response(self.kartas[name], status=201)
