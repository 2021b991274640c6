"""Kinds of workload that exist nowhere else, one for each way in which a definition can name pods."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter import Karta, Workload

_KINDS = Path(__file__).parent / "kinds"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_KINDS.glob("*.yaml"))}
KARTAS = {kind: Karta.load(text) for kind, text in TEXTS.items()}

Make = Callable[..., Workload]


@pytest.fixture
def make() -> Make:
    """A toy workload of a kind, with a spec and whatever else."""

    def make(kind: str, spec: Any = None, **rest: Any) -> Workload:
        api_version = "v1" if kind == "Pod" else "toys.example.com/v1"
        obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "toy"}, "spec": spec, **rest}
        return Workload(KARTAS[kind], obj)

    return make


@pytest.fixture
def texts() -> dict[str, str]:
    return TEXTS


@pytest.fixture
def raw() -> Callable[[str], dict[str, Any]]:
    """The definition of a toy kind as an object, to be changed."""

    def raw(kind: str) -> dict[str, Any]:
        value: dict[str, Any] = yaml.safe_load(TEXTS[kind])
        return value

    return raw
