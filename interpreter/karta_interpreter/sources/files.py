"""Files and folders of definitions, read again and again while a server runs, and the catalogue as one of them."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Self, TypeVar

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.loading import CORE, Loaded, catalogue_files, load_documents
from karta_interpreter.lua import without_linting
from karta_interpreter.sources.file_scan import list_files
from karta_interpreter.sources.snapshot import Entry, Layer, Quarantined

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


UNREADABLE = "unreadable"
"""The rule of the finding that stands for a file, or a folder, that cannot be read."""


def unreadable(source: str, reason: str) -> Loaded:
    """What stands for a file, or a folder, that cannot be read."""
    return Loaded(definition=None, findings=(not_readable(source, reason),), name="", gvk=None, source=source)


def not_readable(source: str, reason: str) -> Finding:
    """The finding about a file, or a folder, that cannot be read."""
    return Finding(Severity.ERROR, UNREADABLE, (), f"cannot be read: {reason}", source=source)


def unlisted(gone: Gone) -> Quarantined:
    """What stands for a folder that cannot be looked into."""
    source = name_of(gone.path)
    return Quarantined(source, (not_readable(source, gone.reason),), serving_last_good=gone.is_served)


def load_bytes(content: bytes, source: str) -> tuple[Loaded, ...]:
    """The definitions in the content of a file, each with its findings."""
    text, reason = decode(content)
    return (unreadable(source, reason),) if reason else tuple(load_documents(text, source))


@dataclass(frozen=True, slots=True)
class DefinitionFile(WatchedFile[Loaded]):
    """A file of definitions as it was last read.

    A document that was good and is broken now leaves its last good version in place. A document that is gone is
    gone.
    """

    @property
    def served(self) -> tuple[Loaded, ...]:
        """The definitions to use from this file."""
        return (*(each for each in self.loaded if each.definition), *self.last_good)

    def entries(self) -> Iterable[Entry]:
        """The definitions to use, each with this file as its origin."""
        return (Entry(each.definition, name_of(self.path)) for each in self.served if each.definition)

    def quarantined(self) -> Iterable[Quarantined]:
        """What cannot be used."""
        for each in self.loaded:
            if not each.definition:
                kept = any(_stands_for(each, old) for old in self.last_good)
                yield Quarantined(each.source, each.findings, each.name, each.gvk, serving_last_good=kept)

    def load(self, content: bytes) -> tuple[Loaded, ...]:
        """What the content holds."""
        return load_bytes(content, name_of(self.path))

    def unreadable(self, reason: str) -> Loaded:
        """What stands for this file when it cannot be read."""
        return unreadable(name_of(self.path), reason)

    def kept(self, loaded: tuple[Loaded, ...]) -> tuple[Loaded, ...]:
        """What was served so far and has to go on, now that the file holds something else."""
        kinds = {each.gvk for each in loaded if each.definition}
        broken = [each for each in loaded if not each.definition]
        return tuple(
            old for old in self.served if old.gvk not in kinds and any(_stands_for(new, old) for new in broken)
        )


def _stands_for(broken: Loaded, old: Loaded) -> bool:
    """Return whether a broken document seems to be a later version of a good one."""
    if not broken.name and broken.gvk is None:
        return True
    # A file that is cut off in the middle of its kind still has its name.
    return (broken.name != "" and broken.name == old.name) or (broken.gvk is not None and broken.gvk == old.gvk)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, or a single file, as it was last read; a new one has not been read yet."""

    root: Path
    files: Mapping[Path, DefinitionFile] = field(default_factory=dict)
    unlisted: tuple[Quarantined, ...] = ()

    def read(self) -> Self:
        """The folder as it is now."""
        files, gone = read_files(self.root, self.files, DefinitionFile)
        return replace(self, files=files, unlisted=tuple(map(unlisted, gone)))

    def layer(self) -> Layer:
        """What the folder offers; of two definitions for one kind the first by path is the stronger."""
        return Layer(
            tuple(entry for file in self.files.values() for entry in file.entries()),
            (*self.unlisted, *(broken for file in self.files.values() for broken in file.quarantined())),
        )


ORIGIN = "catalogue"
"""The origin of every entry of the catalogue."""


@cache
def load_catalogue() -> Layer:
    """The whole catalogue, read once."""
    return _layer(catalogue_files())


def find_in_catalogue(gvk: GVK) -> Entry | None:
    """The definition of one kind, read without the rest of the catalogue; None when there is none."""
    place = (gvk.group or CORE, gvk.version, gvk.kind)
    layer = _layer([path for path in catalogue_files() if path.parts[-4:-1] == place])
    return next(iter(layer.entries), None)


def _layer(paths: list[Path]) -> Layer:
    with without_linting():
        files = [DefinitionFile(path).read() for path in paths]
    return Layer(
        tuple(Entry(entry.definition, ORIGIN) for file in files for entry in file.entries()),
        tuple(broken for file in files for broken in file.quarantined()),
    )
