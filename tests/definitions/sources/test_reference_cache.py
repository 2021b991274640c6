"""The objects that definitions refer to, in step with an API server."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from karta_interpreter.base.errors import InterpretationError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.reference_resolver import LargeLookUpError, ObjectNames
from karta_interpreter.definitions.sources import reference_cache
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.informer import Pace
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.languages.jq import Query
from tests.definitions.sources.running import FAST, RunningCluster, running_cluster
from tests.definitions.sources.scripted_api import ScriptedApi, serving, status, stream, write_kubeconfig
from tests.support.waiting import HANG, until

HALL = GVK("toys.example.com", "v1", "Hall")
HALLS = "/apis/toys.example.com/v1/hall"

KARTA = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: orchestra}
spec:
  structureDefinition:
    references:
      - name: hall
        gvk: {group: toys.example.com, version: v1, kind: Hall}
        lookup: {nameExpression: .spec.hall}
    rootComponent:
      name: orchestra
      kind: {group: toys.example.com, version: v1, kind: Orchestra}
      statusDefinition:
        phaseDefinition: {path: $hall.phase}
        statusMappings: {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "kartas"
    path.mkdir()
    (path / "orchestra.yaml").write_text(KARTA)
    return path


def _api(*names: str, **metadata: str) -> ScriptedApi:
    api = ScriptedApi(kinds={"toys.example.com/v1": ["Hall", "Orchestra"]})
    api.collections[HALLS] = {}
    for name in names:
        api.put(HALLS, name, {"of": name}, **metadata)
    return api


async def _until(running: RunningCluster, holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG):
        while not _holds(holds):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(FAST.first)
    assert running.store.reader is running.cluster.referenced


def _problem(running: RunningCluster) -> str:
    return running.cluster.referenced.problem(HALL)


def _is_absent(running: RunningCluster) -> bool:
    try:
        return running.cluster.referenced.get(HALL, "town", "great") is None
    except QueryReferenceError as error:
        return isinstance(error, QueryAbsentError)


def _holds(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except (QueryReferenceError, LargeLookUpError):
        return False


async def test_objects_are_followed(tmp_path: Path, folder: Path) -> None:
    async with running_cluster(tmp_path, _api("great"), folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.get(HALL, "town", "great") is not None)
        found = reader.get(HALL, "town", "great")
        assert found is not None
        assert found["spec"] == {"of": "great"}
        assert reader.get(HALL, "town", "small") is None, "all of them are known"
        running.api.put(HALLS, "small", {"of": "small"})
        await _until(running, lambda: len(reader.list(HALL, "")) == 2)
        running.api.delete(HALLS, "great")
        await _until(running, lambda: reader.get(HALL, "town", "great") is None)


async def test_deep_object_is_looked_up(tmp_path: Path, folder: Path) -> None:
    api = _api("opera", namespace="a")
    deep: list[object] = []
    for _ in range(400):
        deep = [deep]
    spec = {"of": "large", "boxes": [{}] * 4000, "deep": deep}
    api.put(HALLS, "large", spec, namespace="a")
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        await _until(running, lambda: not _problem(running))
        reader = running.cluster.referenced
        large, small = reader.get(HALL, "a", "large"), reader.get(HALL, "a", "opera")
        assert (large and large["spec"], small and small["spec"]) == (spec, {"of": "opera"})
        assert [obj["spec"]["of"] for obj in reader.list(HALL, "a")] == ["opera", "large"]


@pytest.mark.parametrize(
    ("most_decoded", "most_objects", "is_large"),
    [
        pytest.param(10_000, 2, False, id="as many as one call may look up"),
        pytest.param(10_000, 1, True, id="more objects than one call may look up"),
        pytest.param(300, 2, True, id="more bytes than this process decodes"),
    ],
)
async def test_large_look_up_is_left_to_a_child_process(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_decoded: int,
    most_objects: int,
    *,
    is_large: bool,
) -> None:
    monkeypatch.setattr(reference_cache, "MOST_DECODED", most_decoded)
    monkeypatch.setattr(reference_cache, "MOST_OBJECTS", most_objects)
    async with running_cluster(tmp_path, _api("opera", "town"), folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: not _problem(running))
        with pytest.raises(LargeLookUpError) if is_large else nullcontext():
            assert len(reader.list(HALL, "")) == 2
        with pytest.raises(LargeLookUpError) if most_objects == 1 else nullcontext():
            assert len(reader.texts(HALL, "")) == 2
        assert reader.get(HALL, "", "opera"), "one alone is small"


async def test_large_object_without_names_is_searched_by_a_child_process(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_cache, "MOST_DECODED", 1000)
    api = _api("opera", namespace="town")
    api.put(HALLS, "large", {"of": ["x" * 1000]}, namespace="village")
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: not _problem(running))
        assert reader.names(HALL, "town", NAMES).first("town", "opera") == "opera"
        with pytest.raises(LargeLookUpError):
            reader.names(HALL, "village", NAMES)
        api.put(HALLS, "large", {"of": ["small"]}, namespace="village")
        await _until(running, lambda: reader.names(HALL, "village", NAMES).first("village", "small") == "large")


async def test_objects_are_told_apart_by_their_namespaces(tmp_path: Path, folder: Path) -> None:
    async with running_cluster(tmp_path, _api("great", namespace="town"), folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.get(HALL, "town", "great") is not None)
        assert reader.get(HALL, "village", "great") is None
        assert reader.get(HALL, "village", "town/great") is None, "a name is no way into another namespace"
        assert (len(reader.list(HALL, "town")), len(reader.list(HALL, "village"))) == (1, 0)


NAMES = Query.compile("{name: .metadata.name}, (.spec.of | arrays | .[] | {name: ., rank: 1})")


async def test_names_are_computed_once_for_each_state(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.put(HALLS, "great", {"of": ["opera"]}, namespace="town")
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: not _problem(running))
        names = reader.names(HALL, "town", NAMES)
        assert names is reader.names(HALL, "town", NAMES)
        assert names.first("town", "opera") == "great"
        assert reader.names(HALL, "village", NAMES).first("village", "opera") is None
        api.put(HALLS, "small", {"of": ["opera", "ballet"]}, namespace="town")
        await _until(running, lambda: len(reader.list(HALL, "town")) == 2)
        assert reader.names(HALL, "town", NAMES).first("town", "opera, ballet") == "small"
        held = reader._shares.held  # noqa: SLF001 - nothing else tells of it
        reader.want([])
        assert reader._shares.held < held, "names of definitions that are gone take no room"  # noqa: SLF001


async def test_interrupted_look_up_by_names_goes_on(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_cluster(tmp_path, _api("a", "b", "c"), folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: len(reader.list(HALL, "")) == 3)
        added: list[str] = []
        add = ObjectNames.add

        def interrupted(names: ObjectNames, obj: Object) -> list[JSON]:
            added.append(str(obj["spec"]["of"]))
            if len(added) == 2:
                raise InterruptedError
            return add(names, obj)

        monkeypatch.setattr(ObjectNames, "add", interrupted)
        with pytest.raises(InterruptedError):
            reader.names(HALL, "", NAMES)
        assert reader.names(HALL, "", NAMES).first("", "a") == "a"
        assert added == ["c", "b", "b", "a"], "what is known is not computed again"


async def test_names_of_an_object_that_changes_or_goes_are_not_kept(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.put(HALLS, "great", {"of": ["opera", "ballet", "opera"]}, namespace="town")
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.names(HALL, "town", NAMES).first("town", "opera") == "great")
        api.put(HALLS, "great", {"of": ["ballet"]}, namespace="town")
        await _until(running, lambda: reader.names(HALL, "town", NAMES).first("town", "opera") is None)
        assert reader.names(HALL, "town", NAMES).first("town", "ballet") == "great"
        api.delete(HALLS, "great")
        await _until(running, lambda: reader.names(HALL, "town", NAMES).first("town", "ballet") is None)
        assert reader._shares.held == 0, "what is gone takes no room"  # noqa: SLF001 - nothing else tells of it


async def test_names_without_room_cannot_be_looked_up(tmp_path: Path, folder: Path) -> None:
    async with running_cluster(tmp_path, _api("a", "b"), folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: len(reader.list(HALL, "")) == 2)
        # Cluster-scoped objects have a quarter: there is room for the names of one object.
        reader._shares.most = 4 * (reader.held + 300)  # noqa: SLF001
        for _ in range(2):
            with pytest.raises(QueryReferenceError, match="the names of a have no room") as raised:
                reader.names(HALL, "", NAMES)
            assert not isinstance(raised.value, QueryAbsentError)
        assert reader.get(HALL, "", "a"), "objects have their room"


async def test_object_whose_names_fail_makes_those_of_its_namespace_unknown(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.put(HALLS, "great", {"of": ["opera"]}, namespace="town")
    api.put(HALLS, "hostile", {"of": [str(number) for number in range(1000)]}, namespace="village")
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.names(HALL, "town", NAMES).first("town", "opera") == "great")
        for _ in range(2):
            with pytest.raises(QueryReferenceError, match=r"village/hostile .* more than 999 results") as raised:
                reader.names(HALL, "village", NAMES)
            assert not isinstance(raised.value, QueryAbsentError), "an answer in part is for what is absent"
        api.put(HALLS, "hostile", {"of": ["ballet"]}, namespace="village")
        await _until(running, lambda: reader.names(HALL, "village", NAMES).first("village", "ballet") == "hostile")


async def test_cluster_scoped_object_whose_names_fail_makes_all_unknown(tmp_path: Path, folder: Path) -> None:
    api = _api("opera")
    api.put(HALLS, "hostile", {"of": [str(number) for number in range(1000)]})
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: len(reader.list(HALL, "")) == 2)
        for namespace in ("town", "village"):
            with pytest.raises(QueryReferenceError, match="the names that hostile has"):
                reader.names(HALL, namespace, NAMES)


@pytest.mark.parametrize("levels", [pytest.param(1020, id="too deep"), pytest.param(9990, id="as an API server takes")])
async def test_object_that_cannot_be_decoded_is_an_error_in_its_namespace(
    tmp_path: Path, folder: Path, levels: int
) -> None:
    great = b'{"metadata": {"name": "great", "namespace": "town"}, "spec": {"of": ["opera"]}}'
    nested = b"[" * levels + b"]" * levels
    deep = b'{"spec": {"of": %s}, "metadata": {"name": "deep", "namespace": "village"}}' % nested
    api = _api()
    api.on("get", HALLS, stream(b'{"items": [%s, %s], "metadata": {"resourceVersion": "1"}}' % (great, deep)))
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.names(HALL, "town", NAMES).first("town", "opera") == "great")
        assert reader.get(HALL, "village", "great") is None
        for look_up in (
            lambda: reader.get(HALL, "village", "deep"),
            lambda: reader.list(HALL, "village"),
            lambda: reader.names(HALL, "village", NAMES),
        ):
            with pytest.raises(QueryReferenceError, match=r"(deep|of the kind) cannot be read") as raised:
                look_up()
            assert not isinstance(raised.value, QueryAbsentError)


@pytest.mark.slow
async def test_namespace_that_has_no_room_leaves_others_alone(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    api = _api()
    for number in range(5):
        api.put(HALLS, f"large{number}", {"of": ["x" * 60_000]}, namespace="village")
    api.put(HALLS, "great", {"of": ["opera"]}, namespace="town")
    async with running_cluster(tmp_path, api, folders=(folder,), budget=Budget(300_000)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.names(HALL, "town", NAMES).first("town", "opera") == "great")
        assert reader.get(HALL, "town", "absent") is None
        assert reader.get(HALL, "village", "large0") is not None, "what has room is known"
        for look_up in (lambda: reader.get(HALL, "village", "absent"), lambda: reader.list(HALL, "village")):
            with pytest.raises(QueryReferenceError, match="objects of the namespace village have room") as raised:
                look_up()
            assert not isinstance(raised.value, QueryAbsentError)
        assert list(reader.without_room()) == ["hall.toys.example.com village"]
        assert "cannot be looked up: not all objects of the namespace village" in running.store.reference_gaps()[0]
        lines = [record.getMessage() for record in caplog.records if "have no room" in record.getMessage()]
        assert len(lines) == 1, "one line for each state"
        assert "hall.toys.example.com in the namespace 'village'" in lines[0]
        for number in range(5):
            api.delete(HALLS, f"large{number}")
        await _until(running, lambda: not reader.unread() and reader.get(HALL, "town", "great") is not None)
        running.api.end_watches()
        await _until(running, lambda: not reader.without_room())
        assert reader.list(HALL, "village") == []


async def test_kind_that_may_not_be_read_is_named(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    api = _api("great")
    api.on("get", HALLS, status(403, "Forbidden", "no halls for you"), times=1000)
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        await _until(running, lambda: "no halls for you" in running.cluster.referenced.unread().get(HALL, ""))
        assert "Kind=Hall cannot be looked up: " in running.store.reference_gaps()[0]
        await api.was_asked("get", HALLS, times=5)
        lines = [record.getMessage() for record in caplog.records if "answers lack" in record.getMessage()]
        assert len(lines) == 1, "one line for each state"
        assert "Kind=Hall say, which cannot be looked up: " in lines[0]


async def test_kind_that_appears_later_is_found(tmp_path: Path, folder: Path) -> None:
    api = ScriptedApi()
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await api.was_asked("get", "/apis", times=2)
        await _until(running, lambda: "the API server has no toys.example.com/v1, Kind=Orchestra" in _problem(running))
        assert not api.requests("get", "/apis/toys.example.com/v1")
        api.collections[HALLS] = {}
        api.kinds["toys.example.com/v1"] = ["Orchestra"]
        await _until(running, lambda: "the API server has no toys.example.com/v1, Kind=Hall" in _problem(running))
        await _until(running, lambda: _is_absent(running))
        api.kinds["toys.example.com/v1"] = ["Hall", "Orchestra"]
        await _until(running, lambda: reader.list(HALL, "") == [])


async def test_kind_that_no_workload_refers_to_is_not_read(tmp_path: Path, folder: Path) -> None:
    api = _api("great")
    api.kinds["toys.example.com/v1"] = ["Hall"]
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        await api.was_asked("get", "/apis/toys.example.com/v1", times=3)
        assert "the API server has no toys.example.com/v1, Kind=Orchestra" in _problem(running)
        assert not api.requests("get", HALLS)
        api.kinds["toys.example.com/v1"] = ["Hall", "Orchestra"]
        await _until(running, lambda: len(running.cluster.referenced.list(HALL, "")) == 1)


async def test_forbidden_kind_is_an_error_with_reason(tmp_path: Path, folder: Path) -> None:
    api = _api("great")
    api.on("get", HALLS, status(403, "Forbidden", "no halls for you"), times=1000)
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        await _until(running, lambda: _is_absent(running))
        with pytest.raises(QueryAbsentError, match="no halls for you"):
            running.cluster.referenced.get(HALL, "town", "great")


async def test_unwanted_kind_is_forgotten(tmp_path: Path, folder: Path) -> None:
    async with running_cluster(tmp_path, _api("great"), folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: len(reader.list(HALL, "")) == 1)
        reader.want([])
        await _until(running, lambda: HALL not in reader._collections)  # noqa: SLF001 - nothing else tells of it
        assert not reader._shares.held, "what is gone takes no room"  # noqa: SLF001
        with pytest.raises(QueryReferenceError, match="has not been listed yet") as raised:
            reader.list(HALL, "")
        assert not isinstance(raised.value, QueryAbsentError), "Karmada asks again, and is answered then"


async def test_objects_are_not_known_after_an_error_of_this_program(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running_cluster(tmp_path, _api("great"), folders=(folder,), pace=replace(FAST, longest=HANG)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.get(HALL, "town", "great") is not None)
        monkeypatch.setattr(reference_cache, "TEXT", "elsewhere")
        running.api.put(HALLS, "small", {"of": "small"})
        await _until(running, lambda: "an error in this program" in caplog.text)
        with pytest.raises(QueryReferenceError, match="has not been listed yet"):
            reader.get(HALL, "town", "great")


async def test_managed_fields_are_not_kept(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.put(HALLS, "great", {"of": "ä"}, managedFields=[{"manager": "x"}], labels={"a": "b"})
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.get(HALL, "", "great") is not None)
        found = reader.get(HALL, "", "great")
        assert found
        assert found["spec"] == {"of": "ä"}
        assert found["metadata"].keys() >= {"name", "uid", "labels", "creationTimestamp"}
        assert "managedFields" not in found["metadata"]


async def test_object_of_a_list_without_its_kind_has_one(tmp_path: Path, folder: Path) -> None:
    api = _api()
    api.on("get", HALLS, stream(b'{"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "great"}}]}'))
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: GVK.of(reader.get(HALL, "", "great") or {}) == HALL)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"<html>", id="a proxy"),
        pytest.param(b'{"metadata": {}, "items": [{"metadata": {"name": "a"}, "spec": "\xff"}]}', id="no UTF-8"),
        pytest.param(b'{"metadata": {}, "items": [{"metadata": 1}]}', id="an object without metadata"),
        pytest.param(b'{"metadata": {}, "items": [1]}', id="what is no object"),
        pytest.param(b'{"metadata": {}, "items": {}}', id="no list"),
    ],
)
async def test_answer_that_is_no_list_is_a_problem(tmp_path: Path, folder: Path, answer: bytes) -> None:
    api = _api("great")
    api.on("get", HALLS, stream(answer))
    api.on("get", HALLS, status(503), times=1000)
    async with running_cluster(
        tmp_path, api, folders=(folder,), pace=replace(FAST, first=HANG, longest=HANG)
    ) as running:
        await _until(running, lambda: "is this the URL of a Kubernetes API server?" in _problem(running))


@pytest.mark.parametrize("are_allowed", [True, False])
async def test_secrets_are_withheld_unless_they_are_allowed(*, are_allowed: bool) -> None:
    api, secret = mock.Mock(), GVK("", "v1", "Secret")
    cache = ReferenceCache(api, FAST, secrets=are_allowed)
    cache.want([(GVK("toys.example.com", "v1", "Orchestra"), secret)])
    assert (secret in cache._wanted) is are_allowed  # noqa: SLF001 - what is wanted is listed and watched
    with pytest.raises(QueryReferenceError) as raised:
        cache.get(secret, "town", "keys")
    assert isinstance(raised.value, QueryAbsentError) is not are_allowed
    assert ("--secret-references" in str(raised.value)) is not are_allowed


async def test_without_references_nothing_is_asked(tmp_path: Path) -> None:
    api = _api("great")
    async with running_cluster(tmp_path, api) as running:
        await running.is_synced()
        assert not api.requests("get", HALLS)
        assert not api.requests("get", "/apis/toys.example.com/v1")


async def test_kinds_of_missing_groups_share_a_request(tmp_path: Path) -> None:
    references = [
        (GVK(f"workloads{number}.example.com", "v1", "Stage"), GVK(f"configs{number}.example.com", "v1", "Light"))
        for number in range(20)
    ]
    async with serving(_api()) as api, ApiServer.of(write_kubeconfig(tmp_path / "kubeconfig", api.url)) as server:
        cache = ReferenceCache(server, Pace(first=3600.0, longest=3600.0))
        cache.want(references)
        running = asyncio.create_task(cache.run())
        await until(lambda: all("has no workloads" in cache.problem(gvk) for _, gvk in references))
        running.cancel()
        assert [asked.path for asked in api.requests("get")] == ["/apis"]


async def test_server_that_hides_its_groups_is_asked_for_each(tmp_path: Path, folder: Path) -> None:
    api = _api("great")
    api.on("get", "/apis", status(403, "Forbidden"), times=10_000)
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        reader = running.cluster.referenced
        await _until(running, lambda: reader.get(HALL, "town", "great") is not None)


SOURCES = [GVK("sources.example.com", version, "Bucket") for version in ("v1", "v1beta2")]


async def test_version_that_is_served_is_followed(tmp_path: Path) -> None:
    api = ScriptedApi(kinds={"sources.example.com/v1": ["Git"], "sources.example.com/v1beta2": ["Bucket", "Git"]})
    async with serving(api), ApiServer.of(write_kubeconfig(tmp_path / "kubeconfig", api.url)) as server:
        cache = ReferenceCache(server, FAST)
        cache.versions.want([*SOURCES, GVK("absent.example.com", "v1", "Bucket")])
        with pytest.raises(QueryReferenceError, match="not known yet"):
            cache.served(SOURCES)
        running = asyncio.create_task(cache.run())
        await until(lambda: _holds(lambda: cache.served(SOURCES) == SOURCES[1]))
        assert not api.requests("get", "/apis/absent.example.com/v1"), "the list of groups lacks it"
        api.kinds["sources.example.com/v1"] = ["Bucket", "Git"]
        await until(lambda: cache.served(SOURCES) == SOURCES[0])
        api.on("get", "/apis", status(503), times=10_000)
        api.kinds["sources.example.com/v1"] = []
        await asyncio.sleep(FAST.absent * 2)
        assert cache.served(SOURCES) == SOURCES[0], "what was known stays while the server fails"
        running.cancel()


async def test_server_that_says_nothing_of_its_versions_serves_the_newest(tmp_path: Path) -> None:
    api = ScriptedApi(kinds={})
    api.on("get", "/apis", status(403, "Forbidden"), times=10_000)
    async with serving(api), ApiServer.of(write_kubeconfig(tmp_path / "kubeconfig", api.url)) as server:
        cache = ReferenceCache(server, FAST)
        cache.versions.want(SOURCES)
        running = asyncio.create_task(cache.run())
        await until(lambda: _holds(lambda: cache.served(SOURCES) == SOURCES[0]))
        running.cancel()


INFERENCE_SERVICE = Path(__file__).parents[3] / "kartas" / "serving.kserve.io" / "v1beta1" / "InferenceService"
KSERVE = [GVK("serving.kserve.io", "v1alpha1", kind) for kind in ("ServingRuntime", "ClusterServingRuntime")]
RUNTIMES = "/apis/serving.kserve.io/v1alpha1/servingruntime"


def _runtime(formats: int, **requests: str) -> Object:
    names = [{"name": "sklearn", "autoSelect": True}]
    names += [{"name": f"format{number}", "version": "1", "autoSelect": True} for number in range(formats)]
    container = {"name": "kserve-container", "resources": {"requests": requests}}
    return {"supportedModelFormats": names, "containers": [container]}


async def test_runtime_of_another_namespace_changes_no_answer(tmp_path: Path) -> None:
    kinds = {
        "serving.kserve.io/v1alpha1": ["ServingRuntime", "ClusterServingRuntime"],
        "serving.kserve.io/v1beta1": ["InferenceService"],
    }
    api = ScriptedApi(kinds=kinds)
    api.collections |= {RUNTIMES: {}, "/apis/serving.kserve.io/v1alpha1/clusterservingruntime": {}}
    api.put(RUNTIMES, "own", _runtime(0, **{"nvidia.com/gpu": "4"}), namespace="b")
    api.put(RUNTIMES, "hostile", _runtime(500, cpu="1"), namespace="a")

    def ask(namespace: str) -> Object | None:
        service = {"predictor": {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "gs://m"}}}
        metadata = {"name": "i", "namespace": namespace}
        obj = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": metadata}
        call = Call(Operation.INTERPRET_REPLICA, {**obj, "spec": service})
        definition = running.store.snapshot.find(GVK.of(obj))
        assert definition
        found: Any = interpret(definition, call, reader=running.store.reader)
        requested: Object | None = found["requires"]["resourceRequest"]
        return requested

    async with running_cluster(tmp_path, api, folders=(INFERENCE_SERVICE,)) as running:
        referenced = running.cluster.referenced
        await _until(running, lambda: all(referenced.list(gvk, "b") is not None for gvk in KSERVE))
        assert (ask("b") or {}).get("nvidia.com/gpu") == "4"
        with pytest.raises(InterpretationError, match="the names that a/hostile has are not known"):
            ask("a")
