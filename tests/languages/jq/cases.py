"""The corpus of expressions, with what each implementation makes of them."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from karta_interpreter.base.k8s.values import JSON


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of ``cases.yaml``; there it says what each part means."""

    jq: str
    about: str
    input: JSON = None
    outputs: list[JSON] | None = None
    error: str = ""
    libjq: str = ""
    lua: str = ""


def _cases() -> list[Case]:
    groups = yaml.load(Path(__file__).with_name("cases.yaml").read_bytes(), yaml.CSafeLoader)
    return [Case(**row) for name, rows in groups.items() if name != "job set" for row in rows]


CASES = _cases()
every_case = pytest.mark.parametrize("case", CASES, ids=[f"{case.jq}: {case.about}" for case in CASES])
