#!/usr/bin/env python3
"""Write the table of values of each chart into its README.md, from values.yaml; with --check only say whether it is so.

A comment describes the key below it. A mapping whose keys have comments is a section, anything else a value.
"""

import json
import sys
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


def main() -> int:
    """Bring the READMEs up to date, or tell which are not."""
    stale = []
    for chart in sorted(CHARTS.iterdir()):
        page = chart / "README.md"
        text = page.read_text()
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        wanted = before + BEGIN + table((chart / "values.yaml").read_text()) + END + after
        if wanted != text:
            stale.append(str(page.relative_to(CHARTS.parent)))
            if "--check" not in sys.argv:
                page.write_text(wanted)
    if stale:
        sys.stderr.write(f"{'stale' if '--check' in sys.argv else 'written'}: {', '.join(stale)}\n")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
