"""The Kartas of the catalogue for the kinds under test."""

from pathlib import Path

import yaml

from tests.proofs.e2e.kinds import KINDS, Kind
from tests.proofs.rig.api import Object

_CATALOGUE = Path(__file__).parents[3] / "kartas"


def kartas() -> list[Object]:
    """Return the Kartas of all kinds under test."""
    return [_read(file) for file in karta_files()]


def karta_of(kind: Kind) -> Object:
    """Return the Karta of a kind."""
    return _read(_karta_file(kind))


def karta_files() -> list[Path]:
    """Return the files of the Kartas of all kinds under test."""
    return sorted(map(_karta_file, KINDS))


def _karta_file(kind: Kind) -> Path:
    return _CATALOGUE / kind.api_version / kind.name / "karta.yaml"


def _read(file: Path) -> Object:
    content: Object = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content
