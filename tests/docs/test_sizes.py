"""Each door of the package is as large as its plan allows: `make check` counts the nodes of the syntax tree."""

from pathlib import Path

import pytest

from docs.tools.sizes import Size, problems, sizes
from tests.support.rows import rows

_TABLE = """
| door | nodes |
|---|---|
| `base` | 2,000 |
| all | 2,000 |
"""


@rows(
    ("nodes", "problem"),
    [
        pytest.param({"base": 2060, "all": 2060}, "", id="the slack, so that few changes touch the table"),
        pytest.param({"base": 2061, "all": 2000}, "base has 2,061 nodes, planned are 2,000", id="a door too large"),
        pytest.param({"base": 2000, "all": 2061}, "all has 2,061 nodes, planned are 2,000", id="the package too large"),
        pytest.param(
            {"base": 2000, "web": 1, "all": 2001}, "the table of sizes has base, all", id="a door without a row"
        ),
    ],
)
def test_size_of_door_is_compared_with_its_row(nodes: dict[str, int], problem: str) -> None:
    counted = {door: Size(number) for door, number in nodes.items()}

    assert "".join(problems(_TABLE, counted))[: len(problem) or None] == problem


def test_size_counts_nodes_without_texts_that_stand_alone(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "a.py").write_text('"""About it."""\nb = [c for c in d if e]\n"""About b."""\n')
    (tmp_path / "__main__.py").write_text("a()\n")

    # Module, Assign, Name, Store, ListComp, c, Load, comprehension, c, Store, d, Load, e, Load
    assert sizes(tmp_path) == {"base": Size(14, 1, 1), "all": Size(14 + 5, 2, 1)}
