"""The definitions that come with this package, as a source like the others."""

from functools import cache
from pathlib import Path

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.catalogue import CORE, catalogue_files
from karta_interpreter.sources.files import DefinitionFile
from karta_interpreter.sources.precedence import Layer
from karta_interpreter.sources.snapshot import Entry

__all__ = ["CORE", "ORIGIN", "catalogue_files", "find_in_catalogue", "load_catalogue"]

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
    files = [DefinitionFile(path).read() for path in paths]
    return Layer(
        tuple(Entry(entry.definition, ORIGIN) for file in files for entry in file.entries()),
        tuple(broken for file in files for broken in file.quarantined()),
    )
