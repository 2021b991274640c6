"""What a server makes of an API server in its first seconds: a refusal counts once it has lasted, and not before."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from karta_interpreter.base.errors import InterpretationError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s import CLAIM_TEMPLATES, COMPUTE_DOMAIN, DEVICE_CLASSES
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.informer import Pace
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.definitions.sources.running import FAST, RunningCluster, expressions, running_cluster
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, never, status, stream
from tests.definitions.sources.test_claim_look_ups import BY_CLASS, JOB, REQUESTS
from tests.definitions.sources.test_reference_cache import HALL, HALLS, KARTA
from tests.support.waiting import Clock, until

ORCHESTRA = GVK("toys.example.com", "v1", "Orchestra")
PATIENT = replace(FAST, absent=3600.0)
"""No refusal lasts."""
REFUSED = {403: "Forbidden", 404: "NotFound"}
TROUBLE: dict[str, Callable[..., Any]] = {
    "403": status(403, "Forbidden"),
    "404": status(404, "NotFound"),
    "500": status(500),
    "503": status(503),
    "429": status(429, "TooManyRequests"),
    "a time-out": never,
    "half a list": stream(b'{"metadata": {"resourceVersion": "7", "continue": "rest"}, "items": []}'),
    "a broken list": stream(b'{"metadata": {}, "items": [', abort=True),
}
WORKLOAD: Any = {"apiVersion": ORCHESTRA.api_version, "kind": "Orchestra", "metadata": {"name": "o", "namespace": "a"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "kartas"
    path.mkdir()
    (path / "orchestra.yaml").write_text(KARTA)
    return path


def _api() -> ScriptedApi:
    api = ScriptedApi(kinds={"toys.example.com/v1": ["Hall", "Orchestra"]})
    api.collections[HALLS] = {}
    api.put(HALLS, "great", {"of": "great"})
    return api


def _look_up(running: RunningCluster) -> str:
    """Return what an answer has of the object: its content, that it is absent, or an error."""
    try:
        found = running.cluster.referenced.get(HALL, "a", "great")
    except QueryAbsentError:
        return "absent"
    except QueryReferenceError:
        return "error"
    return "known" if found else "absent"


def _noted(seen: set[str], answer: str) -> str:
    seen.add(answer)
    return answer


@asynccontextmanager
async def _in_trouble(
    api: ScriptedApi, path: str, handler: Any, tmp_path: Path, **settings: Any
) -> AsyncIterator[RunningCluster]:
    api.on("get", path, handler, times=10_000)
    if handler is TROUBLE["half a list"]:
        # The first part comes, and the second never does.
        api.on("get", path, never, times=10_000)
    async with running_cluster(tmp_path, api, **settings) as running:
        await api.was_asked("get", path, times=1 if handler is never else 3)
        yield running


@pytest.mark.parametrize("handler", [pytest.param(handler, id=name) for name, handler in TROUBLE.items()])
async def test_referenced_kind_is_an_error_until_it_is_listed(tmp_path: Path, folder: Path, handler: Any) -> None:
    api = _api()
    async with _in_trouble(api, HALLS, handler, tmp_path, folders=(folder,), pace=PATIENT) as running:
        await until(lambda: running.cluster.synced)
        assert _look_up(running) == "error"
        assert running.cluster.referenced.awaited() == [HALL]
        if handler is never:
            return
        seen = set[str]()
        api.behave()
        await until(lambda: _noted(seen, _look_up(running)) == "known")
        assert seen <= {"error", "known"}
        await until(lambda: not running.cluster.referenced.awaited())


async def test_referenced_kind_that_is_not_served_yet_is_an_error(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.kinds["toys.example.com/v1"] = ["Orchestra"]
    async with running_cluster(tmp_path, api, folders=(folder,), pace=PATIENT) as running:
        await until(lambda: running.cluster.synced and "no toys.example.com/v1, Kind=Hall" in _problem(running))
        assert _look_up(running) == "error"
        assert running.cluster.referenced.awaited() == [HALL]
        assert not running.store.reference_gaps(), "nothing is said of a moment"
        api.kinds["toys.example.com/v1"] = ["Hall", "Orchestra"]
        await until(lambda: _look_up(running) == "known" and not running.cluster.referenced.awaited())


async def _comes(clock: Clock, seconds: float, holds: Callable[[], object]) -> bool:
    """Return whether something holds within so many seconds."""
    end = clock.time() + seconds  # on a busy machine more than that passes at once
    while clock.time() < end:
        await clock.passes(0.5)
        if holds():
            return True
    return False


async def _stays(clock: Clock, seconds: float, holds: Callable[[], object]) -> bool:
    """Return whether something holds for so long."""
    return not await _comes(clock, seconds, lambda: not holds())


def _problem(running: RunningCluster) -> str:
    return running.cluster.referenced.problem(HALL)


@pytest.mark.parametrize("code", [*REFUSED])
async def test_refusal_counts_as_soon_as_it_has_lasted(tmp_path: Path, folder: Path, clock: Clock, code: int) -> None:
    api, pace = _api(), Pace()
    async with _in_trouble(api, HALLS, status(code, REFUSED[code]), tmp_path, folders=(folder,), pace=pace) as running:
        referenced = running.cluster.referenced
        assert referenced.awaited() == [HALL]
        assert await _stays(clock, pace.absent - 5, lambda: _look_up(running) == "error")
        assert referenced.awaited() == [HALL]
        assert await _comes(clock, 10, lambda: _look_up(running) == "absent"), "a lasting refusal is no outage"
        assert not referenced.awaited()
        api.behave()
        seen = set[str]()
        assert await _comes(clock, 60, lambda: _noted(seen, _look_up(running)) == "known")
        assert not referenced.awaited(), "readiness waits at the start only"


async def test_other_trouble_is_an_error_for_ever_and_the_start_goes_on(
    tmp_path: Path, folder: Path, clock: Clock
) -> None:
    pace = Pace()
    async with _in_trouble(_api(), HALLS, status(500), tmp_path, folders=(folder,), pace=pace) as running:
        referenced = running.cluster.referenced
        assert referenced.awaited() == [HALL]
        assert await _stays(clock, 2 * pace.absent - 5, referenced.awaited)
        assert await _comes(clock, 10, lambda: not referenced.awaited())
        assert await _stays(clock, pace.absent, lambda: _look_up(running) == "error")


async def test_interrupted_refusal_begins_anew(tmp_path: Path, folder: Path, clock: Clock) -> None:
    api, pace = _api(), Pace()
    api.on("get", HALLS, status(403, "Forbidden"), times=3)
    api.on("get", HALLS, status(503))
    async with _in_trouble(api, HALLS, status(403, "Forbidden"), tmp_path, folders=(folder,), pace=pace) as running:
        await _comes(clock, pace.absent, lambda: len(api.requests("get", HALLS)) > 4)
        assert await _stays(clock, pace.absent - 5, lambda: _look_up(running) == "error")


async def test_kind_that_is_referred_to_later_takes_no_server_out(tmp_path: Path, folder: Path) -> None:
    api, karta = _api(), folder / "orchestra.yaml"
    api.on("get", HALLS, status(403, "Forbidden"), times=10_000)
    karta.unlink()
    async with running_cluster(tmp_path, api, folders=(folder,), pace=PATIENT) as running:
        await until(lambda: running.cluster.synced and not running.cluster.referenced.awaited())
        karta.write_text(KARTA)
        await running.store.reload()
        await api.was_asked("get", HALLS, times=2)
        assert not running.cluster.referenced.awaited()
        assert _look_up(running) == "error", "it is refused for a moment"


async def test_kind_without_workloads_is_not_waited_for(tmp_path: Path, folder: Path) -> None:
    api = ScriptedApi()
    async with running_cluster(tmp_path, api, folders=(folder,), pace=PATIENT) as running:
        await until(lambda: running.cluster.synced and not running.cluster.referenced.awaited())
        assert _look_up(running) == "error"
        with pytest.raises(QueryReferenceError) as raised:
            running.cluster.referenced.get(COMPUTE_DOMAIN, "a", "b")
        assert not isinstance(raised.value, QueryAbsentError)


async def test_kind_that_comes_after_long_is_not_absent_while_it_is_listed(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.on("get", HALLS, status(403, "Forbidden"), times=10_000)
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        await until(lambda: _look_up(running) == "absent")
        api.behave()
        api.on("get", HALLS, TROUBLE["half a list"])
        api.on("get", HALLS, never)
        await until(lambda: _look_up(running) == "error")


async def test_list_that_is_empty_for_a_moment_is_followed(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.collections[HALLS] = {}
    async with running_cluster(tmp_path, api, folders=(folder,), pace=PATIENT) as running:
        await api.was_asked("watch", HALLS)
        assert _look_up(running) == "absent", "the server has said so"
        api.put(HALLS, "great", {"of": "great"})
        await until(lambda: _look_up(running) == "known")
        assert len(api.requests("get", HALLS)) == 1


@pytest.mark.parametrize("handler", [pytest.param(handler, id=name) for name, handler in TROUBLE.items()])
async def test_watch_that_ends_takes_no_object_away(tmp_path: Path, folder: Path, handler: Any) -> None:
    api, seen = _api(), set[str]()
    async with running_cluster(tmp_path, api, folders=(folder,), pace=PATIENT) as running:
        await until(lambda: _look_up(running) == "known")
        api.on("watch", HALLS, status(410, "Expired"), times=2)
        api.on("get", HALLS, handler, times=2)
        api.expire()
        api.end_watches()
        asked = len(api.requests("get", HALLS))
        await until(lambda: _noted(seen, _look_up(running)) and len(api.requests("get", HALLS)) > asked)
        assert seen == {"known"}


@pytest.mark.parametrize("handler", [pytest.param(handler, id=name) for name, handler in TROUBLE.items()])
async def test_kartas_are_waited_for(tmp_path: Path, karta: Callable[..., str], handler: Any) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", yaml.safe_load(karta("A", replicas=".a"))["spec"])
    async with _in_trouble(api, KARTAS, handler, tmp_path, pace=PATIENT) as running:
        assert not running.cluster.synced
        assert not running.cluster.in_step, "nothing is registered"
        if handler is not never:
            api.behave()
            await running.serves(A=".a")
            await running.is_synced()


@pytest.mark.parametrize("code", [*REFUSED])
async def test_refused_kartas_are_waited_for_until_it_lasts(tmp_path: Path, clock: Clock, code: int) -> None:
    pace = Pace()
    async with _in_trouble(ScriptedApi(), KARTAS, status(code, REFUSED[code]), tmp_path, pace=pace) as running:
        assert await _stays(clock, pace.absent - 5, lambda: not running.cluster.synced)
        assert await _comes(clock, 10, lambda: running.cluster.synced)


@pytest.fixture
def claims() -> ScriptedApi:
    group = "resource.k8s.io/v1"
    api = ScriptedApi(kinds={group: ["ResourceClaimTemplate", "DeviceClass"]})
    template = {"spec": {"devices": {"requests": REQUESTS["v1"]}}}
    for path in ("resourceclaimtemplate", "deviceclass"):
        api.collections[f"/apis/{group}/{path}"] = {}
    api.put(f"/apis/{group}/resourceclaimtemplate", "gpus", template, namespace="ml")
    api.put(f"/apis/{group}/deviceclass", "gpu", {"extendedResourceName": "example.com/gpu"})
    return api


@pytest.mark.catalogue
@pytest.mark.parametrize("path", ["resourceclaimtemplate", "deviceclass"])
@pytest.mark.parametrize("handler", [pytest.param(handler, id=name) for name, handler in TROUBLE.items()])
async def test_devices_are_never_left_out_for_a_moment(
    tmp_path: Path, claims: ScriptedApi, path: str, handler: Any
) -> None:
    entry = find_in_catalogue(GVK("batch", "v1", "Job"))
    assert entry is not None
    definition = entry.definition

    def amounts(running: RunningCluster) -> Any:
        try:
            answer: Any = interpret(
                definition, Call(Operation.INTERPRET_REPLICA, JOB), BY_CLASS, reader=running.store.reader
            )
        except InterpretationError:
            return "error"
        return (answer["requires"] or {}).get("resourceRequest")

    collection, counted = f"/apis/resource.k8s.io/v1/{path}", str({"example.com/gpu": "2"})
    settings = {"pace": PATIENT, "looked_up": BY_CLASS.looked_up}
    async with _in_trouble(claims, collection, handler, tmp_path, **settings) as running:
        await until(lambda: running.cluster.synced)
        assert amounts(running) == "error"
        kinds = CLAIM_TEMPLATES if path == "resourceclaimtemplate" else DEVICE_CLASSES
        assert kinds[0] in running.cluster.referenced.awaited()
        if handler is not never:
            claims.behave()
            seen = set[str]()
            await until(lambda: _noted(seen, str(amounts(running))) == counted)
            assert seen <= {"error", counted}


async def test_kinds_that_are_not_served_yet_hide_no_definition(tmp_path: Path, folder: Path) -> None:
    """Whatever a server cannot read, files are served."""
    api = _api()
    api.on("get", KARTAS, status(403, "Forbidden"), times=10_000)
    async with running_cluster(tmp_path, api, folders=(folder,), pace=PATIENT) as running:
        await asyncio.sleep(FAST.longest)
        assert ORCHESTRA in running.store.snapshot.entries
        assert expressions(running.store.snapshot) == {}
