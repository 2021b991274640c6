"""The sdist of this checkout, and the wheel that pip builds from it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

_CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(folder)]
    subprocess.run(command, cwd=_CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="session")
def wheel(sdist: Path) -> Path:
    return build_wheel(sdist)


def build_wheel(source: Path, into: Path | None = None) -> Path:
    folder = into or source.parent / "wheel"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*command, "--disable-pip-version-check", "--wheel-dir", folder, source], check=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Metadata:
    """What an index reads of the wheel; raises for what it would not take."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(name), validate=True)
