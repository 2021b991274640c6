"""Tables that one test tries: a row of them takes less time than to be a test."""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from tests.support.examples import few

Test = Callable[..., None]
KINDS = "the kinds"
"""The name of a test that asks about all kinds by itself, each of them as a row."""
_CHOSEN: list[str] = []


def choose(word: str) -> None:
    """Try the rows with a word in their names only (``--rows``)."""
    _CHOSEN[:] = [word] if word else []


def is_chosen(name: str) -> bool:
    """Return whether a row of this name is tried."""
    return all(re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", name, re.IGNORECASE) for word in _CHOSEN)


def has_rows(test: object) -> bool:
    """Return whether a test tries the rows of a table."""
    return getattr(test, "tries_rows", False) is True


def rows(names: str | Sequence[str], table: Iterable[Any], ids: Callable[[Any], str] = repr) -> Callable[[Test], Test]:
    """Try a test with all rows of a table, as ``pytest.mark.parametrize`` does, and name each row that fails.

    All rows have the same fixtures. A table that takes long to make can be an iterable that makes it when it is read.
    """
    wanted = [names] if isinstance(names, str) else [*names]

    def decorated(test: Test) -> Test:
        @functools.wraps(test)
        def of_all_rows(**fixtures: Any) -> None:
            failures, tried = list[BaseException](), 0
            for name, values in (_read(row, len(wanted), ids) for row in table):
                if not is_chosen(name):
                    continue
                tried += 1
                try:
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - the other rows are tried as well
                    error.add_note(f"row: {name}")
                    failures.append(error)
            if _CHOSEN and not tried:
                pytest.skip(f"no row has the word {_CHOSEN[0]} in its name")
            assert tried, "a test of no rows shows nothing"
            if failures:
                named = "\n".join(note for each in failures for note in each.__notes__)
                raise BaseExceptionGroup(f"{len(failures)} of {tried} rows fail\n{named}\n", failures)

        signature = inspect.signature(test)
        others = [each for each in signature.parameters.values() if each.name not in wanted]
        of_all_rows.tries_rows = True  # type: ignore[attr-defined]
        of_all_rows.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return of_all_rows

    return decorated


def few_rows(
    names: str | Sequence[str], table: Sequence[Any], ids: Callable[[Any], str] = repr
) -> Callable[[Test], Test]:
    """Try a test with every sixth row of a table, and in `make laws` with all of them.

    It is for tables that try one rule again and again, or that have other tests for what each row is about.
    """

    def decorated(test: Test) -> Test:
        tried: Test = pytest.mark.sweep(rows(names, few(table, test.__name__), ids)(test))
        return tried

    return decorated


def _read(row: Any, count: int, ids: Callable[[Any], str]) -> tuple[str, Sequence[Any]]:
    """Return the name of a row and its values."""
    name, values = None, row
    if isinstance(row, type(pytest.param())):
        name, values = row.id, row.values
    elif count == 1:
        values = [row]
    return str(name or ", ".join(map(ids, values))), values
