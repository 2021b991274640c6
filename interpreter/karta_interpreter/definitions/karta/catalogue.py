"""The files that come with the package: the catalogue of definitions, and the first example."""

import pathlib
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta.versions import OTHER_VERSIONS, names_in

CORE = "core"
"""The folder of the core group, which has an empty name."""

_OTHER_VERSIONS: Final = re.compile(rf"^ +{OTHER_VERSIONS[-1]}: (.+)$", re.MULTILINE)
_PACKAGE = pathlib.Path(__file__).parents[2]


def catalogue_files() -> list[pathlib.Path]:
    """Return the files of the catalogue, sorted by kind. A wheel has them inside the package, a checkout next to it."""
    installed = _PACKAGE / "kartas"
    folder = installed if installed.is_dir() else _PACKAGE.parents[1] / "kartas"
    return sorted(folder.glob("*/*/*/karta.yaml"))


def example_files() -> dict[str, str]:
    """Return the first example: a Karta of an imaginary kind and one object, by file name."""
    folder = pathlib.Path(__file__).parent / "example"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yaml"))}


@cache
def catalogue_kinds() -> Mapping[GVK, pathlib.Path]:
    """Return the files of the catalogue by the kinds that they define.

    Folders are named after the kinds. The other versions of a kind are found in the text, without reading YAML.
    """
    kinds: dict[GVK, pathlib.Path] = {}
    for path in catalogue_files():
        own = GVK(*path.parts[-4:-1])
        own = own._replace(group="") if own.group == CORE else own
        others = _OTHER_VERSIONS.search(path.read_text(encoding="utf-8"))
        versions = (own.version, *names_in(others[1])) if others else (own.version,)
        kinds |= {own._replace(version=version): path for version in versions}
    return MappingProxyType(kinds)
