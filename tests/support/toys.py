"""Three kinds of workload that exist nowhere else, one for each shape a definition can have."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.findings import Finding
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition, load_documents

Raw = dict[str, Any]
_KINDS = Path(__file__).parent / "kinds"


@pytest.fixture
def brew() -> Raw:
    return _read("brew")


@pytest.fixture
def orchestra() -> Raw:
    return _read("orchestra")


@pytest.fixture
def harbor() -> Raw:
    return _read("harbor")


@pytest.fixture
def toys(brew: Raw, orchestra: Raw, harbor: Raw) -> dict[str, Raw]:
    return {"brew": brew, "orchestra": orchestra, "harbor": harbor}


@pytest.fixture
def texts() -> dict[str, str]:
    return {name: _text(name) for name in ("brew", "orchestra", "harbor")}


@pytest.fixture
def compiled(toys: dict[str, Raw]) -> dict[str, Definition]:
    return {name: load_definition(raw) for name, raw in toys.items()}


@pytest.fixture
def findings_of() -> Callable[[Raw], list[Finding]]:
    def findings_of(raw: Raw) -> list[Finding]:
        (loaded,) = load_documents(json.dumps(raw), "toy.json")
        return list(loaded.findings)

    return findings_of


def _text(name: str) -> str:
    return (_KINDS / f"{name}.yaml").read_text(encoding="utf-8")


def _read(name: str) -> Raw:
    value: Raw = yaml.safe_load(_text(name))
    return value
