"""The corpus of expressions, with what each implementation makes of them."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from karta_interpreter.base.k8s.values import JSON
from tests.support.rows import rows


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of ``cases.yaml``. The file explains its parts."""

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
every_case = rows("case", CASES, ids=lambda case: f"{case.jq}: {case.about}")
