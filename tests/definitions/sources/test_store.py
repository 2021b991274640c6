import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources import file_scan, store as store_module
from karta_interpreter.definitions.sources.snapshot import Snapshot, combine
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.languages.lua.script import Scripts
from tests.support.waiting import HANG

Karta = Callable[..., str]

_NEVER = 3600.0


def _kinds(snapshot: Snapshot) -> list[str]:
    return [gvk.kind for gvk in snapshot.kinds()]


def _make(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "b.yaml").write_text(text)


def _delete(folder: Path) -> None:
    """Delete a folder at once. rmtree deletes its files first, which a store may notice."""
    shutil.rmtree(folder.rename(folder.with_name("away")))


class _Watched:
    """A store that is watching, and the snapshots that it publishes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._published: asyncio.Queue[Snapshot] = asyncio.Queue()
        store.subscribe(self._published.put_nowait)

    async def until(self, kinds: Iterable[str]) -> Snapshot:
        """The first snapshot from now on that serves just these kinds."""
        async with asyncio.timeout(HANG):
            while True:
                snapshot = await self._published.get()
                if _kinds(snapshot) == list(kinds):
                    return snapshot


@asynccontextmanager
async def _watching(*roots: Path, rescan: float = _NEVER, overrides: Sequence[Path] = ()) -> AsyncIterator[_Watched]:
    store = Store(roots, catalogue=False, overrides=overrides)
    store.load()
    watched = _Watched(store)
    task = asyncio.create_task(store.watch(rescan=rescan))
    try:
        yield watched
    finally:
        task.cancel()
        await asyncio.wait({task})


def test_folders_are_stronger_than_each_other_in_order_and_than_the_catalogue(
    tmp_path: Path, karta: Karta, gvk: Callable[[str], GVK]
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(karta("A", name=name))

    snapshot = Store([tmp_path / "one", tmp_path / "two"], catalogue=False).load()

    assert snapshot.entries[gvk("A")].definition.name == "one"
    assert [finding.rule for finding in snapshot.findings] == ["shadowed-kind"]


def test_first_load_is_generation_one() -> None:
    assert Store(catalogue=False).load().generation == 1


def test_generation_counts_changes_of_content(folder: Path, karta: Karta) -> None:
    store = Store([folder], catalogue=False)
    seen: list[int] = []
    store.subscribe(lambda snapshot: seen.append(snapshot.generation))
    (folder / "a.yaml").write_text(karta("A"))
    first = store.load()

    assert store.load() is first
    (folder / "b.yaml").write_text(karta("B"))
    store.load()
    assert seen == [1, 2]


def test_another_value_of_a_suspend_action_is_a_change(folder: Path, karta: Karta) -> None:
    """Even one that is equal to Python."""
    store = Store([folder], catalogue=False)
    actions = "      suspendDefinition:\n" + "".join(
        f"        {when}Actions: [{{path: .spec.suspend, value: {value}}}]\n"
        for when, value in (("suspend", "%s"), ("resume", '"false"'))
    )
    written = []
    for value in ("1", '"1"', "true", '"true"'):
        (folder / "a.yaml").write_text(
            karta("A").replace("      specDefinition:", actions % value + "      specDefinition:")
        )
        (entry,) = store.load().entries.values()
        written.append(repr(entry.definition.suspend[0].value))
    assert written == ["1", "1", "True", "True"]


def test_another_default_of_a_retained_field_is_a_change(folder: Path, karta: Karta) -> None:
    """Even one that is equal to Python."""
    store = Store([folder], catalogue=False)
    written = []
    for default in ("0", "false"):
        annotation = f"  annotations: {{karta-interpreter.io/retain: .spec.suspend // {default}}}\nspec:"
        (folder / "a.yaml").write_text(karta("A").replace("spec:", annotation, 1))
        (entry,) = store.load().entries.values()
        written.append(repr(entry.definition.annotations.retain[0]))
    assert "absent=0," in written[0]
    assert "absent=False," in written[1]


def test_change_without_effect_on_answers_is_published(folder: Path, karta: Karta) -> None:
    """The console shows it, and exports and the workload types API have it."""
    store = Store([folder], catalogue=False)
    for team in ("a", "b"):
        (folder / "a.yaml").write_text(karta("A").replace("spec:", f"  labels: {{team: {team}}}\nspec:", 1))
        (entry,) = store.load().entries.values()
        assert entry.definition.manifest["metadata"]["labels"] == {"team": team}


def test_subscription_ends(folder: Path, karta: Karta) -> None:
    store = Store([folder], catalogue=False)
    seen: list[Snapshot] = []
    unsubscribe = store.subscribe(seen.append)
    unsubscribe()
    leaves: list[Callable[[], None]] = []
    leaves.append(store.subscribe(lambda _: leaves.pop()()))
    others: list[Snapshot] = []
    store.subscribe(others.append)
    (folder / "a.yaml").write_text(karta("A"))

    store.load()

    assert (seen, others) == ([], [store.snapshot])


async def test_watch_notices_new_changed_and_deleted_file(folder: Path, karta: Karta) -> None:
    async with _watching(folder) as watched:
        (folder / "a.yaml").write_text(karta("A"))
        await watched.until("A")
        (folder / "a.yaml").write_text(karta("B"))
        await watched.until("B")
        (folder / "a.yaml").unlink()
        await watched.until("")


async def test_watch_notices_rename_of_an_editor(folder: Path, karta: Karta) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    async with _watching(folder) as watched:
        (folder / ".a.yaml.tmp").write_text(karta("B"))
        (folder / ".a.yaml.tmp").rename(folder / "a.yaml")

        await watched.until("B")


async def test_folders_that_appear_later_are_watched_too(folder: Path, karta: Karta) -> None:
    async with _watching(folder) as watched:
        (folder / "new").mkdir()
        (folder / "new" / "a.yaml").write_text(karta("A"))
        await watched.until("A")
        (folder / "new" / "b.yaml").write_text(karta("B"))
        await watched.until("AB")


async def test_watch_notices_swap_of_mounted_config_map(folder: Path, karta: Karta) -> None:
    (folder / "..v1").mkdir()
    (folder / "..v1" / "karta.yaml").write_text(karta("A"))
    (folder / "..data").symlink_to("..v1")
    (folder / "karta.yaml").symlink_to("..data/karta.yaml")
    async with _watching(folder) as watched:
        for version, kind in (("..v2", "B"), ("..v3", "C")):
            (folder / version).mkdir()
            (folder / version / "karta.yaml").write_text(karta(kind))
            (folder / "..data_tmp").symlink_to(version)
            (folder / "..data_tmp").rename(folder / "..data")

            snapshot = await watched.until(kind)
            assert snapshot.quarantined == ()


async def test_watch_follows_root_that_is_a_link(tmp_path: Path, karta: Karta) -> None:
    for name, kind in (("v1", "A"), ("v2", "B")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "karta.yaml").write_text(karta(kind))
    current = tmp_path / "current"
    current.symlink_to("v1")
    async with _watching(current) as watched:
        (tmp_path / "next").symlink_to("v2")
        (tmp_path / "next").rename(current)
        await watched.until("B")

        (tmp_path / "v2" / "karta.yaml").write_text(karta("C"))
        await watched.until("C")


async def test_watch_survives_deleted_folder(folder: Path, karta: Karta) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    async with _watching(folder) as watched:
        _delete(folder)
        gone = await watched.until("A")
        assert gone.quarantined[0].serving_last_good

        _make(folder, karta("B"))
        await watched.until("B")
        (folder / "b.yaml").write_text(karta("C"))
        await watched.until("C")


async def test_watch_follows_single_file(folder: Path, karta: Karta) -> None:
    file = folder / "a.yaml"
    file.write_text(karta("A"))
    async with _watching(file) as watched:
        file.write_text(karta("B"))

        await watched.until("B")


async def test_rescan_finds_changes_without_notification(tmp_path: Path, folder: Path, karta: Karta) -> None:
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text(karta("A"))
    (folder / "link.yaml").symlink_to(elsewhere)
    async with _watching(folder, rescan=0.2) as watched:
        elsewhere.write_text(karta("B"))

        await watched.until("B")


async def test_rescan_replaces_missing_notifications(
    folder: Path, karta: Karta, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no space left for watches")

    monkeypatch.setattr("watchfiles.awatch", refuse)
    async with _watching(folder, rescan=0.2) as watched:
        (folder / "a.yaml").write_text(karta("A"))

        await watched.until("A")


@pytest.mark.parametrize("step", [pytest.param("_read", id="of the folders"), pytest.param("_combined", id="of all")])
async def test_older_look_never_follows_a_newer_one(folder: Path, karta: Karta, step: str) -> None:
    (folder / "b.yaml").write_text(karta("A"))
    store = Store([folder], catalogue=False)
    store.load()
    look, begun, published = getattr(store, step), threading.Event(), threading.Event()

    def look_slowly() -> Any:
        found = look()
        setattr(store, step, look)
        begun.set()
        published.wait(0.1)  # by the newer look, if that does not wait for this one
        return found

    setattr(store, step, look_slowly)
    older = asyncio.create_task(store.reload() if step == "_read" else store._publish())  # noqa: SLF001 - of a cluster
    await asyncio.to_thread(begun.wait, HANG)
    (folder / "c.yaml").write_text(karta("B"))
    store.subscribe(lambda _: published.set())
    await store.reload_file(folder, folder / "c.yaml")
    await older
    assert _kinds(store.snapshot) == ["A", "B"]


async def test_failed_reload_keeps_snapshot_and_is_logged(
    folder: Path, karta: Karta, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    async with _watching(folder) as watched:
        with monkeypatch.context() as patch:
            failed = asyncio.Event()
            loop = asyncio.get_running_loop()

            def fail(*_: object) -> None:
                loop.call_soon_threadsafe(failed.set)
                raise ZeroDivisionError

            patch.setattr("karta_interpreter.definitions.sources.store.combine", fail)
            (folder / "b.yaml").write_text(karta("B"))
            async with asyncio.timeout(HANG):
                await failed.wait()
            assert _kinds(watched.store.snapshot) == ["A"]

        (folder / "c.yaml").write_text(karta("C"))
        await watched.until("ABC")
    assert "could not be read again" in caplog.text


async def test_watch_error_is_logged_and_survived(
    folder: Path, karta: Karta, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    errors = iter((ZeroDivisionError,))
    listing = file_scan.list_files

    def fail_once(root: Path) -> file_scan.Listing:
        for error in errors:
            raise error
        return listing(root)

    monkeypatch.setattr(file_scan, "list_files", fail_once)
    async with _watching(folder, rescan=0.01) as watched:
        (folder / "a.yaml").write_text(karta("A"))
        await watched.until("A")
    assert "ZeroDivisionError" in caplog.text


_SCRIPT = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: mine}
spec:
  target: {apiVersion: example.io/v1, kind: KIND}
  customizations:
    healthInterpretation: {luaScript: "function InterpretHealth(obj) return true end"}
"""


async def test_overrides_are_read_again_when_they_change(folder: Path, karta: Karta, gvk: Callable[[str], GVK]) -> None:
    (folder / "karta.yaml").write_text(karta("A"))
    overrides = folder.parent / "overrides"
    _make(overrides, _SCRIPT.replace("KIND", "A"))
    async with _watching(folder, overrides=[overrides]) as watched:
        definition = watched.store.snapshot.find(gvk("A"))
        assert definition is not None
        assert definition.scripts.operations == {"InterpretHealth"}

        (overrides / "b.yaml").write_text(_SCRIPT.replace("KIND", "B"))
        snapshot = await watched.until("AB")

    assert [entry.definition.has_karta for entry in snapshot.entries.values()] == [True, False]
    assert snapshot.entries[gvk("A")].definition.scripts == Scripts()


def test_equal_definition_stays_the_same_object(folder: Path, karta: Karta, gvk: Callable[[str], GVK]) -> None:
    """So what was compiled and learned about it stays, too."""
    overrides = folder.parent / "overrides"
    _make(overrides, f"{_SCRIPT.replace('KIND', 'Scripted')}---\n{_SCRIPT.replace('KIND', 'ScriptsOnly')}")
    store = Store([folder], catalogue=False, overrides=[overrides])
    found = []
    for replicas in (".spec.replicas", ".spec.size"):
        texts = [karta("Changed", replicas=replicas), karta("Same"), karta("Scripted")]
        (folder / "all.yaml").write_text("---\n".join(texts))
        snapshot = store.load()
        found.append([snapshot.find(gvk(kind)) for kind in ("Same", "Scripted", "ScriptsOnly", "Changed")])
    assert all(found[0])
    assert [before is after for before, after in zip(*found, strict=True)] == [True, True, True, False]


async def test_overrides_alone_are_watched(folder: Path) -> None:
    async with _watching(overrides=[folder]) as watched:
        (folder / "b.yaml").write_text(_SCRIPT.replace("KIND", "B"))

        await watched.until("B")


async def test_without_folders_there_is_nothing_to_watch() -> None:
    async with asyncio.timeout(HANG):
        await Store(catalogue=False).watch()


async def test_definitions_are_combined_beyond_the_event_loop(
    tmp_path: Path, karta: Karta, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def spy(*given: Any) -> Snapshot:
        threads.append(threading.get_ident())
        return combine(*given)

    monkeypatch.setattr(store_module, "combine", spy)
    (tmp_path / "a.yaml").write_text(karta("A"))
    store = Store([tmp_path], catalogue=False)
    await store.reload()
    await store.reload_file(tmp_path, tmp_path / "a.yaml")
    assert (_kinds(store.snapshot), len(threads), threading.get_ident() in threads) == (["A"], 2, False)
