"""Where the definitions that come with this package are: ``kartas/<group>/<version>/<Kind>/karta.yaml``."""

from pathlib import Path

CORE = "core"
"""The folder of the core group, whose name is empty."""

_PACKAGE = Path(__file__).parent.parent


def catalogue_files() -> list[Path]:
    """The files of the catalogue, sorted by kind."""
    return sorted(_root().glob("*/*/*/karta.yaml"))


def _root() -> Path:
    """The folder that a wheel carries inside the package and a checkout beside it."""
    installed = _PACKAGE / "kartas"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "kartas"
