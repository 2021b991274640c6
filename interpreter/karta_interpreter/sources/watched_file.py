"""Files of any content that are read again and again while a server runs."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, Self, TypeVar

from karta_interpreter.sources.file_scan import list_files

MAX_BYTES = 4 * 1024 * 1024
"""No file is larger: the API server of a cluster stores objects up to 1.5 MiB."""

_EMPTY = "the file is empty; its last version stays in use, delete the file to remove it"

Held = TypeVar("Held")


def decode(content: bytes) -> tuple[str, str]:
    r"""The text of a file, or an empty one and the reason why there is none.

    >>> decode(b"kind: Karta"), decode(b"a\xff")
    (('kind: Karta', ''), ('', 'not UTF-8 text, see byte 1'))
    """
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        return "", f"not UTF-8 text, see byte {error.start}"


def name_of(path: Path) -> str:
    r"""How a file or a folder is called wherever a name has to be text; on Linux it may be any bytes.

    >>> name_of(Path("kartas/job.yaml")), name_of(Path("caf\udce9.yaml"))
    ('kartas/job.yaml', 'caf\ufffd.yaml')
    """
    return os.fsencode(path).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class WatchedFile(ABC, Generic[Held]):
    """A file as it was last read. Only a file that is deleted takes all that it held with it.

    ``loaded`` is everything it holds now; ``last_good`` is what it held before and that its present, broken content
    stands for.
    """

    path: Path
    content: bytes | None = None
    loaded: tuple[Held, ...] = ()
    last_good: tuple[Held, ...] = ()

    def read(self) -> Self:
        """The file as it is now; the same object when nothing has changed."""
        try:
            content = _read(self.path)
        except OSError as error:
            return self._become(None, (self.unreadable(error.strerror or str(error)),))
        if content == self.content:
            return self
        loaded = self.load(content)
        if not loaded and self.served:
            # A writer that truncates the file before it writes looks the same as an author who empties it.
            loaded = (self.unreadable(_EMPTY),)
        return self._become(content, loaded)

    def _become(self, content: bytes | None, loaded: tuple[Held, ...]) -> Self:
        return replace(self, content=content, loaded=loaded, last_good=self.kept(loaded))

    @property
    @abstractmethod
    def served(self) -> tuple[Held, ...]:
        """What to use from this file."""

    @abstractmethod
    def load(self, content: bytes) -> tuple[Held, ...]:
        """What the content holds."""

    @abstractmethod
    def unreadable(self, reason: str) -> Held:
        """What stands for this file when it cannot be read."""

    @abstractmethod
    def kept(self, loaded: tuple[Held, ...]) -> tuple[Held, ...]:
        """What was served so far and has to go on, now that the file holds something else."""


File = TypeVar("File", bound=WatchedFile[Any])


class Gone(NamedTuple):
    """A folder that cannot be listed any more; ``is_served``: files which were in it still are served."""

    path: Path
    reason: str
    is_served: bool


def read_files(
    root: Path, known: Mapping[Path, File], new: Callable[[Path], File]
) -> tuple[dict[Path, File], tuple[Gone, ...]]:
    """The files below a folder, or the file itself, as they are now, and what cannot be looked into.

    A deleted file takes what it held with it. A folder that cannot be listed any more (an unmounted volume, a
    checkout that is being replaced) keeps the files it had.
    """
    listing = list_files(root)
    files = {path: (known[path] if path in known else new(path)).read() for path in listing.files}
    gone = []
    for place, reason in listing.unreadable:
        left = {path: file for path, file in known.items() if path.is_relative_to(place)}
        files.update(left)
        gone.append(Gone(place, reason, any(file.served for file in left.values())))
    return dict(sorted(files.items())), tuple(gone)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(f"larger than {MAX_BYTES // 1024 // 1024} MiB")
    return content
