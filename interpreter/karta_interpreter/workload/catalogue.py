"""The definitions that come with this package, each read when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.catalogue import CORE, catalogue_files

Entry = TypeVar("Entry")


class Catalogue(Mapping[GVK, Entry]):
    """What ``load`` makes of the catalogue's files, by kind."""

    def __init__(self, load: Callable[[Path], Entry]) -> None:
        self._load = cache(load)

    @cached_property
    def _files(self) -> Mapping[GVK, Path]:
        return {_kind(path): path for path in catalogue_files()}

    def __getitem__(self, gvk: GVK) -> Entry:
        return self._load(self._files[gvk])

    def __iter__(self) -> Iterator[GVK]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, gvk: object) -> bool:
        return gvk in self._files  # without reading the file, as Mapping's own would


def _kind(path: Path) -> GVK:
    group, version, kind = path.parts[-4:-1]
    return GVK("" if group == CORE else group, version, kind)
