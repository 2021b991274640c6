import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.sources.informer import Informer, Pace
from tests.definitions.sources.running import FAST, expressions, quarantined, running_cluster
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, serving, status, stream
from tests.support.serving import reserved_port
from tests.support.waiting import HANG

Karta = Callable[..., str]
Spec = Callable[..., Any]


async def test_watch_resumes_from_last_version(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    async with running_cluster(tmp_path, api) as running:
        await api.was_asked("watch", KARTAS)
        before = time.monotonic()
        api.put(KARTAS, "a", spec("A", replicas=".a"))
        await running.serves(A=".a")
        assert running.cluster.stale_for <= time.monotonic() - before
        await asyncio.sleep(FAST.first)  # a watch that ends sooner counts as broken
        api.end_watches()
        again = await api.was_asked("watch", KARTAS, 2)
        api.put(KARTAS, "b", spec("B", replicas=".b"))
        await running.serves(A=".a", B=".b")

    assert int(again.query["resourceVersion"]) > 100
    assert len(api.requests("get", KARTAS)) == 1


_EVENT = b'{"type":"ADDED","object":{"metadata":'


@pytest.mark.parametrize(
    ("verb", "handler", "times"),
    [
        pytest.param("watch", stream(_EVENT), 1, id="a watch that ends in the middle of an event"),
        pytest.param("watch", stream(_EVENT, abort=True), 1, id="a watch that breaks", marks=pytest.mark.slow),
        pytest.param("watch", stream(), 3, id="watches that end at once"),
        pytest.param("watch", status(410, "Expired"), 1, id="a version that is too old"),
        pytest.param("watch", status(500), 3, id="watches that fail", marks=pytest.mark.slow),
        pytest.param("get", status(503), 5, id="lists that fail", marks=pytest.mark.slow),
        pytest.param("get", status(429), 2, id="an overloaded server", marks=pytest.mark.slow),
        pytest.param("get", status(404), 2, id="a server that knows no collection", marks=pytest.mark.slow),
        pytest.param("get", stream(b"<html>"), 2, id="a proxy that answers for the server"),
        pytest.param("get", stream(b'{"items": [', abort=True), 2, id="a broken answer", marks=pytest.mark.slow),
    ],
)
async def test_trouble_is_outlasted_and_takes_nothing_away(
    tmp_path: Path, spec: Spec, verb: str, handler: Any, times: int
) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    # What has been missing for long is taken away, and on a busy machine there is much time between two requests.
    async with running_cluster(tmp_path, api, pace=replace(FAST, absent=HANG)) as running:
        await running.serves(A=".a")
        seen: list[dict[str, str]] = []
        running.store.subscribe(lambda snapshot: seen.append(expressions(snapshot)))
        asked = len(api.requests(verb, KARTAS))
        api.on(verb, KARTAS, handler, times=times)
        api.expire()
        api.end_watches()
        await api.was_asked(verb, KARTAS, asked + times + 1)
        api.put(KARTAS, "b", spec("B", replicas=".b"))
        snapshot = await running.serves(A=".a", B=".b")

    assert snapshot.quarantined == ()
    assert all("A" in expressions for expressions in seen)


async def test_informer_recovers_from_lost_server(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    with reserved_port() as port:
        url = f"http://127.0.0.1:{port}"
        async with running_cluster(tmp_path, url=url) as running:
            away = await running.until(lambda snapshot: "kartas.run.ai" in quarantined(snapshot))
            assert not running.cluster.synced
            async with serving(api, port=port):
                await running.serves(A=".a")
            gone = await running.until(lambda snapshot: "kartas.run.ai" in quarantined(snapshot))
            await running.is_synced()
            came_back, watched = time.monotonic(), len(api.requests("watch", KARTAS))
            async with serving(api, port=port):
                back = await running.until(lambda snapshot: not snapshot.quarantined)
                await api.was_asked("watch", KARTAS, 1 + watched)
                assert running.cluster.stale_for < time.monotonic() - came_back

    assert "nothing listens there" in away.quarantined[0].findings[0].message
    assert quarantined(away)["kartas.run.ai"] is False
    assert quarantined(gone)["kartas.run.ai"] is True
    assert expressions(gone) == expressions(back) == {"A": ".a"}


async def test_list_with_expired_part_is_begun_anew(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    api.on("get", KARTAS, stream(b'{"metadata": {"resourceVersion": "7", "continue": "rest"}, "items": []}'))
    api.on("get", KARTAS, status(410, "Expired"))
    async with running_cluster(tmp_path, api) as running:
        await running.serves(A=".a")

    assert [asked.query.get("continue") for asked in api.requests("get", KARTAS)] == [None, "rest", None]


async def test_missing_crd_is_reported_once_and_looked_for_again(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi({})
    async with running_cluster(tmp_path, api) as running:
        missing = await running.until(lambda snapshot: bool(snapshot.quarantined))
        await api.was_asked("get", KARTAS, 4)
        await running.is_synced()
        assert running.published == 1
        api.collections[KARTAS] = {}
        api.put(KARTAS, "a", spec("A", replicas=".a"))
        found = await running.serves(A=".a")

    assert [(broken.source, len(broken.findings)) for broken in missing.quarantined] == [("kartas.run.ai", 1)]
    assert "is the CRD installed" in missing.quarantined[0].findings[0].message
    assert found.quarantined == ()


async def test_crd_that_stays_away_removes_its_kartas(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        await running.serves(A=".a")
        del api.collections[KARTAS]
        api.expire()
        api.end_watches()
        await running.serves()


async def test_forbidden_collection_is_not_waited_for(tmp_path: Path) -> None:
    api = ScriptedApi()
    api.on("get", KARTAS, status(403, "Forbidden"), times=1000)
    async with running_cluster(tmp_path, api) as running:
        await api.was_asked("get", KARTAS)
        assert not running.cluster.synced
        await running.is_synced()

        assert quarantined(running.store.snapshot) == {"kartas.run.ai": False}


@pytest.mark.parametrize("verb", ["get", "watch"])
async def test_forbidden_list_is_logged_with_the_missing_rule(tmp_path: Path, spec: Spec, verb: str) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        await running.serves(A=".a")
        api.on(verb, KARTAS, status(403, "Forbidden"), times=1000)
        api.expire()
        api.end_watches()
        forbidden = await running.until(lambda snapshot: bool(snapshot.quarantined))
        api.behave()
        await api.was_asked("watch", KARTAS, len(api.requests("watch", KARTAS)) + 1)
        api.put(KARTAS, "b", spec("B", replicas=".b"))
        await running.until(lambda snapshot: not snapshot.quarantined)

    message = forbidden.quarantined[0].findings[0].message
    rights = '"list", "watch"' if verb == "get" else '"watch"'
    assert f'{{"apiGroups": ["run.ai"], "resources": ["kartas"], "verbs": [{rights}]}}' in message
    assert expressions(forbidden) == {"A": ".a"}


class _DeletingApi:
    """A collection whose only object is deleted during the first watch. The second watch never ends."""

    def __init__(self) -> None:
        self.deleted, self.go_on, self.watched_again = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def pages(self, _: str) -> AsyncGenerator[Object]:
        yield {"metadata": {"resourceVersion": "5"}, "items": [_object("5")]}

    async def watch(self, *_: str, timeout_seconds: int) -> AsyncGenerator[tuple[str, Object]]:
        del timeout_seconds
        if self.deleted.is_set():
            self.watched_again.set()
            await asyncio.Event().wait()
        yield "DELETED", _object("6")
        self.deleted.set()
        await self.go_on.wait()


def _object(version: str) -> Object:
    return {"metadata": {"name": "a", "resourceVersion": version}}


async def test_late_answer_does_not_restore_deleted_object() -> None:
    api: Any = _DeletingApi()
    informer = Informer(api, KARTAS, dict, replace(FAST, first=0.0))
    following = asyncio.create_task(informer.follow(lambda: None))
    async with asyncio.timeout(HANG):
        await api.deleted.wait()
        informer.put(_object("5"))
        during = dict(informer.objects)
        api.go_on.set()
        await api.watched_again.wait()
    informer.put(_object("5"))
    following.cancel()
    await asyncio.wait({following})

    assert (list(during), list(informer.objects)) == ([], ["a"])


class _BreakingApi:
    """A collection of which each watch breaks, after one event or in silence; the fourth list has no end."""

    def __init__(self, events: Sequence[Object]) -> None:
        self.events = events
        self.lists, self.was_listed = 0, asyncio.Event()

    async def pages(self, _: str) -> AsyncGenerator[Object]:
        self.lists += 1
        if self.lists > 1 + 2:
            self.was_listed.set()
            await asyncio.Event().wait()
        yield {"metadata": {"resourceVersion": "5"}, "items": []}

    async def watch(self, *_: str, timeout_seconds: int) -> AsyncGenerator[tuple[str, Object]]:
        del timeout_seconds
        for event in self.events:
            yield "ADDED", event
        raise ClusterError("broken off")


class _Noted(Pace, frozen=True):
    """Notes the failures in a row, and does not wait."""

    failures: ClassVar[list[int]]

    def pause(self, failures: int) -> float:
        self.failures.append(failures)
        return 0.0


@pytest.mark.parametrize(
    ("events", "lasting", "failures"),
    [
        pytest.param([], 0.0, [1, 1, 1], id="by a proxy that ends what was silent for long"),
        pytest.param([_object("6")], HANG, [1, 2, 3], id="at once, in spite of an event"),
    ],
)
async def test_watches_that_break_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, events: Sequence[Object], lasting: float, failures: list[int]
) -> None:
    monkeypatch.setattr("karta_interpreter.definitions.sources.informer._LASTING", lasting)
    _Noted.failures = []
    api: Any = _BreakingApi(events)
    following = asyncio.create_task(Informer(api, KARTAS, dict, _Noted()).follow(lambda: None))
    async with asyncio.timeout(HANG):
        await api.was_listed.wait()
    following.cancel()
    await asyncio.wait({following})

    assert _Noted.failures == failures


class _RefusingApi:
    """A collection that is forbidden for longer than `Pace.absent`, and then missing; the last list has no end."""

    def __init__(self) -> None:
        self.answers = iter((0, 403, 403, 404))
        self.was_missing = asyncio.Event()

    async def pages(self, _: str) -> AsyncGenerator[Object]:
        answer = next(self.answers, None)
        if answer is None:
            self.was_missing.set()
            await asyncio.Event().wait()
        if answer:
            await asyncio.sleep(FAST.absent)
            raise ClusterError("refused", status=answer)
        yield {"metadata": {"resourceVersion": "5"}, "items": [_object("5")]}

    async def watch(self, *_: str, timeout_seconds: int) -> AsyncGenerator[tuple[str, Object]]:
        if timeout_seconds:
            raise ClusterError("too old", status=410)
        yield "BOOKMARK", {}


async def test_forbidden_time_does_not_count_as_missing() -> None:
    api: Any = _RefusingApi()
    informer = Informer(api, KARTAS, dict, FAST)
    following = asyncio.create_task(informer.follow(lambda: None))
    async with asyncio.timeout(HANG):
        await api.was_missing.wait()
    following.cancel()
    await asyncio.wait({following})

    assert (list(informer.objects), informer.absent) == (["a"], False)
