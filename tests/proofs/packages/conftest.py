"""The sdist of this checkout, and the wheel that is built from it; `make package-test` runs these tests."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

if not os.environ.get("RUN_PACKAGES"):
    collect_ignore_glob = ["*"]

_CHECKOUT = Path(__file__).parents[3]

_BUILD = """
import os, sys, tarfile
from functools import cached_property
from hatchling.build import build_sdist, build_wheel
from hatchling.builders.config import BuilderConfig

# Hatchling compiles these patterns anew for each file of the checkout.
BuilderConfig.artifact_spec = cached_property(BuilderConfig.artifact_spec.fget)
BuilderConfig.artifact_spec.__set_name__(BuilderConfig, "artifact_spec")

checkout, folder = sys.argv[1:]
os.chdir(checkout)
for name in ("sdist", "wheel", "direct"):
    os.mkdir(f"{folder}/{name}")
build_wheel(f"{folder}/direct")
sdist = build_sdist(f"{folder}/sdist")
with tarfile.open(f"{folder}/sdist/{sdist}") as archive:
    archive.extractall(f"{folder}/source", filter="data")
os.chdir(f"{folder}/source/{sdist.removesuffix('.tar.gz')}")
build_wheel(f"{folder}/wheel")
"""
"""Calls the hooks of PEP 517 that a front end calls; it takes half of the time of three processes of pip."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, the wheel of it, and the wheel that is built directly."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-c", _BUILD, _CHECKOUT, folder], check=True)
    return folder


@pytest.fixture(scope="session")
def sdist(built: Path) -> Path:
    (path,) = (built / "sdist").iterdir()
    return path


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (path,) = (built / "wheel").iterdir()
    return path


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Metadata:
    """What an index reads of the wheel; raises for what it would not take."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(name), validate=True)
