"""One file of definitions, read again and again while a server runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.karta.loading import Loaded, load_documents
from karta_interpreter.sources.snapshot import Entry, Quarantined
from karta_interpreter.sources.watched_file import Gone, WatchedFile, decode, name_of

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
