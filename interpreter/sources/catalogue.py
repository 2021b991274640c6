"""The definitions that come with this package: ``kartas/<group>/<version>/<Kind>/karta.yaml``."""

from functools import cache
from pathlib import Path

from interpreter.k8s.gvk import GVK
from interpreter.sources.files import DefinitionFile
from interpreter.sources.precedence import Layer
from interpreter.sources.snapshot import Entry

ORIGIN = "catalogue"
"""The origin of every entry of the catalogue."""

CORE = "core"
"""The folder of the core group, whose name is empty."""

_PACKAGE = Path(__file__).parent.parent


def catalogue_files() -> list[Path]:
    """The files of the catalogue, sorted by kind."""
    return sorted(_root().glob("*/*/*/karta.yaml"))


@cache
def load_catalogue() -> Layer:
    """The whole catalogue, read once."""
    return _layer(catalogue_files())


def find_in_catalogue(gvk: GVK) -> Entry | None:
    """The definition of one kind, read without the rest of the catalogue; None when there is none."""
    place = (gvk.group or CORE, gvk.version, gvk.kind)
    layer = _layer([path for path in catalogue_files() if path.parts[-4:-1] == place])
    return next(iter(layer.entries), None)


def _root() -> Path:
    """The folder that a wheel carries inside the package and a checkout beside it."""
    installed = _PACKAGE / "kartas"
    return installed if installed.is_dir() else _PACKAGE.parent / "kartas"


def _layer(paths: list[Path]) -> Layer:
    files = [DefinitionFile(path).read() for path in paths]
    return Layer(
        tuple(Entry(entry.definition, ORIGIN) for file in files for entry in file.entries()),
        tuple(broken for file in files for broken in file.quarantined()),
    )
