"""The Kartas of the catalogue for the kinds under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.proofs.e2e.kinds import KINDS, Kind
from tests.proofs.rig.api import Api, Object
from tests.proofs.rig.places import Place, put

HEADS: Place = ("spec", "structureDefinition", "childComponents", 0, "scaleDefinition", "replicasPath")
"""Where the Karta of RayCluster counts the heads."""

_CATALOGUE = Path(__file__).parents[3] / "kartas"


def kartas() -> list[Object]:
    return [_read(file) for file in karta_files()]


def karta_of(kind: Kind) -> Object:
    return _read(_karta_file(kind))


def karta_files() -> list[Path]:
    return sorted(map(_karta_file, KINDS))


@contextmanager
def changed(api: Api, kind: Kind, place: Place, value: object) -> Iterator[Object]:
    """Have another value at a place of the Karta of a kind during the block; yield that of the catalogue."""
    karta = karta_of(kind)
    api.apply(put(karta, place, value))
    try:
        yield karta
    finally:
        api.apply(karta)


def _karta_file(kind: Kind) -> Path:
    return _CATALOGUE / kind.api_version / kind.name / "karta.yaml"


def _read(file: Path) -> Object:
    content: Object = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content
