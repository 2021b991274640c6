"""A folder of definitions, read again and again while a server runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from karta_interpreter.sources.files import DefinitionFile, unlisted
from karta_interpreter.sources.precedence import Layer
from karta_interpreter.sources.snapshot import Quarantined
from karta_interpreter.sources.watched_file import read_files


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
