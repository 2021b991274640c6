from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.k8s.values import GVK

_KARTA = """\
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: {name}
spec:
  structureDefinition:
    rootComponent:
      name: main
      kind:
        group: example.io
        version: v1
        kind: {kind}
      specDefinition:
        podTemplateSpecPath: .spec.template
      scaleDefinition:
        replicasPath: {replicas}
      statusDefinition:
        phaseDefinition:
          path: .status.phase
        statusMappings:
          running:
          - byPhase: Running
"""


def gvk_of(kind: str) -> GVK:
    return GVK("example.io", "v1", kind)


@pytest.fixture(scope="session")
def gvk() -> Callable[[str], GVK]:
    return gvk_of


@pytest.fixture(scope="session")
def karta() -> Callable[..., str]:
    """The text of a definition; ``replicas`` is its one expression to break."""

    def text(kind: str = "Job", *, name: str = "", replicas: str = ".spec.replicas // 1") -> str:
        return _KARTA.format(kind=kind, name=name or kind.lower(), replicas=replicas)

    return text


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
