"""The definitions of the catalogue, read once in a process: for its tests, and for the program that it runs in tests.

The program does not lint them, the tests do, so here they are always linted.
"""

from contextlib import nullcontext
from functools import cache
from pathlib import Path

from karta_interpreter.definitions.karta import loading
from karta_interpreter.definitions.karta.catalogue import catalogue_files
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.definitions.sources import files
from karta_interpreter.engine.workload import karta_reader

_SOURCES = frozenset(map(str, catalogue_files()))


def share_definitions() -> None:
    """Have the program take the definitions of the catalogue from here."""
    vars(files).update(load_documents=_load_documents, without_linting=nullcontext)
    vars(karta_reader).update(load_documents=_load_documents)


def definition_of(path: Path) -> Loaded:
    """The definition of a file of the catalogue, with all that is found in it."""
    (loaded,) = _read(path.read_text(encoding="utf-8"), str(path))
    return loaded


@cache
def _read(text: str, source: str) -> tuple[Loaded, ...]:
    return tuple(loading.load_documents(text, source))


def _load_documents(text: str, source: str) -> list[Loaded]:
    return [*_read(text, source)] if source in _SOURCES else loading.load_documents(text, source)
