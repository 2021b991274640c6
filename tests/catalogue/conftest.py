"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``definition`` or another field of an entry runs once per definition.
"""

import pytest

from tests.catalogue.entries import Entry, entries


def _id(entry: Entry) -> str:
    return ".".join(reversed(entry.folder.parts))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = [name for name in Entry._fields if name in metafunc.fixturenames]
    if names:
        values = [tuple(getattr(entry, name) for name in names) for entry in entries()]
        metafunc.parametrize(names, values, ids=[_id(entry) for entry in entries()])
