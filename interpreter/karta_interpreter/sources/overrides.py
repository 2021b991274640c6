"""Customizations in folders: scripts that are stronger than every definition, read again and again.

As in Karmada, all customizations of a kind are merged in the order of their names, whichever folder they are in.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.lua.customization import LoadedCustomization, load_customizations, merge
from karta_interpreter.lua.script import Scripts
from karta_interpreter.sources.files import WatchedFile, decode, name_of, not_readable, read_files, unlisted
from karta_interpreter.sources.snapshot import Quarantined


@dataclass(frozen=True, slots=True)
class Overrides:
    """The scripts over the definitions, by kind; ``findings`` are the conflicts between customizations."""

    scripts: Mapping[GVK, Scripts] = field(default_factory=lambda: MappingProxyType({}))
    findings: tuple[Finding, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()

    @classmethod
    def of(cls, folders: Iterable["OverrideFolder"]) -> Self:
        """What folders offer together."""
        folders = tuple(folders)
        merged = merge(each for folder in folders for file in folder.files.values() for each in file.served)
        return cls(merged.scripts, merged.findings, tuple(each for folder in folders for each in folder.quarantined()))


@dataclass(frozen=True, slots=True)
class OverrideFile(WatchedFile[LoadedCustomization]):
    """A file of customizations as it was last read.

    A script that could be run and is broken now leaves its last good version in place, and its neighbours alone. A
    script that is gone is gone.
    """

    @property
    def served(self) -> tuple[LoadedCustomization, ...]:
        """The customizations whose scripts are used."""
        return (*(each for each in self.loaded if each.scripts), *self.last_good)

    def quarantined(self) -> Iterator[Quarantined]:
        """The customizations that cannot be used, or not as they stand there."""
        for each in self.loaded:
            errors = tuple(finding for finding in each.findings if finding.severity is Severity.ERROR)
            if errors:
                kept = any(_stands_for(each, script.operation, old) for old in self.last_good for script in old.scripts)
                yield Quarantined(
                    each.source, errors, each.name, each.gvk, serving_last_good=kept, in_part=bool(each.scripts)
                )

    def load(self, content: bytes) -> tuple[LoadedCustomization, ...]:
        """What the content holds."""
        text, reason = decode(content)
        return (self.unreadable(reason),) if reason else tuple(load_customizations(text, name_of(self.path)))

    def unreadable(self, reason: str) -> LoadedCustomization:
        """What stands for this file when it cannot be read."""
        source = name_of(self.path)
        return LoadedCustomization("", None, Scripts(), (not_readable(source, reason),), source)

    def kept(self, loaded: tuple[LoadedCustomization, ...]) -> tuple[LoadedCustomization, ...]:
        """What was served so far and has to go on, now that the file holds something else."""
        renewed = {(each.gvk, each.name, script.operation) for each in loaded for script in each.scripts}

        def is_kept(old: LoadedCustomization, operation: str) -> bool:
            if (old.gvk, old.name, operation) in renewed:
                return False
            return any(_stands_for(new, operation, old) for new in loaded)

        left = (
            replace(old, scripts=Scripts(script for script in old.scripts if is_kept(old, script.operation)))
            for old in self.served
        )
        return tuple(old for old in left if old.scripts)


def _stands_for(new: LoadedCustomization, operation: str, old: LoadedCustomization) -> bool:
    """Return whether something broken in a customization seems to be a later version of a good script."""
    if new.gvk is None:
        is_broken = any(finding.severity is Severity.ERROR for finding in new.findings)
        return is_broken and (not new.name or new.name == old.name)
    # A field that does not exist may be a misspelt one.
    may_be_meant = any(finding.rule == "unknown-field" for finding in new.findings)
    return new.gvk == old.gvk and (operation in new.broken or may_be_meant)


@dataclass(frozen=True, slots=True)
class OverrideFolder:
    """A folder, or a single file, of customizations as it was last read; a new one has not been read yet."""

    root: Path
    files: Mapping[Path, OverrideFile] = field(default_factory=dict)
    unlisted: tuple[Quarantined, ...] = ()

    def read(self) -> Self:
        """The folder as it is now."""
        files, gone = read_files(self.root, self.files, OverrideFile)
        return replace(self, files=files, unlisted=tuple(map(unlisted, gone)))

    def quarantined(self) -> Iterator[Quarantined]:
        """What cannot be used."""
        yield from self.unlisted
        for file in self.files.values():
            yield from file.quarantined()
