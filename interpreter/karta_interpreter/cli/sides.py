"""The two sides of ``diff`` and ``replay``: what answers for a kind, as the command line names it."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli.definitions import (
    DefinitionFiles,
    Interpreter,
    NoDefinition,
    interpreter_of,
    print_findings,
    read_existing,
)
from karta_interpreter.cli.files import STDIN, is_path
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.definitions.sources import SourceDefinitions, combine, find_in_catalogue

CATALOGUE = "catalogue"


class Side:
    """What answers for each kind: files and folders in their order, then the catalogue, as `serve` has them.

    A text of a side is a path of Kartas or customizations, ``catalogue``, or a kind of the catalogue. Raises
    UsageProblem for any other.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._paths = [text for text in texts if text == STDIN or Path(text).exists()]
        self._names = [text for text in texts if text not in self._paths]
        self._interpreters: dict[GVK, Interpreter | None] = {}
        for name in self._names:
            _check(name)

    def find(self, gvk: GVK) -> Interpreter | None:
        """Return the interpreter of a kind, or None if nothing answers for it. Findings about it go to stderr once."""
        if gvk not in self._interpreters:
            self._interpreters[gvk] = None
            entry = find_in_catalogue(gvk) if any(_is_about(name, gvk) for name in self._names) else None
            catalogue = [DefinitionFiles(SourceDefinitions((entry,)))] if entry else []
            with suppress(NoDefinition):
                self._interpreters[gvk] = interpreter_of(gvk, [*self._files, *catalogue])
        return self._interpreters[gvk]

    @cached_property
    def _files(self) -> list[DefinitionFiles]:
        files = read_existing(self._paths)
        for path, read in zip(self._paths, files, strict=True):
            if not (read.layer.entries or read.customizations):
                print_findings(combine([read.layer]))
                raise Problem(f"error: {path}: there is no definition in it that can be used")
        return files


def _check(name: str) -> None:
    """Raise UsageProblem for a name that is neither the catalogue nor a kind of it."""
    kinds = catalogue_kinds()
    if not any(_is_about(name, gvk) for gvk in kinds) and not is_path(name):
        hint = did_you_mean(name, sorted({CATALOGUE, *(gvk.kind for gvk in kinds)}))
        raise UsageProblem(f"error: {name} is neither a file nor a kind of the catalogue; {hint}")


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (CATALOGUE, *gvk.names)
