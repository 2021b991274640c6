"""Paths that do not exist, and what they look like."""

from collections.abc import Callable

import pytest
from click.testing import Result

from tests.support.rows import rows


@pytest.mark.catalogue
@rows("line", [("explain",), ("catalogue", "export"), ("export", "customization")])
def test_text_longer_than_the_name_of_a_file_may_be_is_none(run: Callable[..., Result], line: tuple[str, ...]) -> None:
    result = run(*line, "a" * 300)

    assert result.exit_code == 2
    assert "error: " in result.stderr
