"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``definition`` or another field of an entry runs once per definition, or once for each to which the
mark ``applies`` says that it applies.
"""

import pytest

from tests.catalogue.entries import Entry, entries


def _id(entry: Entry) -> str:
    return ".".join(reversed(entry.folder.parts))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = [name for name in Entry._fields if name in metafunc.fixturenames]
    if names:
        mark = metafunc.definition.get_closest_marker("applies")
        chosen = [entry for entry in entries() if mark is None or mark.args[0](entry)]
        assert chosen, "a test that applies to no definition shows nothing"
        values = [tuple(getattr(entry, name) for name in names) for entry in chosen]
        metafunc.parametrize(names, values, ids=[_id(entry) for entry in chosen])
