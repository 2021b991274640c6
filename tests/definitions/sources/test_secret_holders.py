"""Objects that hold a Secret are looked up only with --secret-references, of whatever kind they are."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources import reference_cache, unread
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.languages.jq import Query
from tests.definitions.sources.running import FAST
from tests.definitions.sources.scripted_api import ScriptedApi, serving, write_kubeconfig
from tests.support.secret_holders import HOLDERS, OTHERS, VALUE
from tests.support.waiting import until

WORK = GVK("work.karmada.io", "v1alpha1", "Work")
_WORKS = "/apis/work.karmada.io/v1alpha1/work"
_NAMES = Query.compile('{name: (.spec | tostring)}, {name: "any"}')


@asynccontextmanager
async def _cache(
    folder: Path, part: Any, *, are_allowed: bool = False
) -> AsyncIterator[tuple[ScriptedApi, ReferenceCache]]:
    api = ScriptedApi(kinds={"work.karmada.io/v1alpha1": ["Work", "Orchestra"]})
    api.collections[_WORKS] = {}
    api.put(_WORKS, "holder", part, namespace="team")
    api.put(_WORKS, "plain", {"replicas": 3}, namespace="others")
    async with serving(api), ApiServer.of(write_kubeconfig(folder / "kubeconfig", api.url)) as server:
        cache = ReferenceCache(server, FAST, secrets=are_allowed)
        cache.want([(GVK("work.karmada.io", "v1alpha1", "Orchestra"), WORK)])
        running = asyncio.create_task(cache.run())
        await until(lambda: not cache.problem(WORK))
        yield api, cache
        running.cancel()


@pytest.mark.parametrize("part", HOLDERS.values(), ids=HOLDERS)
async def test_object_that_holds_a_secret_is_withheld(tmp_path: Path, part: Any) -> None:
    async with _cache(tmp_path, part) as (_, cache):
        for look_up in (
            lambda: cache.get(WORK, "team", "holder"),
            lambda: cache.list(WORK, "team"),
            lambda: cache.texts(WORK, "team", "holder"),
            lambda: cache.texts(WORK, "team"),
            lambda: cache.names(WORK, "team", _NAMES),
        ):
            with pytest.raises(QueryAbsentError, match=r"team/holder holds a Secret.*--secret-references") as raised:
                look_up()
            assert VALUE not in str(raised.value)
        # What a namespace holds changes no answer about another one.
        assert [obj["spec"] for obj in cache.list(WORK, "others")] == [{"replicas": 3}]


@pytest.mark.parametrize("part", OTHERS.values(), ids=OTHERS)
async def test_object_that_names_a_secret_is_looked_up(tmp_path: Path, part: Any) -> None:
    async with _cache(tmp_path, part) as (_, cache):
        found = cache.get(WORK, "team", "holder")
        assert found is not None
        assert found["spec"] == part
        assert cache.names(WORK, "team", _NAMES).first("team", "any") == "holder"


async def test_option_gives_out_what_holds_a_secret(tmp_path: Path) -> None:
    async with _cache(tmp_path, HOLDERS["manifests of a Work"], are_allowed=True) as (_, cache):
        assert VALUE in json.dumps(cache.get(WORK, "team", "holder"))


async def test_object_without_its_secret_is_looked_up_again(tmp_path: Path) -> None:
    async with _cache(tmp_path, HOLDERS["manifests of a Work"]) as (api, cache):
        api.put(_WORKS, "holder", {"replicas": 4}, namespace="team")

        def is_there() -> bool:
            try:
                return cache.get(WORK, "team", "holder") is not None
            except QueryReferenceError:
                return False

        await until(is_there)


async def test_many_objects_that_mention_secrets_are_searched_by_several_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _cache(tmp_path, OTHERS["a reference"]) as (api, cache):
        api.put(_WORKS, "second", OTHERS["an owner"], namespace="team")
        await until(lambda: len(cache._keys[WORK, "team"]) == 2)  # noqa: SLF001 - a look-up would search them
        most = max(len(text) for text in cache._objects(WORK).values())  # noqa: SLF001 - as above
        monkeypatch.setattr(unread, "MOST_SEARCHED", most)
        monkeypatch.setattr(reference_cache, "MOST_SEARCHED", most)

        with pytest.raises(QueryReferenceError, match="is not searched for Secrets yet") as raised:
            cache.list(WORK, "team")
        assert not isinstance(raised.value, QueryAbsentError)
        assert len(cache.list(WORK, "team")) == 2


async def test_large_object_that_mentions_secrets_is_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "MOST_SEARCHED", 10)
    async with _cache(tmp_path, OTHERS["a reference"]) as (_, cache):
        with pytest.raises(QueryAbsentError, match="holds a Secret"):
            cache.get(WORK, "team", "holder")
