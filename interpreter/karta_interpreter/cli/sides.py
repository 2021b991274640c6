"""The two sides of ``diff`` and ``replay``: what answers for a kind, as the command line names it."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli.definitions import DefinitionFiles, Interpreter, NoDefinition, interpreter_of, read_existing
from karta_interpreter.cli.files import STDIN, is_url
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.definitions.karta.loading import catalogue_kinds
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.snapshot import SourceDefinitions

CATALOGUE = "catalogue"


class Side:
    """What answers for each kind: files and folders in their order, then kinds of the catalogue, as `serve` has them.

    ``names`` are kinds of the catalogue, or ``catalogue`` for all of them.
    """

    def __init__(self, paths: Sequence[str], names: Sequence[str]) -> None:
        self._paths, self._names = paths, frozenset(name.lower() for name in names)
        self._interpreters: dict[GVK, Interpreter | None] = {}

    def find(self, gvk: GVK) -> Interpreter | None:
        """Return the interpreter of a kind, or None if nothing answers for it. Findings about it go to stderr once."""
        if gvk not in self._interpreters:
            self._interpreters[gvk] = None
            entry = None if self._names.isdisjoint((CATALOGUE, *gvk.names)) else find_in_catalogue(gvk)
            catalogue = [DefinitionFiles(SourceDefinitions((entry,)))] if entry else []
            with suppress(NoDefinition):
                self._interpreters[gvk] = interpreter_of(gvk, [*self._files, *catalogue])
        return self._interpreters[gvk]

    @cached_property
    def _files(self) -> list[DefinitionFiles]:
        return read_existing(self._paths)


def side_of(texts: Sequence[str]) -> Side:
    """Read a side as the command line names it. Raises UsageProblem for an unknown name.

    A path holds Kartas or customizations. ``catalogue`` is the embedded one, and a kind is one definition of it.
    """
    paths = [text for text in texts if text == STDIN or is_url(text) or Path(text).exists()]
    names = [text for text in texts if text not in paths]
    kinds = catalogue_kinds()
    known = {CATALOGUE, *(name for gvk in kinds for name in gvk.names)}
    for name in names:
        if name.lower() not in known:
            hint = did_you_mean(name, sorted({gvk.kind for gvk in kinds}))
            raise UsageProblem(f"error: {name} is not a file, a kind of the catalogue or `catalogue`; {hint}")
    return Side(paths, names)
