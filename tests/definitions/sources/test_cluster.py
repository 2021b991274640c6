import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta import karta_api_group, loading
from karta_interpreter.definitions.sources import cluster_karta, karta_loading
from karta_interpreter.definitions.sources.cluster import Cluster
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.snapshot import Snapshot
from tests.definitions.sources.running import expressions, quarantined, running_cluster
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, status
from tests.support.waiting import PAUSE

Karta = Callable[..., str]
Spec = Callable[..., Any]

_BROKEN = ".spec.replicas |"


async def test_kartas_are_served_as_they_come_change_and_go(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        snapshot = await running.serves(A=".a")
        api.put(KARTAS, "b", spec("B", replicas=".b"))
        await running.serves(A=".a", B=".b")
        api.put(KARTAS, "a", spec("A", replicas=".changed"))
        await running.serves(A=".changed", B=".b")
        api.delete(KARTAS, "b")
        await running.serves(A=".changed")

    entry = snapshot.entries[GVK("example.io", "v1", "A")]
    assert (entry.origin, entry.definition.source, entry.definition.name) == ("cluster", "kartas.run.ai/a", "a")


async def test_cluster_is_synced_with_the_kartas_that_were_listed_meanwhile(
    tmp_path: Path, spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Cluster._read  # noqa: SLF001

    def read_slowly(cluster: Cluster, *present: Any) -> Any:
        found = read(cluster, *present)
        while not cluster._collection.known:  # noqa: SLF001
            time.sleep(PAUSE)
        return found

    monkeypatch.setattr(Cluster, "_read", read_slowly)
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    api.on("get", KARTAS, status(500))
    async with running_cluster(tmp_path, api) as running:
        await running.is_synced()
        assert expressions(running.store.snapshot) == {"A": ".a"}


async def test_kartas_of_another_api_group_are_served_in_place_of_run_ai(tmp_path: Path, spec: Spec) -> None:
    api, path = ScriptedApi(), "/apis/workloads.example.com/v1alpha1/kartas"
    api.collections[path] = {}
    api.put(path, "a", spec("A", replicas=".a"))
    with karta_api_group("workloads.example.com"):
        async with running_cluster(tmp_path, api) as running:
            snapshot = await running.serves(A=".a")

    assert snapshot.entries[GVK("example.io", "v1", "A")].definition.source == "kartas.workloads.example.com/a"
    assert not api.requests("get", KARTAS)


async def test_cluster_prevails_over_folder(tmp_path: Path, folder: Path, karta: Karta, spec: Spec) -> None:
    (folder / "a.yaml").write_text(karta("A", replicas=".folder"))
    api = ScriptedApi()
    async with running_cluster(tmp_path, api, folders=(folder,)) as running:
        await running.serves(A=".folder")
        api.put(KARTAS, "a", spec("A", replicas=".cluster"))
        snapshot = await running.serves(A=".cluster")
        (folder / "b.yaml").write_text(karta("B", replicas=".folder"))
        await running.serves(A=".cluster", B=".folder")
        api.delete(KARTAS, "a")
        await running.serves(A=".folder", B=".folder")

    assert [finding.rule for finding in snapshot.findings] == ["shadowed-kind"]


async def test_oldest_karta_of_kind_is_served(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".young"), creationTimestamp="2026-02-02T00:00:00Z")
    api.put(KARTAS, "b", spec("A", replicas=".old"), creationTimestamp="2026-02-01T00:00:00Z")
    api.put(KARTAS, "c", spec("A", replicas=".twin"), creationTimestamp="2026-02-01T00:00:00Z")
    async with running_cluster(tmp_path, api) as running:
        snapshot = await running.serves(A=".old")
        api.delete(KARTAS, "b")
        await running.serves(A=".twin")

    assert [(finding.rule, finding.source) for finding in snapshot.findings] == [
        ("duplicate-kind", "kartas.run.ai/c"),
        ("duplicate-kind", "kartas.run.ai/a"),
    ]


async def test_broken_karta_keeps_last_good_version_and_others(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    api.put(KARTAS, "b", spec("B", replicas=_BROKEN))
    async with running_cluster(tmp_path, api) as running:
        first = await running.serves(A=".a")
        api.put(KARTAS, "a", spec("A", replicas=_BROKEN))
        broken = await running.until(lambda snapshot: len(snapshot.quarantined) == 2)
        api.put(KARTAS, "a", {"nonsense": True})
        worse = await running.until(lambda snapshot: "nonsense" in str(snapshot.quarantined))
        api.put(KARTAS, "c", spec("C", replicas=".c"))
        await running.serves(A=".a", C=".c")
        api.put(KARTAS, "a", spec("A", replicas=".healed"))
        healed = await running.serves(A=".healed", C=".c")

    assert quarantined(first) == {"kartas.run.ai/b": False}
    assert quarantined(broken) == {"kartas.run.ai/a": True, "kartas.run.ai/b": False}
    assert expressions(broken) == expressions(worse) == {"A": ".a"}
    assert quarantined(healed) == {"kartas.run.ai/b": False}


async def test_deleted_karta_that_comes_back_broken_is_not_served(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        await running.serves(A=".a")
        api.delete(KARTAS, "a")
        api.put(KARTAS, "a", spec("A", replicas=_BROKEN))
        snapshot = await running.until(lambda snapshot: bool(snapshot.quarantined))

    assert expressions(snapshot) == {}


async def test_failure_of_loader_harms_only_its_karta(
    tmp_path: Path, spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = loading.load_object

    def load(obj: Any, source: str) -> Any:
        if obj["metadata"]["name"] == "a":
            raise ZeroDivisionError
        return real(obj, source)

    monkeypatch.setattr(loading, "load_object", load)
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A"))
    api.put(KARTAS, "b", spec("B", replicas=".b"))
    async with running_cluster(tmp_path, api) as running:
        snapshot = await running.serves(B=".b")

    assert quarantined(snapshot) == {"kartas.run.ai/a": False}


def _stopping(cause: StopCause, times: int = 1) -> Callable[[str, float], Any]:
    """Return the processes of a pool of which the first are stopped."""
    failures, real = [SandboxError("it was stopped", cause)] * times, karta_loading.POOL.process

    def process(owner: str, seconds: float) -> Any:
        if failures:
            raise failures.pop()
        return real(owner, seconds)

    return process


async def test_karta_that_does_not_load_in_its_time_is_quarantined_with_that_reason(
    tmp_path: Path, spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A"))
    with monkeypatch.context() as stopped:
        stopped.setattr(karta_loading.POOL, "process", _stopping(StopCause.TIME))
        async with running_cluster(tmp_path, api) as running:
            snapshot = await running.until(lambda snapshot: bool(snapshot.quarantined))
    api.delete(KARTAS, "a")
    async with running_cluster(tmp_path, api) as running:
        api.put(KARTAS, "b", spec("B", replicas=".b"))
        await running.serves(B=".b")

    assert quarantined(snapshot) == {"kartas.run.ai/a": False}
    assert snapshot.quarantined[0].findings[0].message == "cannot be read: it takes longer than 5 s"


async def test_karta_is_judged_in_another_process(tmp_path: Path, spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked for in texts is not looked for here, where calls wait for it."""
    monkeypatch.setattr(loading, "lint", lambda *_: pytest.fail("it is linted here"))
    karta = spec("A", replicas=".a")
    karta["structureDefinition"]["rootComponent"]["statusDefinition"]["statusMappings"] = {}
    api = ScriptedApi()
    api.put(KARTAS, "a", karta)
    async with running_cluster(tmp_path, api) as running:
        snapshot = await running.serves(A=".a")

    [finding] = snapshot.entries[GVK("example.io", "v1", "A")].definition.findings
    assert (finding.rule, finding.source) == ("never-healthy", "kartas.run.ai/a")


async def test_karta_waits_for_a_process(tmp_path: Path, spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = karta_loading._ATTEMPTS  # noqa: SLF001 - so many, and the next one after a pause
    monkeypatch.setattr(karta_loading.POOL, "process", _stopping(StopCause.KILLED, attempts))
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        await running.serves(A=".a")


async def test_only_a_change_of_meaning_is_compiled_and_published(
    tmp_path: Path, spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    real = karta_loading.load_object

    def load(obj: Any, source: str) -> Any:
        loaded.append(source)
        return real(obj, source)

    monkeypatch.setattr(cluster_karta, "load_object", load)
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        await running.serves(A=".a")
        api.put(KARTAS, "a", spec("A", replicas=".a"), labels={"team": "x"})
        api.expire()
        api.end_watches()
        api.put(KARTAS, "a", spec("A", replicas=".a"), annotations={"karta-interpreter.io/retain": ".a |"})
        await running.until(lambda snapshot: "retain" in str(snapshot.quarantined))
        assert (loaded, running.published) == (["kartas.run.ai/a"] * 2, 2)


def test_another_value_of_a_suspend_action_is_a_change(spec: Spec) -> None:
    """Even one that is equal to Python."""

    def karta(value: JSON) -> Object:
        made = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "a"}, "spec": spec("A")}
        made["spec"]["structureDefinition"]["rootComponent"]["suspendDefinition"] = {
            f"{when}Actions": [{"path": ".spec.suspend", "value": value}] for when in ("suspend", "resume")
        }
        return made

    served = ClusterKarta.first_seen("kartas.run.ai/a", karta(1)).seen_again(karta(value=True)).served
    assert served
    assert served.definition
    assert served.definition.suspend[0].value is True


async def test_cluster_is_synced_after_publication(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        await running.is_synced()

        assert expressions(running.store.snapshot) == {"A": ".a"}


async def test_failing_subscriber_is_logged_and_survived(
    tmp_path: Path, spec: Spec, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Snapshot) -> None:
        raise ZeroDivisionError

    api = ScriptedApi()
    api.put(KARTAS, "a", spec("A", replicas=".a"))
    async with running_cluster(tmp_path, api) as running:
        stop = running.store.subscribe(fail)
        await running.serves(A=".a")
        stop()
        api.put(KARTAS, "b", spec("B", replicas=".b"))
        await running.serves(A=".a", B=".b")

    assert "ZeroDivisionError" in caplog.text
