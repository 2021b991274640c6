"""The files of a folder that may hold definitions."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_SKIPPED = "testdata"


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found below a root: ``files`` to read and ``folders`` they may appear in, sorted by path.

    ``unreadable`` are the folders, or the root itself, that could not be listed, with the reason.
    """

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    unreadable: tuple[tuple[Path, str], ...] = ()


def list_files(root: Path) -> Listing:
    """List the YAML and JSON files below a folder, or the root alone when it is a file.

    Hidden names are left out, and with them the ``..data`` folders behind a mounted ConfigMap: its files are read
    through their visible links. So are ``testdata`` folders. Links are followed, and no file or folder is listed
    twice, whichever way leads to it.
    """
    walk = _Walk()
    walk.begin(root)
    return Listing(tuple(walk.files), tuple(walk.folders), tuple(walk.unreadable))


class _Walk:
    def __init__(self) -> None:
        self.files: list[Path] = []
        self.folders: list[Path] = []
        self.unreadable: list[tuple[Path, str]] = []
        self._seen: set[tuple[int, int]] = set()

    def begin(self, root: Path) -> None:
        """Add the named file or folder with everything below; no tree is too deep for it."""
        waiting = self._visit(root, named=True)
        while waiting:
            waiting += self._visit(waiting.pop())

    def _visit(self, path: Path, *, named: bool = False) -> list[Path]:
        """Take up a file or a folder, and return what is in it, the last first."""
        try:
            status = path.stat()
            if not self._is_new(status):
                return []
            if stat.S_ISDIR(status.st_mode):
                return self._enter(path)
            if named or (stat.S_ISREG(status.st_mode) and path.suffix.lower() in _SUFFIXES):
                self.files.append(path)
        except FileNotFoundError as error:
            # Inside a folder this is a dangling link, or a file that went away while we were looking.
            if named:
                self._report(path, error)
        except OSError as error:
            self._report(path, error)
        return []

    def _enter(self, folder: Path) -> list[Path]:
        inside = sorted((path for path in folder.iterdir() if _is_visible(path.name)), reverse=True)
        self.folders.append(folder)
        return inside

    def _is_new(self, status: os.stat_result) -> bool:
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return False
        self._seen.add(identity)
        return True

    def _report(self, path: Path, error: OSError) -> None:
        self.unreadable.append((path, error.strerror or str(error)))


def _is_visible(name: str) -> bool:
    return not name.startswith(".") and name != _SKIPPED
