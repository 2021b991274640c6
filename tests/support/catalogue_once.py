"""Definitions that many tests ask about, loaded once in a process.

The definitions of the catalogue are read once for its tests, and for the program that it runs in tests. The program
does not lint them, the tests do, so here they are always linted.

Made-up definitions are loaded once for the tests of rooms that are only given definitions (`sharing`).
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path

from karta_interpreter.base.k8s import JSON
from karta_interpreter.definitions.karta import loading
from karta_interpreter.definitions.karta.catalogue import catalogue_files
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.definitions.sources import files, known_documents
from karta_interpreter.engine.workload import karta_reader
from karta_interpreter.languages.jq import query

_SOURCES = frozenset(map(str, catalogue_files()))


def share_definitions() -> None:
    """Have the program take the definitions of the catalogue from here."""
    vars(files).update(without_linting=nullcontext)
    vars(known_documents).update(load_documents=_load_documents)
    vars(karta_reader).update(load_documents=_load_documents)
    vars(query).update(_PLAIN={})  # programs stay: other tests have the same expressions


@contextmanager
def sharing() -> Iterator[None]:
    """Have equal objects become one definition in the block, with the expressions that it has compiled."""
    vars(loading).update(load_object=_load_object)
    try:
        yield
    finally:
        vars(loading).update(load_object=_LOAD_OBJECT)


def definition_of(path: Path) -> Loaded:
    """The definition of a file of the catalogue, with all that is found in it."""
    (loaded,) = _read(path.read_text(encoding="utf-8"), str(path))
    return loaded


@cache
def _read(text: str, source: str) -> tuple[Loaded, ...]:
    return tuple(loading.load_documents(text, source))


def _load_documents(text: str, source: str) -> list[Loaded]:
    return [*_read(text, source)] if source in _SOURCES else loading.load_documents(text, source)


_LOAD_OBJECT = loading.load_object
_OBJECTS = dict[str, Loaded]()


def _load_object(value: JSON, source: str) -> Loaded:
    key = f"{value!r} {source!r}"  # also tells 1 from true, and one order of fields from another
    if key not in _OBJECTS:
        # A copy: the test may go on to change what it has.
        _OBJECTS[key] = _LOAD_OBJECT(copy.deepcopy(value), source)
    return _OBJECTS[key]
