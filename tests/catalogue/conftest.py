"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``case`` runs once per case, with the ``definition`` that has to answer it. Any other test that takes
``definition``, ``loaded``, ``folder`` or ``cases`` runs once per definition.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from interpreter.karta.definition import Definition
from interpreter.karta.loading import Loaded, load_documents
from interpreter.suites import Case, find_suites, load_suite

_KARTAS = Path(__file__).parents[2] / "kartas"


class _Entry(NamedTuple):
    """One folder of the catalogue; ``definition`` is None when the Karta in it has errors."""

    folder: Path
    loaded: Loaded
    definition: Definition | None
    cases: Sequence[Case]


@cache
def _entries() -> tuple[_Entry, ...]:
    return tuple(_entry(path) for path in sorted(_KARTAS.rglob("karta.yaml")))


def _entry(path: Path) -> _Entry:
    (loaded,) = load_documents(path.read_text(encoding="utf-8"), str(path.relative_to(_KARTAS)))
    cases = [case for suite in find_suites(path.parent) for case in load_suite(suite)]
    return _Entry(path.parent.relative_to(_KARTAS), loaded, loaded.definition, cases)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    wanted = metafunc.fixturenames
    if "case" in wanted:
        golden = [(entry, case) for entry in _entries() for case in entry.cases]
        ids = [f"{entry.folder.name}-{case.call.operation}-{case.name}" for entry, case in golden]
        metafunc.parametrize(("definition", "case"), [(entry.definition, case) for entry, case in golden], ids=ids)
        return
    names = [name for name in _Entry._fields if name in wanted]
    if names:
        values = [tuple(getattr(entry, name) for name in names) for entry in _entries()]
        metafunc.parametrize(names, values, ids=[entry.folder.name for entry in _entries()])
