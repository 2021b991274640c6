from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.k8s.values import GVK
from tests.support.karta import karta_text


def gvk_of(kind: str) -> GVK:
    return GVK("example.io", "v1", kind)


@pytest.fixture(scope="session")
def gvk() -> Callable[[str], GVK]:
    return gvk_of


@pytest.fixture(scope="session")
def karta() -> Callable[..., str]:
    return karta_text


@pytest.fixture(scope="session")
def spec(karta: Callable[..., str]) -> Callable[..., Any]:
    """Return the spec of a definition. The arguments are as for ``karta``."""

    def read(kind: str = "Job", **changes: str) -> Any:
        return yaml.safe_load(karta(kind, **changes))["spec"]

    return read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "kartas"
    path.mkdir()
    return path
