"""The one way to write files: new ones take the places of others as a whole. Seals show whether content was damaged."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BufferedRandom
from pathlib import Path
from typing import Final, Self

_SEAL: Final = b',"digest":"'
_DIGITS: Final = 32
_OTHERS: Final = "another process writes the file, too"


class NewFiles:
    """Files that take the places of the present ones together, at the end of a ``with`` block.

    If the block fails, such as on a full disk, all present files stay. What is written is on the disk before it has its
    name, so that a file is never there in part.
    """

    def __init__(self, mode: int = 0o666) -> None:
        self._mode = mode
        self._written: dict[Path, tuple[Path, os.stat_result]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._take_places()
        finally:
            for new, _ in self._written.values():
                new.unlink(missing_ok=True)

    @contextmanager
    def open(self, path: Path) -> Iterator[BufferedRandom]:
        """Open the new file for a path, to write and to read."""
        new = path.with_name(f".{path.name}.tmp")  # no name of a definition, so no server reads it
        # Left by a process that was killed, or put there by another one: a link would lead the content elsewhere.
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, self._mode), "w+b") as file:
            self._written[path] = new, os.fstat(file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())

    def _take_places(self) -> None:
        for path, (new, status) in self._written.items():
            if not os.path.samestat(new.stat(), status):
                raise FileExistsError(0, _OTHERS, str(path))
        for path, (new, _) in self._written.items():
            new.replace(path)
        for folder in {path.parent for path in self._written}:
            _sync_folder(folder)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file. It is on the disk when this returns. A file is never there in part."""
    with NewFiles() as files, files.open(path) as file:
        file.write(content)


def delete_file(path: Path) -> None:
    """Delete a file, which is gone from the disk when this returns."""
    path.unlink(missing_ok=True)
    _sync_folder(path.parent)


def sealed(text: bytes) -> bytes:
    """Return a JSON object with a last field, a digest of all before it.

    >>> sealed(b'{"a":1}')
    b'{"a":1,"digest":"8b0f0d75aabe01bbfba9341752c2cf76"}'
    """
    return b'%b%b%b"}' % (text[:-1], _SEAL, _digest(text[:-1]))


def is_sealed(text: bytes) -> bool | None:
    """Return whether content is as it was sealed, None if it never was.

    >>> is_sealed(sealed(b'{"a":1}')), is_sealed(sealed(b'{"a":1}').replace(b"1", b"2", 1)), is_sealed(b'{"a":1}')
    (True, False, None)
    """
    content, seal, rest = text.rstrip().rpartition(_SEAL)
    if not seal or len(rest) != _DIGITS + len(b'"}'):
        return None
    return rest[:_DIGITS] == _digest(content)


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest()[:_DIGITS].encode()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
