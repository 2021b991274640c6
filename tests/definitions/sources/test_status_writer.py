import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.cluster import StatusWriter
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.informer import Pace
from tests.definitions.sources.scripted_api import (
    KARTAS,
    Handler,
    ScriptedApi,
    serving,
    status,
    stream,
    write_kubeconfig,
)
from tests.support.waiting import HANG

Karta = Callable[..., str]

_PACE = Pace(first=0, report=0.01, absent=0)


class _World:
    """A cluster with Kartas, and a reporter that looks at them."""

    def __init__(self, api: ScriptedApi, server: ApiServer, karta: Karta) -> None:
        self.api = api
        self.server = server
        self.reporter = StatusWriter(server, _PACE)
        self._karta = karta

    def put(self, name: str, kind: str = "A", replicas: str = ".a", group: str = "example.io") -> None:
        text = self._karta(kind, replicas=replicas).replace("example.io", group)
        self.api.put(KARTAS, name, yaml.safe_load(text)["spec"])

    def kartas(self) -> list[ClusterKarta]:
        objects = self.api.collections[KARTAS]
        return [ClusterKarta.first_seen(f"kartas.run.ai/{name}", objects[name]) for name in objects]

    async def report(self) -> None:
        await self.reporter.report(self.kartas())

    def reasons(self, name: str) -> list[str]:
        conditions = self.api.collections[KARTAS][name].get("status", {}).get("conditions", [])
        return [condition["reason"] for condition in conditions]

    def writes(self) -> int:
        return len(self.api.requests("patch"))


@pytest.fixture
async def world(tmp_path: Path, karta: Karta) -> AsyncIterator[_World]:
    async with (
        serving(ScriptedApi(kinds={"example.io/v1": ["A"], "v1": ["Pod"]})) as api,
        ApiServer.of(write_kubeconfig(tmp_path / "config", api.url)) as server,
    ):
        yield _World(api, server, karta)


async def test_report_writes_conditions(world: _World) -> None:
    world.put("good")
    world.put("broken", replicas=".a |")
    world.put("early", kind="B")
    world.put("twin")

    await world.report()

    assert world.reasons("good") == ["ValidationSucceeded", "CRDFound", "Ready"]
    assert world.reasons("broken") == ["ValidationFailed", "CRDFound", "NotReady"]
    assert world.reasons("early") == ["ValidationSucceeded", "CRDNotFound", "NotReady"]
    assert world.reasons("twin") == ["ValidationSucceeded", "CRDFound", "NotReady"]


async def test_karta_with_a_version_that_an_older_one_has_is_hidden(world: _World, karta: Karta) -> None:
    world.put("a")
    both = yaml.safe_load(karta("A", replicas=".a").replace("version: v1", "version: v2"))["spec"]
    world.api.put(KARTAS, "a", both, annotations={"karta-interpreter.io/other-versions": "v1"})
    world.put("b")

    await world.report()

    assert world.reasons("b") == ["ValidationSucceeded", "CRDFound", "NotReady"]


async def test_status_writer_writes_nothing_twice(world: _World) -> None:
    world.put("good")
    world.put("broken", replicas=".a |")
    await world.report()
    written = world.writes()

    await world.report()
    await StatusWriter(world.server, _PACE).report(world.kartas())

    assert world.writes() == written


async def test_new_crd_and_new_generation_are_reported(world: _World) -> None:
    world.put("early", kind="B")
    await world.report()
    world.api.kinds["example.io/v1"].append("B")
    await world.report()
    ready = world.reasons("early")
    world.put("early", kind="B", replicas=".a |")
    await world.report()

    assert ready == ["ValidationSucceeded", "CRDFound", "Ready"]
    assert world.reasons("early") == ["ValidationFailed", "CRDFound", "NotReady"]


async def test_report_overwritten_by_others_is_left_alone(world: _World) -> None:
    world.put("good")
    await world.report()
    obj = world.api.collections[KARTAS]["good"]
    others = [{**condition, "message": "as another controller says it"} for condition in obj["status"]["conditions"]]
    world.api.collections[KARTAS]["good"] = {**obj, "status": {"conditions": others}}
    written = world.writes()

    await world.report()

    assert world.writes() == written


async def test_recreated_karta_is_reported_again(world: _World) -> None:
    world.put("good")
    await world.report()
    world.api.delete(KARTAS, "good")
    world.put("good")

    await world.report()

    assert world.reasons("good") == ["ValidationSucceeded", "CRDFound", "Ready"]


async def test_forbidden_status_is_given_up_with_one_line(world: _World, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("broken", "other"):
        world.put(name, replicas=".a |")
        world.api.on("patch", f"{KARTAS}/{name}/status", status(403, "Forbidden"), times=100)
    with caplog.at_level(logging.WARNING):
        await world.report()
        world.put("broken", replicas=".b |")
        await world.report()

    assert len(world.api.requests("patch")) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert '"verbs": ' in caplog.text
    assert world.reasons("broken") == []


async def test_status_that_is_forbidden_for_a_moment_is_written_soon(
    world: _World, caplog: pytest.LogCaptureFixture
) -> None:
    world.reporter = StatusWriter(world.server, replace(_PACE, absent=HANG))
    world.put("good")
    world.api.on("patch", f"{KARTAS}/good/status", status(403, "Forbidden"))
    with caplog.at_level(logging.WARNING):
        await world.report()
        assert world.reasons("good") == []
        await asyncio.sleep(2 * _PACE.report)
        await world.report()

    assert world.reasons("good")[-1] == "Ready"
    assert not caplog.records


@pytest.mark.parametrize(
    "answer", [pytest.param(status(503), id="overloaded"), pytest.param(stream(b"{", abort=True), id="no whole answer")]
)
async def test_kind_of_unreadable_group_waits_alone(world: _World, answer: Handler) -> None:
    world.put("good")
    world.put("other", group="other.io")
    world.api.kinds["other.io/v1"] = ["A"]
    world.api.on("get", "/apis/example.io/v1", answer)

    await world.report()
    waiting = world.reasons("good")
    others = world.reasons("other")
    await world.report()

    assert (waiting, others[-1]) == ([], "Ready")
    assert world.reasons("good")[-1] == "Ready"


@pytest.mark.parametrize(
    ("code", "again", "raised"),
    [
        pytest.param(500, True, False, id="a failure about the object"),
        pytest.param(429, True, True, id="an overloaded server"),
        pytest.param(404, False, False, id="an object that is gone"),
        pytest.param(422, False, False, id="conditions that the CRD does not allow"),
    ],
)
async def test_report_is_retried_if_that_may_help(world: _World, code: int, again: bool, raised: bool) -> None:
    world.put("good")
    world.api.on("patch", f"{KARTAS}/good/status", status(code))
    with pytest.raises(ClusterError) if raised else nullcontext():
        await world.report()
    await world.report()

    assert len(world.api.requests("patch")) == (2 if again else 1)


@pytest.mark.parametrize("code", [pytest.param(500, id="of the object"), pytest.param(429, id="of the server")])
async def test_failed_report_does_not_delay_others(world: _World, code: int) -> None:
    writer = StatusWriter(world.server, Pace(first=3600, longest=3600))
    world.put("first")
    world.put("second", kind="B")
    world.api.on("patch", f"{KARTAS}/first/status", status(code), times=100)
    for _ in range(3):
        with suppress(ClusterError):
            await writer.report(world.kartas())

    assert world.reasons("second")[0] == "ValidationSucceeded"
    assert len(world.api.requests("patch")) == 2, "the first one waits for its next try"


async def test_pause_grows_with_each_failure_in_a_row(world: _World) -> None:
    failures = list[int]()

    class Counted(Pace, frozen=True):
        def pause(self, failures_in_a_row: int) -> float:
            failures.append(failures_in_a_row)
            return 0

    writer = StatusWriter(world.server, Counted())
    world.put("good")
    for codes in ((500, 500, 500), (500,)):
        for code in codes:
            world.api.on("patch", f"{KARTAS}/good/status", status(code))
            await writer.report(world.kartas())
        await writer.report(world.kartas())
        world.put("good", replicas=".b")

    assert failures == [1, 2, 3, 1]


async def test_reports_on_kartas_that_are_gone_are_forgotten(world: _World) -> None:
    for number, code in enumerate((404, 500, 404)):
        world.put(f"karta-{number}")
        world.api.on("patch", f"{KARTAS}/karta-{number}/status", status(code))
        await world.report()
        world.api.delete(KARTAS, f"karta-{number}")
    await world.report()

    assert not world.reporter._reported  # noqa: SLF001 - nothing else shows it
    assert not world.reporter._failed  # noqa: SLF001


async def test_reports_go_on_when_the_server_was_away(world: _World) -> None:
    world.put("good")
    world.api.on("patch", f"{KARTAS}/good/status", status(500), times=2)
    task = asyncio.create_task(world.reporter.run(world.kartas, asyncio.Event()))
    try:
        await world.api.was_asked("patch", times=3)
    finally:
        task.cancel()
        await asyncio.wait({task})

    assert world.reasons("good")[-1] == "Ready"


async def test_change_is_reported_at_once(world: _World) -> None:
    slow = StatusWriter(world.server, Pace(report=3600))
    changed = asyncio.Event()
    task = asyncio.create_task(slow.run(world.kartas, changed))
    try:
        world.put("good")
        changed.set()
        await world.api.was_asked("patch")
        world.put("good", replicas=".b")
        changed.set()
        await world.api.was_asked("patch", times=2)
    finally:
        task.cancel()
        await asyncio.wait({task})
