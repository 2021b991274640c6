"""What is written from the values.yaml of each chart: its README.md, with a table.

A comment describes the key below it. A mapping whose keys have comments is a section, anything else a value.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import yaml

CHARTS = Path(__file__).parent / "helm"
BEGIN, END = "<!-- values: written by deploy/write_readme.py -->\n", "<!-- end of values -->\n"


def rows(node: yaml.Node | None, lines: list[str], above: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a line of the table for each value."""
    for key, value in node.value if node else ():
        path = (*above, key.value)
        if _is_section(value, lines):
            yield from rows(value, lines, path)
            continue
        default = json.dumps(yaml.safe_load(yaml.serialize(value)), ensure_ascii=False)
        meaning = _comment(key.start_mark.line, lines)
        yield f"| `{'.'.join(path)}` | `{default}` | {meaning} |"


def table(text: str) -> str:
    """Return the table of a values.yaml."""
    node = yaml.compose(text)
    head = ["| value | default | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows(node, text.splitlines())]) + "\n"


def _is_section(value: yaml.Node, lines: list[str]) -> bool:
    if not isinstance(value, yaml.MappingNode) or value.flow_style:
        return False
    return any(_comment(key.start_mark.line, lines) for key, _ in value.value)


def _comment(line: int, lines: list[str]) -> str:
    first = line
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return " ".join(text.strip().removeprefix("#").strip() for text in lines[first:line]).replace("|", "\\|")


def pages() -> dict[Path, str]:
    """Return the README of every chart by its path."""
    return {chart / "README.md": page(chart) for chart in sorted(CHARTS.iterdir())}


def page(chart: Path) -> str:
    """Return the README of a chart, with the table of its values as they are now."""
    before, _, rest = (chart / "README.md").read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + table((chart / "values.yaml").read_text(encoding="utf-8")) + END + after
