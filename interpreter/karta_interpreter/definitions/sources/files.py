"""Files and folders of definitions and of customizations, read again while a server runs, and the catalogue."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from msgspec import structs

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta import catalogue_files, catalogue_kinds
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.definitions.sources import compiled_catalogue
from karta_interpreter.definitions.sources.budget import Budget, weight
from karta_interpreter.definitions.sources.file_scan import list_files, name_of
from karta_interpreter.definitions.sources.known_documents import KnownDocuments
from karta_interpreter.definitions.sources.snapshot import Overrides, Quarantined, ServedDefinition, SourceDefinitions
from karta_interpreter.languages.lua.customization import LoadedCustomization, load_customizations, merge
from karta_interpreter.languages.lua.reading import without_linting
from karta_interpreter.languages.lua.script import Script, Scripts

MAX_BYTES = 4 * 1024 * 1024
"""The largest file. The API server of a cluster stores objects up to 1.5 MiB."""

ORIGIN = "catalogue"

UNREADABLE = "unreadable"
"""The rule of the finding about an unreadable file or folder."""

# What a file is by its first two bytes.
_OTHER_FILES = {
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "; it is UTF-16: save it as UTF-8"),
    b"\x1f\x8b": "; it is packed by gzip: unpack it with `gunzip` or `tar -xzf`",
    b"PK": "; it is a ZIP archive: unpack it",
}

Held = TypeVar("Held")


def decode(content: bytes) -> tuple[str, str]:
    r"""Return the text of a file, or an empty text and the reason.

    >>> decode(b"kind: Karta"), decode(b"a\xff")
    (('kind: Karta', ''), ('', 'not UTF-8 text, see byte 1; save it as UTF-8'))
    >>> decode("kind: Karta".encode("utf-16"))
    ('', 'not UTF-8 text, see byte 0; it is UTF-16: save it as UTF-8')
    """
    try:
        return content.decode("utf-8-sig"), ""  # editors on Windows begin a file with a byte order mark
    except UnicodeDecodeError as error:
        # PowerShell redirects output as UTF-16, which begins with one of these byte order marks.
        return "", f"not UTF-8 text, see byte {error.start}{_OTHER_FILES.get(content[:2], '; save it as UTF-8')}"


@dataclass(frozen=True, slots=True)
class WatchedFile(ABC, Generic[Held]):
    """A file as it was last read. ``last_good`` has earlier entries that its present, broken content stands for.

    Its content has the ``digest``. Unless it ``keeps_text``, the ``content`` itself is empty while all entries are
    usable. The server does not load a content for which the ``budget`` has no room.
    """

    path: Path
    digest: bytes = b""
    content: bytes = b""
    loaded: tuple[Held, ...] = ()
    last_good: tuple[Held, ...] = ()
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)
    keeps_text: bool = True

    def read(self) -> Self:
        """Return the file as it is now, the same object if nothing has changed."""
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            # No content, so that the next successful read is a change.
            return self._become((self._unreadable(error.strerror or str(error)),))
        if len(content) > MAX_BYTES:
            too_large = f"larger than {MAX_BYTES // 1024 // 1024} MiB: split it into files, and give their folder"
            return self._become((self._unreadable(too_large),))
        return self.holding(content)

    def holding(self, content: bytes) -> Self:
        """Return the file with this content. It is the same object if the content has not changed."""
        digest = sha256(content).digest()
        if digest == self.digest:
            return self
        size = weight(content)
        if self.budget.take(self.path, size) is None:
            return self._become((self._unreadable(self.budget.reason),))
        text, reason = decode(content)
        loaded = (self._unreadable(reason),) if reason else tuple(self._load(text))
        if not loaded and self.served:
            # A writer that truncates the file before it writes looks the same as an author who empties it.
            loaded = (
                self._unreadable("the file is empty; its last version stays in use, delete the file to remove it"),
            )
        keeps_text = self.keeps_text or not all(map(self._is_usable, loaded))
        new = self._become(loaded, digest, content if keeps_text else b"")
        if not new.last_good:
            self.budget.settle(self.path, size)
        return new

    @property
    def served(self) -> tuple[Held, ...]:
        """The entries to use from this file."""
        return (*filter(self._is_usable, self.loaded), *self.last_good)

    @abstractmethod
    def quarantined(self) -> Iterator[Quarantined]:
        """Yield the entries that cannot be used, or only in part."""

    def _become(self, loaded: tuple[Held, ...], digest: bytes = b"", content: bytes = b"") -> Self:
        return replace(self, digest=digest, content=content, loaded=loaded, last_good=tuple(self._kept(loaded)))

    @abstractmethod
    def _load(self, text: str) -> Iterable[Held]: ...

    @abstractmethod
    def _unreadable(self, reason: str) -> Held:
        """Return the entry for this file if it cannot be read."""

    @staticmethod
    @abstractmethod
    def _is_usable(item: Held) -> bool: ...

    @abstractmethod
    def _kept(self, loaded: tuple[Held, ...]) -> Iterable[Held]:
        """Return the entries that were served before and stay in use, now that the file holds ``loaded``."""


def _not_read(source: str, reason: str) -> tuple[Finding, ...]:
    return (Finding(Severity.ERROR, UNREADABLE, (), f"cannot be read: {reason}", source=source),)


@dataclass(frozen=True, slots=True)
class DefinitionFile(WatchedFile[Loaded]):
    """A file of definitions. A broken document leaves its last good version in place. A deleted document is gone.

    ``entries`` are the served definitions, the same objects as long as the file is the same: garbage collection after a
    reload has to visit every new object.
    """

    entries: tuple[ServedDefinition, ...] = ()
    known: KnownDocuments = field(default_factory=KnownDocuments, compare=False, repr=False)

    def quarantined(self) -> Iterator[Quarantined]:
        """Yield the definitions that cannot be used."""
        for document in self.loaded:
            if not document.definition:
                serving_last_good = any(_is_newer(document, old) for old in self.last_good)
                yield Quarantined(
                    document.source, document.findings, document.name, document.gvk, serving_last_good=serving_last_good
                )

    def _become(self, loaded: tuple[Loaded, ...], digest: bytes = b"", content: bytes = b"") -> Self:
        new = WatchedFile._become(self, loaded, digest, content)  # noqa: SLF001 - with slots no `super` before Python 3.14
        entries = (
            ServedDefinition(document.definition, document.source, document.line)
            for document in new.served
            if document.definition
        )
        return replace(new, entries=tuple(entries))

    def _load(self, text: str) -> Iterable[Loaded]:
        for document in self.known.load(text, name_of(self.path)):
            yield from document.versions

    def _unreadable(self, reason: str) -> Loaded:
        source = name_of(self.path)
        return Loaded(None, _not_read(source, reason), "", None, source)

    @staticmethod
    def _is_usable(item: Loaded) -> bool:
        return item.definition is not None

    def _kept(self, loaded: tuple[Loaded, ...]) -> Iterable[Loaded]:
        kinds = {document.gvk for document in loaded if document.definition}
        broken = [document for document in loaded if not document.definition]
        return (old for old in self.served if old.gvk not in kinds and any(_is_newer(new, old) for new in broken))


def _is_newer(broken: Loaded, old: Loaded) -> bool:
    """Return whether a broken document seems to be a later version of a good one."""
    if not broken.name and broken.gvk is None:
        return True
    # A document that is cut off in the middle of its kind still has its name.
    return (broken.name != "" and broken.name == old.name) or (broken.gvk is not None and broken.gvk == old.gvk)


@dataclass(frozen=True, slots=True)
class OverrideFile(WatchedFile[LoadedCustomization]):
    """A file of customizations. A broken script leaves its last good version in place. A deleted script is gone."""

    def quarantined(self) -> Iterator[Quarantined]:
        """Yield the customizations that cannot be used, or only in part."""
        for customization in self.loaded:
            errors = tuple(finding for finding in customization.findings if finding.severity is Severity.ERROR)
            if errors:
                serving_last_good = any(
                    _has_newer(customization, script.operation, old) for old in self.last_good for script in old.scripts
                )
                yield Quarantined(
                    customization.source,
                    errors,
                    customization.name,
                    customization.gvk,
                    serving_last_good=serving_last_good,
                )

    def _load(self, text: str) -> Iterable[LoadedCustomization]:
        return load_customizations(text, name_of(self.path))

    def _unreadable(self, reason: str) -> LoadedCustomization:
        source = name_of(self.path)
        return LoadedCustomization("", None, Scripts(), _not_read(source, reason), source)

    @staticmethod
    def _is_usable(item: LoadedCustomization) -> bool:
        return bool(item.scripts)

    def _kept(self, loaded: tuple[LoadedCustomization, ...]) -> Iterator[LoadedCustomization]:
        renewed = set[tuple[GVK | None, str, str]]()
        for new in loaded:
            renewed.update((new.gvk, new.name, script.operation) for script in new.scripts)
        for old in self.served:
            kept = list[Script]()
            for script in old.scripts:
                is_renewed = (old.gvk, old.name, script.operation) in renewed
                if not is_renewed and any(_has_newer(new, script.operation, old) for new in loaded):
                    kept.append(script)
            if kept:
                yield structs.replace(old, scripts=Scripts(kept))


def _has_newer(new: LoadedCustomization, operation: str, old: LoadedCustomization) -> bool:
    """Return whether a broken part of a customization seems to be a later version of a good script."""
    if new.gvk is None:
        is_broken = any(finding.severity is Severity.ERROR for finding in new.findings)
        return is_broken and (not new.name or new.name == old.name)
    # An unknown field may be misspelt.
    may_be_meant = any(finding.rule == "unknown-field" for finding in new.findings)
    return new.gvk == old.gvk and (operation in new.broken or may_be_meant)


File = TypeVar("File", bound=WatchedFile[Any])


@dataclass(frozen=True, slots=True)
class Folder(Generic[File]):
    """A folder, or a single file, as it was last read. A new folder has not been read yet.

    A folder that cannot be listed any more (an unmounted volume, a checkout that is being replaced) keeps its files.
    """

    root: Path
    kind: type[File]
    files: Mapping[Path, File] = field(default_factory=dict)
    unlisted: tuple[Quarantined, ...] = ()
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)
    keeps_text: bool = True
    links_out: bool = True
    """Whether links that lead out of the folder are followed."""

    def read(self) -> Self:
        """Return the folder as it is now."""
        listing = list_files(self.root, links_out=self.links_out)
        files: dict[Path, File] = {}
        unlisted = []
        for unreadable, reason in listing.unreadable:
            last_read = {path: file for path, file in self.files.items() if path.is_relative_to(unreadable)}
            files.update(last_read)
            serving_last_good, source = any(file.served for file in last_read.values()), name_of(unreadable)
            unlisted.append(Quarantined(source, _not_read(source, reason), serving_last_good=serving_last_good))
        # First: new files may need their room.
        for path in self.files.keys() - files.keys() - {*listing.files}:
            self.budget.forget(path)
        # By the file's own path, so that the equal path of the listing is not kept.
        files.update((file.path, file) for file in (self._file(path).read() for path in listing.files))
        return replace(self, files=dict(sorted(files.items())), unlisted=tuple(unlisted))

    def reread(self, path: Path) -> Self:
        """Return the folder with one file as it is now, and the others as they were read."""
        files = {other: file for other, file in self.files.items() if other != path}
        if path.is_file():
            files[path] = self._file(path).read()
        else:
            self.budget.forget(path)
        return replace(self, files=dict(sorted(files.items())))

    def _file(self, path: Path) -> File:
        return self.files.get(path) or self.kind(path, budget=self.budget, keeps_text=self.keeps_text)

    def quarantined(self) -> tuple[Quarantined, ...]:
        """Return the entries of the folder that cannot be used."""
        return (*self.unlisted, *(broken for file in self.files.values() for broken in file.quarantined()))


def layer_of(folder: Folder[DefinitionFile]) -> SourceDefinitions:
    """Return the definitions of a folder. The first by path has the highest precedence."""
    return SourceDefinitions(
        tuple(entry for file in folder.files.values() for entry in file.entries), folder.quarantined()
    )


def overrides_of(folders: Iterable[Folder[OverrideFile]]) -> Overrides:
    """Return the scripts of all folders. As in Karmada, customizations of one kind are merged by name."""
    folders = tuple(folders)
    served = (entry for folder in folders for file in folder.files.values() for entry in file.served)
    scripts, conflicts = merge(served)
    quarantined = (quarantine for folder in folders for quarantine in folder.quarantined())
    return Overrides(scripts, tuple(conflicts), tuple(quarantined))


@cache
def load_catalogue() -> SourceDefinitions:
    """Return the whole catalogue, read once."""
    return _layer(catalogue_files())


def find_in_catalogue(gvk: GVK) -> ServedDefinition | None:
    """Return the definition of one kind, None if it has none. The rest of the catalogue is not read."""
    path = catalogue_kinds().get(gvk)
    entries = _layer([path]).entries if path else ()
    return next((entry for entry in entries if entry.definition.gvk == gvk), None)


def compile_catalogue() -> None:
    """Write the form of the catalogue that is read sooner than its texts."""
    compiled_catalogue.write({path: _from_text(path).entries for path in catalogue_files()})


def _layer(paths: Iterable[Path]) -> SourceDefinitions:
    layers = [*map(_read_in_catalogue, paths)]
    entries = (entry for layer in layers for entry in layer.entries)
    quarantined = (broken for layer in layers for broken in layer.quarantined)
    return SourceDefinitions(tuple(entries), tuple(quarantined))


def _read_in_catalogue(path: Path) -> SourceDefinitions:
    entries = compiled_catalogue.read_definitions(path)
    return _from_text(path) if entries is None else SourceDefinitions(entries)


def _from_text(path: Path) -> SourceDefinitions:
    with without_linting():
        layer = layer_of(Folder(Path(), DefinitionFile, {path: DefinitionFile(path).read()}))
    # The audit bounds the time of the catalogue's expressions, far below the time of their steps.
    entries = (ServedDefinition(replace(entry.definition, steps=0), ORIGIN) for entry in layer.entries)
    return structs.replace(layer, entries=tuple(entries))
