"""The Secrets of a host cluster, in memory: optimistic concurrency, and everything that an API server refuses."""

import asyncio
import base64
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.definitions.sources.api_server import ApiServer

PATH = "/api/v1/namespaces/karmada-system/secrets/karta-interpreter-tls"
LABEL = {"app.kubernetes.io/managed-by": "karta-interpreter"}
START = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


class Secrets(ApiServer):
    """Objects by path; ``refused`` are methods with the status to answer with, ``writes`` counts what was stored."""

    def __init__(self) -> None:
        super().__init__("none")
        self.objects: dict[str, Any] = {}
        self.refused: dict[str, int] = {}
        self.writes = 0

    @property
    def content(self) -> dict[str, bytes]:
        """What is in the Secret."""
        return {key: base64.b64decode(value) for key, value in self.objects[PATH]["data"].items()}

    def put(self, data: dict[str, bytes], labels: dict[str, str] | None = None) -> None:
        """Store the Secret as somebody else would."""
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        self._store(PATH, {"metadata": {"labels": LABEL if labels is None else labels}, "data": encoded})

    async def get(self, path: str) -> Any:
        await self._consider("get")
        if path not in self.objects:
            raise ClusterError("not found", status=404)
        return deepcopy(self.objects[path])

    async def create(self, path: str, obj: Any) -> Any:
        await self._consider("create")
        whole = f"{path}/{obj['metadata']['name']}"
        if whole in self.objects:
            raise ClusterError("it exists", status=409)
        return self._store(whole, obj)

    async def replace(self, path: str, obj: Any) -> Any:
        await self._consider("update")
        if obj["metadata"]["resourceVersion"] != self.objects[path]["metadata"]["resourceVersion"]:
            raise ClusterError("it has changed", status=409)
        return self._store(path, obj)

    async def _consider(self, verb: str) -> None:
        await asyncio.sleep(0)  # somebody else may be faster
        if verb in self.refused:
            raise ClusterError(f"may not {verb}", status=self.refused[verb])

    def _store(self, path: str, obj: Any) -> Any:
        self.writes += 1
        metadata = obj["metadata"] | {"resourceVersion": str(self.writes)}
        self.objects[path] = deepcopy(obj) | {"metadata": metadata}
        return self.objects[path]
