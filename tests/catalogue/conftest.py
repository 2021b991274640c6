"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``case`` runs once per case, with the ``definition`` that has to answer it. Any other test that takes
``definition`` or another field of an entry runs once per definition.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from interpreter.k8s.values import Object
from interpreter.karta.definition import Definition
from interpreter.karta.loading import Loaded, load_documents
from interpreter.suites import Case, find_suites, load_suite
from tests.catalogue.knowledge import remember
from tests.catalogue.shape import made

_MADE = 60
_KARTAS = Path(__file__).parents[2] / "kartas"


class _Entry(NamedTuple):
    """One folder of the catalogue; ``definition`` is None when the Karta in it has errors.

    ``objects`` are those of the cases and others of the same shape, and so are the ``reported`` statuses.
    """

    folder: Path
    text: str
    loaded: Loaded
    definition: Definition | None
    cases: Sequence[Case]
    objects: Sequence[Object]
    reported: Sequence[Object]


@cache
def _entries() -> tuple[_Entry, ...]:
    return tuple(_entry(path) for path in sorted(_KARTAS.rglob("karta.yaml")))


def _entry(path: Path) -> _Entry:
    text = path.read_text(encoding="utf-8")
    (loaded,) = load_documents(text, str(path.relative_to(_KARTAS)))
    cases = [case for suite in find_suites(path.parent) for case in load_suite(suite)]
    if loaded.definition:
        remember(loaded.definition, cases)
    calls = [case.call for case in cases]
    objects = [obj for call in calls for obj in (call.object, call.observed) if obj is not None]
    statuses = [*(item.status for call in calls for item in call.items), *(obj.get("status") for obj in objects)]
    reported = [status for status in statuses if status]
    return _Entry(
        path.parent.relative_to(_KARTAS),
        text,
        loaded,
        loaded.definition,
        cases,
        [*objects, *made(objects, _MADE, path.parent.name)],
        [*reported, *made(reported, _MADE, path.parent.name)],
    )


def _id(entry: _Entry) -> str:
    return ".".join(reversed(entry.folder.parts))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    wanted = metafunc.fixturenames
    if "case" in wanted:
        golden = [(entry, case) for entry in _entries() for case in entry.cases]
        ids = [f"{_id(entry)}-{case.call.operation}-{case.name}" for entry, case in golden]
        metafunc.parametrize(("definition", "case"), [(entry.definition, case) for entry, case in golden], ids=ids)
        return
    names = [name for name in _Entry._fields if name in wanted]
    if names:
        values = [tuple(getattr(entry, name) for name in names) for entry in _entries()]
        metafunc.parametrize(names, values, ids=[_id(entry) for entry in _entries()])
