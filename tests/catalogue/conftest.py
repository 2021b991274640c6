"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``case`` runs once per case, with the ``definition`` that has to answer it. Any other test that takes
``definition`` or another field of an entry runs once per definition.
"""

import pytest

from tests.catalogue.entries import Entry, entries


def _id(entry: Entry) -> str:
    return ".".join(reversed(entry.folder.parts))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    wanted = metafunc.fixturenames
    if "case" in wanted:
        golden = [(entry, case) for entry in entries() for case in entry.cases]
        ids = [f"{_id(entry)}-{case.call.operation}-{case.name}" for entry, case in golden]
        metafunc.parametrize(("definition", "case"), [(entry.definition, case) for entry, case in golden], ids=ids)
        return
    names = [name for name in Entry._fields if name in wanted]
    if names:
        values = [tuple(getattr(entry, name) for name in names) for entry in entries()]
        metafunc.parametrize(names, values, ids=[_id(entry) for entry in entries()])
