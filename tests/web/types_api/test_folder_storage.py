"""Nothing that is registered is lost, whenever the process is killed."""

import asyncio
import errno
import fcntl
import itertools
import json
import os
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest

from karta_interpreter.base import files
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.web.types_api.folder_storage import FolderStorage
from karta_interpreter.web.types_api.models import ApiError
from karta_interpreter.web.types_api.records import StoredType
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG, turns, until
from tests.web.types_api.types_server import TYPES, in_thread, karta, running, workload_type
from tests.webhook.process.forked import forked

KILLED = """
import itertools, json, os, signal, sys
from pathlib import Path
from karta_interpreter.base import files

def counted(call):
    def act(*arguments, **named):
        global calls
        if calls == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        calls -= 1
        return call(*arguments, **named)
    return act

def contents_seen(path, content):
    for step in itertools.count():
        path.write_text("what was there")
        if not (child := os.fork()):
            global calls
            calls = step
            for owner, names in ((os, ("fsync", "open")), (Path, ("open", "replace", "unlink"))):
                for name in names:
                    setattr(owner, name, counted(getattr(owner, name)))
            if content == "delete":
                files.delete_file(path)
            else:
                files.replace_file(path, content.encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        yield path.read_text() if path.exists() else "delete"
        if status == 0:
            return

path, *contents = sys.argv[1:]
print(json.dumps([[*contents_seen(Path(path), content)] for content in contents]))
"""
"""Changes a file in processes that are killed before their first, second, ... step, until one comes to its end."""


def a_type(replicas: str = ".spec.stones") -> StoredType:
    one = karta(scaleDefinition={"replicasPath": replicas})
    return StoredType.new("mill.example.org", "GrainMill", "train", "low", [one])


async def stored(root: Path) -> StoredType | None:
    return await FolderStorage(root, Store((root,), catalogue=False)).read("mill.example.org", "GrainMill")


def test_killed_process_leaves_old_or_new_file(tmp_path: Path) -> None:
    path, contents = tmp_path / "GrainMill.example.org.json", ["a new content", "delete"]
    with forked(KILLED, str(path), *contents) as (_, stdout, _):
        printed = stdout.read()
    for content, seen in zip(contents, json.loads(printed), strict=True):
        assert (seen[0], seen[-1]) == ("what was there", content)
        assert set(seen) == {"what was there", content}
        assert len(seen) > 2
    assert [each.name for each in tmp_path.iterdir() if each.name[0] != "."] == []


async def test_group_called_core_and_core_kinds_have_own_files(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path, Store((tmp_path,), catalogue=False))
    for group in ("", "core"):
        one = karta()
        one["spec"]["structureDefinition"]["rootComponent"]["kind"]["group"] = group
        await storage.write(StoredType.new(group, "GrainMill", "train", "low", [one]), None)
    assert [(await storage.read(group, "GrainMill")).group for group in ("", "core")] == ["", "core"]  # type: ignore[union-attr]


def test_link_in_the_place_of_the_new_file_is_not_followed(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "Job.json"
    other.write_text("untouched")
    (tmp_path / ".Job.json.tmp").symlink_to(other)
    files.replace_file(path, b"{}")
    assert (other.read_text(), path.read_text(), path.is_symlink()) == ("untouched", "{}", False)


def test_full_disk_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "Job.json"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.replace_file(path, b"new")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"Job.json": "old"}


def test_content_is_on_the_disk_before_it_has_its_name_and_then_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "Job.json", list[tuple[str, str]]()
    path.write_text("old")

    def fsync(handle: int) -> None:
        synced.append((Path(f"/proc/self/fd/{handle}").readlink().name, path.read_text() if path.exists() else "none"))

    monkeypatch.setattr(os, "fsync", fsync)
    files.replace_file(path, b"new")
    files.delete_file(path)
    assert synced == [(".Job.json.tmp", "old"), (tmp_path.name, "new"), (tmp_path.name, "none")]


async def test_temporary_file_of_killed_process_is_not_a_type(tmp_path: Path) -> None:
    (tmp_path / ".GrainMill.mill.example.org.json.tmp").write_text('{"kind": "List", "ite')
    store = Store((tmp_path,), catalogue=False)
    assert store.load().quarantined == ()
    storage = FolderStorage(tmp_path, store)
    await storage.write(a_type(), None)
    assert [str(gvk) for gvk in store.snapshot.kinds()] == ["mill.example.org/v1, Kind=GrainMill"]


async def test_writing_publishes_and_reading_gives_what_was_written(tmp_path: Path) -> None:
    store = Store((tmp_path,), catalogue=False)
    store.load()
    storage = FolderStorage(tmp_path, store)
    first, second = a_type(), a_type(".spec.stones * 2")
    async with storage.exclusive():
        await storage.write(first, None)
        assert await stored(tmp_path) == first
        await storage.write(second, first)
        assert await stored(tmp_path) == second
        await storage.delete(second)
    assert (await stored(tmp_path), store.snapshot.kinds()) == (None, [])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="no JSON"),
        pytest.param("[]", id="no list of Kartas"),
        pytest.param(json.dumps({"items": [karta()]}), id="a Karta without our label"),
        pytest.param(json.dumps({"items": []}), id="nothing"),
    ],
)
async def test_file_of_another_author_is_409(tmp_path: Path, text: str) -> None:
    (tmp_path / "GrainMill.mill.example.org.json").write_text(text)
    with pytest.raises(ApiError, match="is owned by the author of the file") as caught:
        await stored(tmp_path)
    assert caught.value.status == 409


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        # Indented files have up to two spaces for each level.
        pytest.param(orjson.loads(b"[" * 30 + b"1," * 80_000 + b"1" + b"]" * 30), 413, id="more than 4 MiB"),
        pytest.param(orjson.loads(b"[" * 200 + b"]" * 200), 422, id="more than 200 levels"),
    ],
)
async def test_unreadable_type_is_not_written(tmp_path: Path, spec: Any, status: int) -> None:
    store = Store((tmp_path,), catalogue=False)
    storage, before = FolderStorage(tmp_path, store), a_type()
    await storage.write(before, None)
    large = karta()
    large["spec"]["unknown"] = spec
    with pytest.raises(ApiError) as caught:
        await storage.write(StoredType.new("mill.example.org", "GrainMill", "train", "low", [large]), before)
    assert caught.value.status == status
    assert await stored(tmp_path) == before
    assert store.load().quarantined == ()


async def test_type_without_room_is_not_written(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path, Store((tmp_path,), catalogue=False, budget=Budget(100)))
    with pytest.raises(ApiError, match="no room for the type") as caught:
        await storage.write(a_type(), None)
    assert caught.value.status == 413
    assert await stored(tmp_path) is None


async def test_processes_with_one_folder_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storages = [FolderStorage(tmp_path, Store((tmp_path,), catalogue=False)) for _ in range(2)]
    order: list[str] = []
    asked = list[object]()
    lock = fcntl.flock

    def noted_lock(file: Any, operation: int) -> None:
        asked.append(file)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", noted_lock)

    async def change(storage: FolderStorage, name: str, begun: asyncio.Event) -> None:
        async with storage.exclusive():
            order.append(f"{name} begins")
            begun.set()
            await until(lambda: len(asked) == len(storages))
            await turns()
            order.append(f"{name} ends")

    begun = asyncio.Event()
    first = asyncio.create_task(change(storages[0], "first", begun))
    await begun.wait()
    await change(storages[1], "second", asyncio.Event())
    await first
    assert order == ["first begins", "first ends", "second begins", "second ends"]


async def test_server_that_watches_the_folder_serves_what_is_registered(tmp_path: Path) -> None:
    with in_thread(tmp_path) as api:
        async with Server(Settings(port=0, plain_http=True, catalogue=False, folders=(tmp_path / "types",))) as server:
            answer = await asyncio.to_thread(api.post, workload_type())
            assert answer.status == 201
            await until(lambda: server.started.snapshot.entries)
            assert [str(gvk) for gvk in server.started.snapshot.kinds()] == ["mill.example.org/v1, Kind=GrainMill"]
            assert (await asyncio.to_thread(api.ask, "DELETE", answer.headers["location"])).status == 204
            await until(lambda: not server.started.snapshot.entries)


def test_answered_registration_survives_killed_process(tmp_path: Path) -> None:
    done: list[str] = []
    with running(tmp_path) as server:

        def register() -> None:
            for number in itertools.count():
                try:
                    answer = server.post(workload_type(f"Mill{number}"))
                except OSError:
                    return
                assert answer.status == 201
                done.append(answer.headers["location"])
                if len(done) == 5:
                    enough.set()

        enough = threading.Event()
        client = threading.Thread(target=register)
        client.start()
        assert enough.wait(HANG)
        server.child.kill()
        client.join()
    with in_thread(tmp_path) as after:
        found = {f"{TYPES}/{each['id']}" for each in after.get(f"{TYPES}?limit=200").json["types"]}
        assert set(done) <= found
        assert len(found) <= len(done) + 1
