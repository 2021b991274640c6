"""One file of definitions, read again and again while a server runs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from interpreter.findings import Finding, Severity
from interpreter.karta.loading import Loaded, load_documents
from interpreter.sources.snapshot import Entry, Quarantined

MAX_BYTES = 4 * 1024 * 1024
"""No Karta is larger: the API server of a cluster stores objects up to 1.5 MiB."""

UNREADABLE = "unreadable"
"""The rule of the finding that stands for a file, or a folder, that cannot be read."""


def unreadable(source: str, reason: str) -> Loaded:
    """What stands for a file, or a folder, that cannot be read."""
    finding = Finding(Severity.ERROR, UNREADABLE, (), f"cannot be read: {reason}", source=source)
    return Loaded(definition=None, findings=(finding,), name="", gvk=None, source=source)


def load_bytes(content: bytes, source: str) -> tuple[Loaded, ...]:
    """The definitions in the content of a file, each with its findings."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return (unreadable(source, f"not UTF-8 text, see byte {error.start}"),)
    return tuple(load_documents(text, source))


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """A file as it was last read.

    ``loaded`` is everything it holds now; ``last_good`` are definitions that it held before and that its present,
    broken content stands for.
    """

    path: Path
    content: bytes | None = None
    loaded: tuple[Loaded, ...] = ()
    last_good: tuple[Loaded, ...] = ()

    def read(self) -> Self:
        """The file as it is now; the same object when nothing has changed.

        A document that was good and is broken now leaves its last good version in place. A document that is gone
        is gone.
        """
        try:
            content = _read(self.path)
        except OSError as error:
            return self._become(None, (unreadable(str(self.path), error.strerror or str(error)),))
        if content == self.content:
            return self
        return self._become(content, load_bytes(content, str(self.path)))

    def _become(self, content: bytes | None, loaded: tuple[Loaded, ...]) -> Self:
        kinds = {each.gvk for each in loaded if each.definition}
        broken = [each for each in loaded if not each.definition]
        last_good = tuple(
            old for old in self.served if old.gvk not in kinds and any(_stands_for(new, old) for new in broken)
        )
        return replace(self, content=content, loaded=loaded, last_good=last_good)

    @property
    def served(self) -> tuple[Loaded, ...]:
        """The definitions to use from this file."""
        return (*(each for each in self.loaded if each.definition), *self.last_good)

    def entries(self) -> Iterable[Entry]:
        """The definitions to use, each with this file as its origin."""
        return (Entry(each.definition, str(self.path)) for each in self.served if each.definition)

    def quarantined(self) -> Iterable[Quarantined]:
        """What cannot be used."""
        for each in self.loaded:
            if not each.definition:
                kept = any(_stands_for(each, old) for old in self.last_good)
                yield Quarantined(each.source, each.findings, each.name, each.gvk, serving_last_good=kept)


def _stands_for(broken: Loaded, old: Loaded) -> bool:
    """Whether a broken document is a later version of a good one, as far as can be told."""
    if broken.gvk is not None:
        return broken.gvk == old.gvk
    return not broken.name or broken.name == old.name


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(f"larger than {MAX_BYTES // 1024 // 1024} MiB")
    return content
