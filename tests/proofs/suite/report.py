"""What the suite must do, and what ginkgo's report says that it did."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.rig.api import Object

_EXPECTED: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("families.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Family:
    """Cases that belong together: the texts of their containers contain ``focus``."""

    name: str
    focus: str
    cases: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that fails on purpose: its texts contain ``case``, the message of its failure ``message``."""

    case: str
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a case; a case that has passed has no message."""

    text: str
    seconds: float
    message: str


FAMILIES = tuple(Family(**entry) for entry in _EXPECTED["families"])
DIFFERENCES = tuple(Difference(**entry) for entry in _EXPECTED["differing"])


def read(file: Path) -> list[Result]:
    """Return the cases that have run, by ginkgo's report in JSON."""
    suites = json.loads(file.read_text(encoding="utf-8"))
    return [_result(entry) for suite in suites for entry in suite["SpecReports"] or () if _has_run(entry)]


def failures(
    results: list[Result],
    families: tuple[Family, ...] = FAMILIES,
    differences: tuple[Difference, ...] = DIFFERENCES,
) -> Iterator[str]:
    """Yield what is not as expected: other cases, a case that fails, a case that should and does not."""
    for family in families:
        count = len(cases(family, results))
        if count != family.cases:
            yield f"{family.name}: {count} cases have run, not {family.cases}"
    for result in results:
        difference = next((entry for entry in differences if entry.case in result.text), None)
        if difference is None:
            if result.message:
                yield f"{result.text}: {result.message}"
        elif not result.message:
            yield f"{result.text}: it passes, and proofs.md has a reason why it fails"
        elif difference.message not in result.message:
            yield f"{result.text}: it fails for another reason than {difference.message!r}: {result.message}"


def cases(family: Family, results: list[Result]) -> list[Result]:
    return [result for result in results if family.focus in result.text]


def _has_run(entry: Object) -> bool:
    """Whether it is a case that has run, or a preparation that has failed."""
    is_case, state = entry["LeafNodeType"] == "It", entry["State"]
    return state != "skipped" and (is_case or state != "passed")


def _result(entry: Object) -> Result:
    texts = [*(entry["ContainerHierarchyTexts"] or ()), entry["LeafNodeText"] or entry["LeafNodeType"]]
    return Result(" ".join(texts), entry["RunTime"] / 1e9, _message(entry))


def _message(entry: Object) -> str:
    if entry["State"] == "passed":
        return ""
    message: str = entry.get("Failure", {}).get("Message") or entry["State"]
    return message
