"""The cases of the suite that run here, and how they ended by ginkgo's report."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.rig.api import Object

_NANOSECONDS = 1e9
_EXPECTED: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("families.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Family:
    """Cases that belong together: the texts of their containers contain ``focus``."""

    name: str
    focus: str
    cases: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that fails on purpose: its texts contain ``case``, and its failure, or its log, ``says``."""

    case: str
    says: str


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a case; a case that has passed has no message. White space in texts is single spaces."""

    text: str
    seconds: float
    message: str
    log: str = ""


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
    """Yield each surprise: another number of cases, a case that fails, a case that should fail and does not."""
    for family in families:
        count = len(cases(family, results))
        if count != family.cases:
            yield f"{family.name}: {count} cases have run, not {family.cases}"
    for result in results:
        difference = next((entry for entry in differences if entry.case in result.text), None)
        if wrong := _unexpected(result, difference):
            yield f"{result.text}: {wrong}"


def _unexpected(result: Result, difference: Difference | None) -> str:
    """Return why a case is a surprise, or nothing."""
    if difference is None:
        return result.message
    if not result.message:
        return "it passes, and docs/developers/proofs.md has a reason why it fails"
    if difference.says not in f"{result.message} {result.log}":
        return f"it fails for another reason than {difference.says!r}: {result.message}"
    return ""


def cases(family: Family, results: list[Result]) -> list[Result]:
    return [result for result in results if family.focus in result.text]


def _has_run(entry: Object) -> bool:
    """Whether it is a case that has run, or a preparation that has failed."""
    is_case, state = entry["LeafNodeType"] == "It", entry["State"]
    return bool(state != "skipped" and (is_case or state != "passed"))


def _result(entry: Object) -> Result:
    texts = [*(entry["ContainerHierarchyTexts"] or ()), entry["LeafNodeText"] or entry["LeafNodeType"]]
    log = _squeezed(entry.get("CapturedGinkgoWriterOutput", ""))
    return Result(_squeezed(" ".join(texts)), entry["RunTime"] / _NANOSECONDS, _message(entry), log)


def _message(entry: Object) -> str:
    if entry["State"] == "passed":
        return ""
    return _squeezed(entry.get("Failure", {}).get("Message", "")) or str(entry["State"])


def _squeezed(text: str) -> str:
    return " ".join(text.split())
