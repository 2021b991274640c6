"""Where a customization stands in the text that it was read from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from karta_interpreter.findings import Finding
from karta_interpreter.k8s.manifest import Document
from karta_interpreter.k8s.values import Path
from karta_interpreter.lua.lines import Lines


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a document, ``at`` a path in it, and the lines of the text."""

    document: Document
    at: Path
    lines: Sequence[str]

    @property
    def source(self) -> str:
        """The name of the text."""
        return self.document.source

    @property
    def line(self) -> int:
        """The line on which the value begins."""
        return self.document.position(self.at)[0]

    def script(self, path: Path, text: str) -> Lines:
        """The lines of a script that is the value at a path of the customization."""
        line, column = self.document.position((*self.at, *path))
        return Lines(self.lines, line, column, text)

    def locate(self, finding: Finding) -> Finding:
        """The finding with its source, and with its line and column unless it has them."""
        if finding.line:
            return replace(finding, source=self.source)
        line, column = self.document.position((*self.at, *finding.path))
        return replace(finding, source=self.source, line=line, column=column)
