"""The image that all tests here share; they run with ``make image-test`` only."""

import os
from collections.abc import Iterator

import pytest

from tests.proofs.image.building import ROOT, Image, built, checked_out, commit, missing
from tests.proofs.image.container import Restrictions

if not os.environ.get("RUN_IMAGE_TEST"):
    collect_ignore_glob = ["*"]


@pytest.fixture(scope="session")
def image() -> Iterator[Image]:
    """The image of the last commit."""
    if reason := missing():
        pytest.skip(f"make image-test {reason}")
    tested = commit()
    with checked_out(tested) as source, built(source, REVISION=tested) as image:
        yield image


@pytest.fixture(scope="session")
def restrictions() -> Restrictions:
    """Those of the chart, with Kartas and scripts as ConfigMaps."""
    served = ROOT / "tests" / "webhook" / "process" / "testdata"
    mounts = {
        "/etc/karta-interpreter/kartas": ROOT / "tests" / "proofs" / "benchmarks" / "definitions",
        "/etc/karta-interpreter/overrides": served / "scripts",
    }
    return Restrictions.of_chart(mounts)
