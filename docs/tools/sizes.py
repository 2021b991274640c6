"""``python -m docs.tools.sizes``: fail if a door of the package has more statements than it may have.

The bounds are in docs/developers/architecture.md. A statement is a node of Python's grammar, docstrings included, so no
form of writing makes a part smaller. With --write the counts in the table become those of today.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "interpreter" / "karta_interpreter"
PAGE: Final = ROOT / "docs" / "developers" / "architecture.md"
ALL: Final = "all"
_ROW: Final = re.compile(r"^\| `?(\w+)`? \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)
_STALE: Final = 0.03
"""The part by which a count may differ from that in the table, so that not every change has to touch it."""


def sizes(package: Path = PACKAGE) -> Mapping[str, int]:
    """Return the statements of each door, and of the whole package."""
    found = Counter[str]()
    for file in package.rglob("*.py"):
        statements = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        found.update({file.relative_to(package).parts[0]: statements, ALL: statements})
    return {name: number for name, number in found.items() if not name.endswith(".py")}


def problems(page: str, found: Mapping[str, int]) -> Iterator[str]:
    r"""Yield a line for each door that is too large, has no row, or has a row with another number.

    >>> list(problems("| `base` | 10 | 20 |\n| all | 10 | 20 |\n", {"base": 21, "all": 10}))
    ['base has 21 statements, at most 20: a feature pays by what it replaces']
    """
    rows = {name: [int(number.replace(",", "")) for number in numbers] for name, *numbers in _ROW.findall(page)}
    if rows.keys() != found.keys():
        yield f"the table of sizes has {', '.join(rows)}, the package {', '.join(found)}"
        return
    for name, (shown, most) in rows.items():
        if found[name] > most:
            yield f"{name} has {found[name]} statements, at most {most}: a feature pays by what it replaces"
        elif abs(found[name] - shown) > _STALE * shown:
            yield f"{name} has {found[name]} statements, not {shown}: run python -m docs.tools.sizes --write"


def main() -> int:
    """Print the problems, or write the counts."""
    page, found = PAGE.read_text(encoding="utf-8"), sizes()
    if "--write" in sys.argv:
        PAGE.write_text(_ROW.sub(lambda row: row[0].replace(row[2], f"{found[row[1]]:,}", 1), page), encoding="utf-8")
        return 0
    lines = list(problems(page, found))
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
