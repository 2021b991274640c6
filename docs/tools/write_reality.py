"""What was compared with real controllers, for the console: the table of `make reality` as JSON."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "proofs" / "reality" / "results.md"
FILE = ROOT / "interpreter" / "karta_interpreter" / "web" / "console" / "reality.json"
_TABLE = re.compile(r"^\| kind \| controller \|.*\n\|[ -|]*\n((?:\|.*\n)*)", re.MULTILINE)
_NUMBERS = 3
"""The column of the first number of comparisons, behind kind, controller and cases; the last one counts exceptions."""


def pages() -> dict[Path, str]:
    """Return the file with the comparisons of each kind by controller and subject."""
    table = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    if table is None:
        raise SystemExit(f"{PAGE.name}: there is no table of results")
    head = _cells(table[0].partition("\n")[0])
    found: dict[str, list[dict[str, object]]] = {}
    for line in table[1].splitlines():
        kind, controller, cases, *cells = _cells(line)
        *numbers, accepted = (int(cell) if cell.isdigit() else 0 for cell in cells)
        subjects = {name: number for name, number in zip(head[_NUMBERS:], numbers, strict=False) if number}
        found.setdefault(kind, []).append(
            {
                "controller": controller,
                "cases": int(cases),
                "comparisons": sum(numbers),
                "subjects": subjects,
                "accepted": accepted,
            }
        )
    return {FILE: json.dumps(found, indent=1) + "\n"}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
