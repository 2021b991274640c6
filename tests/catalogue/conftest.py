"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``definition`` or another field of an entry runs once per definition, or once for each to which the
mark ``applies`` says that it applies; with ``of_all_kinds`` it is one test. One that takes what a sweep takes has the
mark ``sweep``.
"""

from functools import cache

import pytest

from tests.catalogue.entries import Entry, entries, for_sweep
from tests.support.examples import few

_SWEPT = {"swept", "objects", "reported"}


@cache
def _both() -> list[tuple[Entry, Entry]]:
    return [(entry, for_sweep(entry)) for entry in entries()]


def _id(entry: Entry) -> str:
    return ".".join(reversed(entry.folder.parts))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = [name for name in Entry._fields if name in metafunc.fixturenames]
    if names:
        mark = metafunc.definition.get_closest_marker("applies")
        chosen = [few for entry, few in _both() if mark is None or mark.args[0](entry)]
        is_sweep = not _SWEPT.isdisjoint(names)
        assert chosen, "a test that applies to no definition shows nothing"
        marks = (pytest.mark.sweep,) if is_sweep else ()
        asked = few(chosen, metafunc.function.__name__) if is_sweep else chosen
        params = [
            pytest.param(*(getattr(entry, name) for name in names), id=_id(entry), marks=marks) for entry in asked
        ]
        metafunc.parametrize(names, params)
