"""The definitions of the catalogue and the cases of their suites, given to tests as parameters.

A test that takes ``definition`` or another field of an entry asks about each definition, or about each to which the
mark ``applies`` says that it applies. `make laws` has one test for each of them, `make test` one for all of them:
only the process that runs it reads the catalogue then. One that takes what a sweep takes has the mark ``sweep``.
"""

import inspect
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.catalogue.entries import Entry, entries, for_sweep
from tests.support.examples import SWEEPS_ALL, few
from tests.support.rows import KINDS, rows

_SWEPT = {"swept", "objects", "reported"}


@cache
def _both() -> list[tuple[Entry, Entry]]:
    return [(entry, for_sweep(entry)) for entry in entries()]


def _id(entry: Entry) -> str:
    return ".".join(reversed(entry.folder.parts))


def _is_sweep(test: pytest.Function, names: Sequence[str]) -> bool:
    return not _SWEPT.isdisjoint(names) or test.get_closest_marker("sweep") is not None


def _asked(test: pytest.Function, names: Sequence[str]) -> list[Entry]:
    """Return each entry that a test asks about."""
    mark = test.get_closest_marker("applies")
    chosen = [few for entry, few in _both() if mark is None or mark.args[0](entry)]
    assert chosen, "a test that applies to no definition shows nothing"
    if SWEEPS_ALL or not _is_sweep(test, names):
        return chosen
    return [*few(chosen, test.function.__name__)][::2]


def _fields(entry: Entry, names: Sequence[str]) -> list[Any]:
    return [getattr(entry, name) for name in names]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = [name for name in Entry._fields if name in metafunc.fixturenames]
    if names:
        test = metafunc.definition
        table = (
            {_id(each): _fields(each, names) for each in _asked(test, names)}
            if SWEEPS_ALL
            else {KINDS: [KINDS] * len(names)}
        )
        marks = [pytest.mark.sweep] if _is_sweep(test, names) else []
        metafunc.parametrize(names, [pytest.param(*values, id=name, marks=marks) for name, values in table.items()])


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Ask about all kinds in one test."""
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.function).parameters}
    names = [name for name, value in arguments.items() if value is KINDS]
    if not names:
        return None
    table = [pytest.param(*_fields(each, names), id=_id(each)) for each in _asked(pyfuncitem, names)]
    others = {name: value for name, value in arguments.items() if name not in names}
    rows(names, table)(pyfuncitem.obj)(**others)
    return True
