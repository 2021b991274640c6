"""A registrar between a store of a folder and a control plane."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.webhook.registration.configuration import Endpoint, webhook_configuration
from karta_interpreter.webhook.registration.registrar import Registrar
from tests.webhook.registration.control_plane import ControlPlane
from tests.webhook.registration.definitions import karta, replicas

NAME = "karta-interpreter"
ONE = {"worker": replicas(".spec.count // 1")}
DOLL = GVK("toys.example.com", "v1", "Doll")


class Rig:
    """A store of a folder, a control plane, and the means to start registrars between them."""

    def __init__(self, plane: ControlPlane, api: ApiServer, folder: Path, lines: list[dict[str, Any]]) -> None:
        self.plane = plane
        self.api = api
        self.folder = folder
        self.endpoint = Endpoint.of_url("https://interpreter.example")
        self.lines = lines
        self.store = Store([folder], catalogue=False)
        self.refresh: Callable[[], None] = lambda: None

    def define(self, gvk: GVK, text: str | None = None) -> None:
        self.folder.joinpath(f"{gvk.kind}.yaml").write_text(text or json.dumps(karta(gvk, ONE)))
        self.store.load()

    @asynccontextmanager
    async def registrar(self, **settings: Any) -> AsyncIterator[Registrar]:
        ready = settings.pop("ready", lambda: True)

        version = settings.pop("version", "0.1.0")

        async def refresh() -> None:
            self.refresh()

        registrar = Registrar(
            self.api,
            self.store,
            lambda: self.endpoint if ready() else None,
            settings.pop("name", NAME),
            configuration=partial(webhook_configuration, **settings),
            refresh=refresh,
            version=version,
        )
        task = asyncio.create_task(registrar.run())
        try:
            yield registrar
            assert not task.done()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def said(self, level: str) -> list[str]:
        return [line["event"] for line in self.lines if line["log_level"] == level]


def crd(kind: str, *, version: str = "v1", status: bool = True) -> Any:
    return {
        "spec": {
            "group": "toys.example.com",
            "names": {"kind": kind},
            "scope": "Namespaced",
            "versions": [{"name": version, "served": True, "subresources": {"status": {}} if status else {}}],
        }
    }
