"""Each door of the package has as many statements as its bound allows: `make check` counts them."""

from pathlib import Path

import pytest

from docs.tools.sizes import problems, sizes
from tests.support.rows import rows

_TABLE = """
| door | statements | at most |
|---|---|---|
| `base` | 2,000 | 2,100 |
| all | 2,000 | 2,100 |
"""


@rows(
    ("found", "problem"),
    [
        pytest.param({"base": 2000, "all": 2100}, "all has 2100 statements, not 2000", id="a count that is stale"),
        pytest.param({"base": 2040, "all": 2040}, "", id="a count that is nearly right, so that few changes touch it"),
        pytest.param(
            {"base": 2101, "all": 2000}, "base has 2101 statements, at most 2100", id="a door that is too large"
        ),
        pytest.param(
            {"base": 2000, "web": 1, "all": 2001}, "the table of sizes has base, all", id="a door without a row"
        ),
    ],
)
def test_size_of_door_is_compared_with_its_row(found: dict[str, int], problem: str) -> None:
    assert "".join(problems(_TABLE, found))[: len(problem) or None] == problem


def test_size_counts_statements_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "a.py").write_text('"""About it."""\nif a: b = 1; c = 2\n')
    (tmp_path / "__main__.py").write_text("a()\n")

    assert sizes(tmp_path) == {"base": 4, "all": 5}
