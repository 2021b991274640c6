"""What was compared with real controllers: the tables of `make reality` as JSON for the console, and other kinds."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.files import load_catalogue

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "proofs" / "reality" / "results.md"
FILE = ROOT / "interpreter" / "karta_interpreter" / "web" / "console" / "reality.json"
_TABLE = re.compile(r"^\| kind \| controller \|.*\n\|[ -|]*\n((?:\|.*\n)*)", re.MULTILINE)
UNJUDGED: Final = ROOT / "tests" / "proofs" / "reality" / "unjudged.yaml"
_BLOCK = re.compile(r"(?<=<!-- unjudged: begin -->\n).*?(?=<!-- unjudged: end -->)", re.DOTALL)
_NUMBERS = 3
"""The column of the first number of comparisons, behind kind, controller and cases; the last one counts exceptions."""


def pages() -> dict[Path, str]:
    """Return the file with the comparisons of each kind by controller, and the page with the other kinds."""
    text = PAGE.read_text(encoding="utf-8")
    found = judged(text)
    return {
        FILE: json.dumps(found, indent=1) + "\n",
        PAGE: _BLOCK.sub(lambda _: "".join(f"{line}\n" for line in _unjudged(found)), text),
    }


def judged(text: str) -> Mapping[str, list[dict[str, object]]]:
    """Return what was compared of each kind, by the tables of the page."""
    found: dict[str, list[dict[str, object]]] = {}
    for table in _TABLE.finditer(text):
        head = _cells(table[0].partition("\n")[0])
        for line in table[1].splitlines():
            kind, controller, cases, *cells = _cells(line)
            *numbers, accepted = (int(cell) if cell.isdigit() else 0 for cell in cells)
            subjects = {name: number for name, number in zip(head[_NUMBERS:], numbers, strict=False) if number}
            compared: dict[str, object] = {"controller": controller, "cases": int(cases), "comparisons": sum(numbers)}
            found.setdefault(kind, []).append(compared | {"subjects": subjects, "accepted": accepted})
    return found


def kind_name(gvk: GVK) -> str:
    """Return a kind as the tables have it."""
    return f"{gvk.api_version} {gvk.kind}"


def unjudged() -> list[Any]:
    """Return the kinds that no operator has judged, by their reasons."""
    reasons: list[Any] = yaml.safe_load(UNJUDGED.read_text(encoding="utf-8"))
    return reasons


def _unjudged(found: Mapping[str, object]) -> Iterator[str]:
    versions = {kind_name(entry.definition.gvk) for entry in load_catalogue().entries}
    yield f"{len(found.keys() & versions)} of the {len(versions)} kinds of the catalogue are judged by their operator."
    yield ""
    yield "| not judged | why |"
    yield "| --- | --- |"
    for each in unjudged():
        yield f"| {', '.join(each['kinds'])} | {each['reason']} |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
