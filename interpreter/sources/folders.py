"""A folder of definitions, read again and again while a server runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from interpreter.sources.files import DefinitionFile, unreadable
from interpreter.sources.listing import list_files
from interpreter.sources.precedence import Layer
from interpreter.sources.snapshot import Quarantined


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, or a single file, as it was last read; a new one has not been read yet."""

    root: Path
    files: Mapping[Path, DefinitionFile] = field(default_factory=dict)
    unlisted: tuple[Quarantined, ...] = ()

    def read(self) -> Self:
        """The folder as it is now.

        A deleted file takes its definitions with it. A folder that cannot be listed any more (an unmounted volume,
        a checkout that is being replaced) keeps the files it had.
        """
        listing = list_files(self.root)
        before = {path: self.files.get(path, DefinitionFile(path)) for path in listing.files}
        files = {path: file.read() for path, file in before.items()}
        unlisted = []
        for place, reason in listing.unreadable:
            kept = {path: file for path, file in self.files.items() if path.is_relative_to(place)}
            files.update(kept)
            served = any(file.served for file in kept.values())
            findings = unreadable(str(place), reason).findings
            unlisted.append(Quarantined(str(place), findings, serving_last_good=served))
        return replace(self, files=dict(sorted(files.items())), unlisted=tuple(unlisted))

    def layer(self) -> Layer:
        """What the folder offers; of two definitions for one kind the first by path is the stronger."""
        return Layer(
            tuple(entry for file in self.files.values() for entry in file.entries()),
            (*self.unlisted, *(broken for file in self.files.values() for broken in file.quarantined())),
        )
