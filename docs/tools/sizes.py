"""``python -m docs.tools.sizes``: print the size of each door of the package, and fail if one outgrows its plan.

A size is the number of nodes in Python's syntax tree. Docstrings, and other statements that are only a text, do not
count. The plans are in docs/developers/architecture.md. A door may have 3 % more than its plan, so that an ordinary
change does not touch the table.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "interpreter" / "karta_interpreter"
PAGE: Final = ROOT / "docs" / "developers" / "architecture.md"
ALL: Final = "all"
SLACK: Final = 0.03
"""The part by which a door may outgrow its plan."""
_ROW: Final = re.compile(r"^\| `?(\w+)`? \| ([\d,]+) \|$", re.MULTILINE)
_DENSE: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp)


@dataclass
class Size:
    """What a part of the package has."""

    nodes: int = 0
    statements: int = 0
    dense: int = 0
    """Comprehensions, generator expressions and conditional expressions."""

    def add(self, other: "Size") -> None:
        """Add the size of another part."""
        self.nodes += other.nodes
        self.statements += other.statements
        self.dense += other.dense

    def __str__(self) -> str:
        """Return the size in words."""
        thousandth = max(self.statements, 1) / 1000
        return f"{self.nodes:,} nodes, {self.statements:,} statements, {self.dense / thousandth:.0f} dense of 1,000"


def size(source: str) -> Size:
    r"""Return the size of a module.

    >>> str(size('"A docstring."\nx = 1 if y else 2'))
    '9 nodes, 1 statements, 1000 dense of 1,000'
    """
    counted = Size()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            counted.nodes -= 1  # this statement is not counted yet, and its text is counted later
            continue
        counted.nodes += 1
        counted.statements += isinstance(node, ast.stmt)
        counted.dense += isinstance(node, _DENSE)
    return counted


def sizes(package: Path = PACKAGE) -> Mapping[str, Size]:
    """Return the size of each door, and of the whole package."""
    total, doors = Size(), dict[str, Size]()
    for file in sorted(package.rglob("*.py")):
        counted = size(file.read_text(encoding="utf-8"))
        total.add(counted)
        door = file.relative_to(package).parts[0]
        if not door.endswith(".py"):
            doors.setdefault(door, Size()).add(counted)
    return {**doors, ALL: total}


def problems(page: str, counted: Mapping[str, Size]) -> Iterator[str]:
    r"""Yield a line for each door without a plan, and for each that outgrows it.

    >>> list(problems("| `base` | 100 |\n| all | 200 |\n", {"base": Size(103), "all": Size(210)}))
    ['all has 210 nodes, planned are 200, and 3 % more are allowed']
    """
    plans = {door: int(number.replace(",", "")) for door, number in _ROW.findall(page)}
    if plans.keys() != counted.keys():
        yield f"the table of sizes has {', '.join(plans)}, the package {', '.join(counted)}"
        return
    for door, plan in plans.items():
        if counted[door].nodes > plan * (1 + SLACK):
            yield f"{door} has {counted[door].nodes:,} nodes, planned are {plan:,}, and 3 % more are allowed"


def main() -> int:
    """Print the sizes and the problems, and return the exit code."""
    counted = sizes()
    for door, number in counted.items():
        sys.stdout.write(f"{door}: {number}\n")
    lines = list(problems(PAGE.read_text(encoding="utf-8"), counted))
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
