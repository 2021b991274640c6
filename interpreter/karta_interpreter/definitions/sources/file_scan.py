"""The files of folders that may hold definitions, and the moments to read them again."""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from msgspec import Struct

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})

# How long to collect changes: saving in an editor, or an update of a mounted ConfigMap, makes several.
_DEBOUNCE_MILLISECONDS = 200

_PAUSE_SECONDS = 0.5


class Listing(Struct, frozen=True):
    """The listing of a root: ``files`` to read and ``folders`` they may appear in, sorted by path.

    ``unreadable`` has the folders (or the root itself) that could not be listed, with
    the reason.
    """

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    unreadable: tuple[tuple[Path, str], ...] = ()


def name_of(path: Path) -> str:
    r"""Return the name of a file or a folder as text. On Linux it may be any bytes.

    >>> name_of(Path("kartas/job.yaml")), name_of(Path("caf\udce9.yaml"))
    ('kartas/job.yaml', 'caf\ufffd.yaml')
    """
    return os.fsencode(path).decode(errors="replace")


def list_files(root: Path, *, links_out: bool = True) -> Listing:
    """List the YAML and JSON files below a folder, or only the root if it is a file.

    Hidden names are left out, including the ``..data`` folders behind a mounted ConfigMap: its files are read through
    their visible links. ``testdata`` folders and files called ``facts.yaml``, which stand beside definitions, are left
    out, too. Links are followed, and each file or folder is listed once, even if several links lead to it. A link that
    leads nowhere is unreadable, unless its name belongs to another file type, and so is one that leads out of the
    folder, unless ``links_out`` are followed.
    """
    inside = os.path.realpath(root)
    files: list[Path] = []
    folders: list[Path] = []
    unreadable: list[tuple[Path, str]] = []
    identities: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        path = waiting.pop()
        try:
            status = path.stat()
            identity, is_folder = (status.st_dev, status.st_ino), stat.S_ISDIR(status.st_mode)
            is_file = path == root or (stat.S_ISREG(status.st_mode) and path.suffix.lower() in _SUFFIXES)
            # A file that is left out may be read under another name.
            if identity in identities or not (is_folder or is_file):
                continue
            if not links_out and path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
                unreadable.append((path, "the link leads out of the folder"))
                continue
            identities.add(identity)
            if is_folder:
                visible = (
                    entry
                    for entry in path.iterdir()
                    if entry.name[0] != "." and entry.name not in {"testdata", "facts.yaml"}
                )
                # Reversed, because the last one is taken first: files come in the order of their paths. By name,
                # because comparing paths is slow.
                waiting += sorted(visible, key=lambda entry: entry.name, reverse=True)
                folders.append(path)
            else:
                files.append(path)
        except OSError as error:
            if reason := _reason(path, error, is_root=path == root):
                unreadable.append((path, reason))
    return Listing(tuple(files), tuple(folders), tuple(unreadable))


def read_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes. Raises OSError, also for any other file."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return content


def _reason(path: Path, error: OSError, *, is_root: bool) -> str:
    """Return why a path cannot be listed, "" if that does not matter."""
    if isinstance(error, FileNotFoundError) and not is_root:
        # Inside a folder a missing path is a dangling link, or a file that was deleted meanwhile.
        try:
            target = path.readlink() if path.suffix.lower() in {*_SUFFIXES, ""} else None
        except OSError:  # it is not a link, or was deleted meanwhile, as kubelet does after it has turned `..data`
            target = None
        return f"the link leads to {name_of(target)}, which does not exist" if target else ""
    return error.strerror or str(error)


async def changes(roots: Sequence[Path], *, rescan: float) -> AsyncGenerator[None]:
    """Yield once at the start, and after each possible change below the roots, including changes between two turns.

    Every ``rescan`` seconds there is a turn anyway: for file systems without notifications, and for links with a target
    that changes. Each turn watches afresh: a root may be deleted, created again or be a link to another folder.
    """
    absolute = [root.absolute() for root in roots]
    places = await asyncio.to_thread(_places, absolute)
    while True:
        watching = asyncio.create_task(_next_change(absolute, places))
        try:
            await asyncio.sleep(0)  # the watch begins before the caller reads
            yield
            now = await asyncio.to_thread(_places, absolute)
            if now == places:  # a folder that came while the caller read is watched at once
                await asyncio.wait({watching}, timeout=rescan)
            places = now  # the next turn sees how a change has altered them, once its watch has begun
        finally:
            watching.cancel()
            # Unlike `await` it raises no error of the task.
            await asyncio.wait({watching})


async def _next_change(roots: Sequence[Path], places: frozenset[Path]) -> None:
    """Return at the first change, or never if the file system cannot be watched."""
    # The library takes 1.5 MB, which a server without folders never needs.
    from watchfiles import Change, awatch  # noqa: PLC0415

    def concerns(_: Change, changed: str) -> bool:
        path = Path(changed)
        return path.parent in inside or any(root.is_relative_to(path) for root in roots)

    inside = {location for location in places if any(location.is_relative_to(root) for root in roots)}
    try:
        async for _ in awatch(
            *places,
            watch_filter=concerns,
            debounce=_DEBOUNCE_MILLISECONDS,
            recursive=False,
            ignore_permission_denied=True,  # a folder above a root may allow passing but not listing
        ):
            return
    except FileNotFoundError:
        await asyncio.sleep(_PAUSE_SECONDS)  # a folder was deleted before the watch began: look again
    except Exception:  # noqa: BLE001 - also a group, where no thread can be started; to return at once is to scan at once
        await asyncio.Event().wait()  # no notifications, or no more of them: the rescan has to suffice


def _places(roots: Sequence[Path]) -> frozenset[Path]:
    """Return the folders to watch: all that may contain definitions, and the parents in which a root could reappear."""
    inside = {folder for root in roots for folder in list_files(root).folders}
    # Not `Path.is_dir`: it raises errors, for example for a path that is stale or may not be searched.
    return frozenset(inside | {next(filter(os.path.isdir, (root.parent, *root.parents))) for root in roots})
