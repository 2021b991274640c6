"""What a Karta or an API server names is never a part of a path that a server asks for."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aiohttp import web
from hypothesis import example, given, settings, strategies as st

from karta_interpreter.base.errors import ClusterError, QueryReferenceError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import kartas_path
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.cluster import StatusWriter
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from tests.definitions.sources.running import FAST
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, serving, write_kubeconfig
from tests.support.examples import EXAMPLES
from tests.support.paths import HOSTILE, WELL_FORMED
from tests.support.waiting import HANG

_TEXTS = st.lists(st.text(max_size=60), max_size=5)
_law = settings(max_examples=EXAMPLES, deadline=None)
_MILL = GVK("toys.example.com", "v1", "Mill")


async def _paths(scripted: ScriptedApi, work: Callable[[ApiServer], Any]) -> set[str]:
    """Return the paths that some work asks for, all of them well formed."""
    with TemporaryDirectory() as folder:
        async with serving(scripted) as api, ApiServer.of(write_kubeconfig(Path(folder) / "config", api.url)) as server:
            await work(server)
    assert not [path for path in scripted.paths if not WELL_FORMED.fullmatch(path)]
    return set(scripted.paths)


@_law
@example([*HOSTILE])
@given(_TEXTS)
def test_version_of_reference_is_not_a_path(texts: list[str]) -> None:
    kinds = [GVK(*parts, "Hall") for text in texts for parts in (("", text), (text, "v1"), ("toys.example.com", text))]

    async def look_up(server: ApiServer) -> None:
        cache = ReferenceCache(server, FAST)
        cache.want([(_MILL, gvk) for gvk in kinds])
        running = asyncio.create_task(cache.run())
        async with asyncio.timeout(HANG):
            while any("listed yet" in cache.problem(gvk) for gvk in kinds):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(FAST.first)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        for gvk in kinds:
            with pytest.raises(QueryReferenceError):
                cache.get(gvk, "team", "a")

    paths = asyncio.run(_paths(ScriptedApi(kinds={"toys.example.com/v1": ["Mill"]}), look_up))
    assert not [path for path in paths if path.count("/") > 3], "only discovery is asked"


@_law
@example([*HOSTILE])
@given(_TEXTS)
def test_resource_from_discovery_is_not_a_path(texts: list[str]) -> None:
    async def look_up(server: ApiServer) -> None:
        cache = ReferenceCache(server, FAST)
        for text in texts:
            gvk = GVK("toys.example.com", "v1", text)
            with suppress(ClusterError):
                await cache._path(gvk, 0)  # noqa: SLF001 - a step of what runs in the background

    asyncio.run(_paths(ScriptedApi(kinds={"toys.example.com/v1": texts}), look_up))


@_law
@example([*HOSTILE])
@given(_TEXTS)
def test_name_and_kind_of_karta_are_not_a_path(texts: list[str]) -> None:
    scripted, kartas = ScriptedApi(kinds={"v1": ["Pod"]}), list[ClusterKarta]()
    for text in texts:
        kind = {"group": text, "version": text, "kind": "Mill"}
        root = {"name": "root", "kind": kind, "statusDefinition": {"phaseDefinition": {"path": ".a"}}}
        obj = {"metadata": {"name": text}, "spec": {"structureDefinition": {"rootComponent": root}}}
        kartas.append(ClusterKarta.first_seen(f"kartas.run.ai/{text}", obj))

    async def report(server: ApiServer) -> None:
        await StatusWriter(server, FAST).report(kartas)

    asyncio.run(_paths(scripted, report))


async def test_redirect_is_not_followed(tmp_path: Path) -> None:
    """It would let an API server, or what stands before it, choose the next path and the next host."""

    async def redirect(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/api/v1/namespaces/other/services/x:80/proxy/drop"})

    async with serving(ScriptedApi()) as api, ApiServer.of(write_kubeconfig(tmp_path / "config", api.url)) as server:
        api.on("get", KARTAS, redirect)
        with pytest.raises(ClusterError, match="302 Found"):
            await server.get(KARTAS)
    assert api.paths == [KARTAS]


@pytest.mark.parametrize("name", ["", "a/b", ".."])
def test_karta_without_a_name_is_no_collection(name: str) -> None:
    """The collection would be deleted in place of the object."""
    with pytest.raises(ClusterError):
        kartas_path(name)
