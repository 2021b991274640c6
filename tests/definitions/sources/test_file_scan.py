import asyncio
import errno
import os
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.definitions.sources import file_scan
from karta_interpreter.definitions.sources.file_scan import changes, list_files, read_file
from tests.support.waiting import HANG, turns


def _touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def _names(root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in list_files(root).files]


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        pytest.param("a.yaml", True, id="yaml"),
        pytest.param("a.yml", True, id="yml"),
        pytest.param("a.json", True, id="json"),
        pytest.param("a.YAML", True, id="capital letters"),
        pytest.param("deep/er/a.yaml", True, id="a folder in a folder"),
        pytest.param("a.txt", False, id="another suffix"),
        pytest.param("a.yaml~", False, id="an editor's backup"),
        pytest.param(".a.yaml.swp", False, id="an editor's swap file"),
        pytest.param(".a.yaml", False, id="a hidden file"),
        pytest.param(".git/a.yaml", False, id="a hidden folder"),
        pytest.param("..2026_01_01/a.yaml", False, id="the folder behind a mounted ConfigMap"),
        pytest.param("x/testdata/a.yaml", False, id="a golden suite next to a definition"),
        pytest.param("x/facts.yaml", False, id="the facts of a kind next to its definition"),
        pytest.param("x/more-facts.yaml", True, id="a name that only ends like that of facts"),
    ],
)
def test_which_files_are_listed(tmp_path: Path, name: str, listed: bool) -> None:
    _touch(tmp_path / name)

    assert _names(tmp_path) == ([name] if listed else [])


def test_named_file_is_listed_with_any_name(tmp_path: Path) -> None:
    for name in (".hidden.txt", "facts.yaml"):
        _touch(tmp_path / name)

        assert list_files(tmp_path / name).files == (tmp_path / name,)


def test_files_come_sorted_by_path_and_folders_are_named(tmp_path: Path) -> None:
    _touch(tmp_path / "b.yaml", tmp_path / "a" / "z.yaml", tmp_path / "c.yaml")

    assert _names(tmp_path) == ["a/z.yaml", "b.yaml", "c.yaml"]
    assert list_files(tmp_path).folders == (tmp_path, tmp_path / "a")


def test_mounted_config_map_is_listed_once(tmp_path: Path) -> None:
    _touch(tmp_path / "..v1" / "a.yaml", tmp_path / "..v1" / "sub" / "b.yaml")
    (tmp_path / "..data").symlink_to("..v1")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    (tmp_path / "sub").symlink_to("..data/sub")

    assert _names(tmp_path) == ["a.yaml", "sub/b.yaml"]


@pytest.mark.parametrize("end", ["1.karta", "0/x.txt"])
def test_link_to_ignored_file_is_listed(tmp_path: Path, end: str) -> None:
    _touch(tmp_path / end)
    (tmp_path / "job.yaml").symlink_to(end)
    assert _names(tmp_path) == ["job.yaml"]


def test_links_in_circles_and_twice_to_the_same_end_once(tmp_path: Path) -> None:
    _touch(tmp_path / "a" / "x.yaml")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "again.yaml").symlink_to("a/x.yaml")
    (tmp_path / "b").symlink_to("a")

    assert _names(tmp_path) == ["a/x.yaml"]


def test_dangling_link_and_pipe_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "dangling.txt").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")

    listing = list_files(tmp_path)
    assert (listing.files, listing.unreadable) == ((), ())


@pytest.mark.slow
def test_deep_tree_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1200):
        os.mkdir("d")  # noqa: PTH102 - a path of that length would be too long for pathlib
        os.chdir("d")
    Path("x.yaml").touch()

    assert [path.name for path in list_files(tmp_path).files] == ["x.yaml"]
    while Path.cwd() != tmp_path:  # pytest's own clean-up recurses
        Path("x.yaml").unlink(missing_ok=True)
        os.chdir("..")
        Path("d").rmdir()


def test_missing_root_is_reported(tmp_path: Path) -> None:
    assert list_files(tmp_path / "no").unreadable == ((tmp_path / "no", "No such file or directory"),)


@pytest.mark.parametrize("name", [pytest.param("a.yaml", id="a file"), pytest.param("team", id="a folder")])
def test_dangling_link_of_definition_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("nowhere")
    assert list_files(tmp_path).unreadable == ((tmp_path / name, "the link leads to nowhere, which does not exist"),)


def test_link_deleted_while_listing_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As kubelet deletes the links of keys that are no longer in a ConfigMap."""
    link = tmp_path / "a.yaml"
    link.symlink_to("nowhere")
    read = Path.readlink

    def delete_first(path: Path) -> Path:
        path.unlink()
        return read(path)

    monkeypatch.setattr(Path, "readlink", delete_first)
    assert list_files(tmp_path).unreadable == ()


async def test_folder_that_is_gone_before_it_is_watched_is_looked_for_after_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("watchfiles.awatch", gone)
    watching = asyncio.create_task(file_scan._next_change([tmp_path], frozenset({tmp_path})))  # noqa: SLF001
    await turns()
    assert not watching.done(), "the folders would be listed all the time"
    watching.cancel()


async def test_forbidden_folder_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed, stat = tmp_path / "closed", os.stat
    (closed / "kartas").mkdir(parents=True)

    def refuse(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(closed)):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return stat(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refuse)
    async with asyncio.timeout(HANG), aclosing(changes([closed / "kartas"], rescan=0.01)) as turns:
        for _ in range(3):
            await anext(turns)


async def test_root_below_unlistable_folder_is_watched(tmp_path: Path) -> None:
    above = tmp_path / "above"
    root = above / "kartas"
    root.mkdir(parents=True)
    above.chmod(0o311)
    try:
        if os.access(above, os.R_OK):
            pytest.skip("this user may list every folder")
        async with asyncio.timeout(HANG), aclosing(changes([root], rescan=2 * HANG)) as turns:
            await anext(turns)
            _touch(root / "a.yaml")
            await anext(turns)
    finally:
        above.chmod(0o755)


async def _waits_after_the_first_turn(root: Path) -> None:
    async with aclosing(changes([root], rescan=HANG)) as turns:
        await anext(turns)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(turns), 0.2)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
async def test_folder_with_undecodable_name_is_read_at_rescans(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")  # noqa: PTH102 - its name is bytes
    await _waits_after_the_first_turn(tmp_path)


async def test_without_a_thread_for_the_watch_there_are_turns_at_rescans_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("anyio.to_thread.run_sync", refuse)
    await _waits_after_the_first_turn(tmp_path)


def test_link_to_itself_is_reported(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to("loop.yaml")

    ((place, reason),) = list_files(tmp_path).unreadable
    assert place == loop
    assert "symbolic links" in reason


@pytest.mark.parametrize(
    ("name", "end", "reported"),
    [
        pytest.param("a.yaml", "outside/x.yaml", True, id="a file"),
        pytest.param("team", "outside", True, id="a folder"),
        pytest.param("up", ".", True, id="the folder above"),
        pytest.param("a.yaml", "/dev/zero", False, id="a device"),
        pytest.param("proc", "/proc", True, id="processes"),
        pytest.param("python", "/bin/sh", False, id="a file of another type"),
    ],
)
def test_link_out_of_folder_is_not_followed(tmp_path: Path, name: str, end: str, *, reported: bool) -> None:
    _touch(tmp_path / "outside" / "x.yaml", tmp_path / "kartas" / "b.yaml")
    (tmp_path / "kartas" / name).symlink_to(tmp_path / end)
    listing = list_files(tmp_path / "kartas", links_out=False)
    assert listing.files == (tmp_path / "kartas" / "b.yaml",)
    assert listing.unreadable == ((tmp_path / "kartas" / name, "the link leads out of the folder"),) * reported


def test_folder_that_is_a_link_is_read(tmp_path: Path) -> None:
    """As git-sync turns the link to a new checkout."""
    _touch(tmp_path / "checkout" / "a.yaml", tmp_path / "checkout" / "b" / "x.yaml")
    (tmp_path / "checkout" / "c.yaml").symlink_to("b/x.yaml")
    (tmp_path / "current").symlink_to("checkout")
    listing = list_files(tmp_path / "current", links_out=False)
    assert [str(path.relative_to(tmp_path / "current")) for path in listing.files] == ["a.yaml", "b/x.yaml"]


@pytest.mark.parametrize("path", ["/dev/zero", "folder", "pipe"])
def test_only_regular_files_are_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is not a regular file"):
        read_file(tmp_path / path, 10)


def test_large_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 11)
    with pytest.raises(OSError, match="it has more than 10 bytes"):
        read_file(tmp_path / "a", 10)
    assert read_file(tmp_path / "a", 11) == b"x" * 11
