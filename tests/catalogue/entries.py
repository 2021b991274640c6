"""The folders of the catalogue, read once: definitions, and the cases of their suites."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.identity import gvk_of
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.suites.suite import Case, find_suites, read_suite
from tests.catalogue.knowledge import remember
from tests.catalogue.shape import made
from tests.support.catalogue_once import definition_of
from tests.support.examples import EXAMPLES, swept
from tests.support.rows import Test, rows

_MADE = EXAMPLES * 2 // 3
_KARTAS = Path(__file__).parents[2] / "kartas"


class Entry(NamedTuple):
    """A version of a kind in the catalogue; ``definition`` is None when its Karta has errors.

    ``folder`` is that of a Karta of the version, and need not exist.

    ``objects`` are those of the cases, each once, and others of the same shape, and so are the ``reported`` statuses. A
    sweep takes the ``swept`` cases.
    """

    folder: Path
    text: str
    loaded: Loaded
    definition: Definition | None
    cases: Sequence[Case]
    swept: Sequence[Case]
    objects: Sequence[Object]
    reported: Sequence[Object]


def applies(holds: Callable[[Entry], object]) -> pytest.MarkDecorator:
    """Mark a test that is only about the definitions for which something holds."""
    return pytest.mark.applies.with_args(holds)


def of_all_kinds(test: Test) -> Test:
    """Have one test ask about all definitions, or all to which the mark below applies, and name each that fails.

    It is for what takes less time than a test.
    """
    (holds,) = [mark.args[0] for mark in getattr(test, "pytestmark", ()) if mark.name == "applies"] or [bool]
    names = [name for name in Entry._fields if name in inspect.signature(test).parameters]
    return rows(names, _Rows(holds, names))(test)


class _Rows:
    """The fields of entries, which are read when tests run."""

    def __init__(self, holds: Callable[[Entry], object], names: Sequence[str]) -> None:
        self._holds, self._names = holds, names

    def __iter__(self) -> Iterator[Any]:
        for entry in filter(self._holds, entries()):
            yield pytest.param(*(getattr(entry, name) for name in self._names), id=str(entry.folder))


def answers(*operations: Operation, scripted: bool = True) -> Callable[[Entry], bool]:
    """Tell whether a definition answers operations; without ``scripted`` by itself, without a script."""

    def holds(entry: Entry) -> bool:
        made = entry.definition
        return made is not None and all(
            made.answers(operation) and (scripted or not made.scripts.of(operation)) for operation in operations
        )

    return holds


def has_pods(definition: Definition) -> bool:
    """Tell whether objects of a kind describe pods, unlike a source of manifests."""
    return any(component.pods for component in definition.components)


PATHS = sorted(_KARTAS.rglob("karta.yaml"))


@cache
def entries() -> tuple[Entry, ...]:
    """Return all of them: one for each version of a kind."""
    return tuple(entry for path in PATHS for entry in entries_of(path))


@cache
def entries_of(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a file, that of the Karta's own version first."""
    return tuple(_entry(path, loaded) for loaded in definition_of(path).versions)


def entry_of(path: Path) -> Entry:
    """Return the entry of a Karta's own version."""
    return entries_of(path)[0]


def _entry(path: Path, loaded: Loaded) -> Entry:
    text = path.read_text(encoding="utf-8")
    cases = _cases(path.parent, loaded)
    if loaded.definition:
        remember(loaded.definition, cases)
    objects, reported = _objects(cases), _reported(cases)
    return Entry(
        path.parents[2].relative_to(_KARTAS) / (loaded.gvk.version if loaded.gvk else "") / path.parent.name,
        text,
        loaded,
        loaded.definition,
        cases,
        swept(cases, lambda case: case.call.operation),
        [*objects, *made(objects, _MADE, path.parent.name)],
        [*reported, *made(reported, _MADE, path.parent.name)],
    )


def _cases(folder: Path, loaded: Loaded) -> list[Case]:
    """Return the cases about one version of a kind.

    Another version than the Karta's own is asked all that the own one is asked, as far as it has the fields. A case of
    its own stands in place of one with the same name.
    """
    gvk = loaded.gvk
    own = gvk_of(loaded.definition.manifest) if loaded.definition else gvk
    texts = {str(suite): suite.read_text(encoding="utf-8") for suite in find_suites(folder)}
    if gvk is None or own is None or gvk == own:
        cases = [case for source, text in texts.items() for case in read_suite(text, source)]
        return [case for case in cases if gvk in (None, GVK.of(case.call.object))]
    own_version = rf"{re.escape(own.api_version)}(?![\w./-])"
    by_name: dict[tuple[Operation, str], Case] = {}
    for source, text in texts.items():
        about_own = source.rpartition("/")[2] != f"{gvk.version}.yaml"
        for case in read_suite(re.sub(own_version, gvk.api_version, text), source):
            is_replaced = about_own and (case.call.operation, case.name) in by_name
            if GVK.of(case.call.object) == gvk and not is_replaced and not (about_own and _lacks(gvk, own, case)):
                by_name[case.call.operation, case.name] = case
    return [*by_name.values()]


def _lacks(gvk: GVK, own: GVK, case: Case) -> bool:
    """Return whether a version has no field for a part of a case that the own version has a field for."""
    schemas = catalogue_schemas()
    if not {gvk, own} <= schemas.keys():
        return False
    objects = [case.call.object, case.call.observed or {}, *({"status": item.status} for item in case.call.items)]
    unknown_in = [
        {(at, finding.path) for at, obj in enumerate(objects) for finding in misfits(schemas[kind].schema, obj, "", {})}
        for kind in (gvk, own)
    ]
    return bool(unknown_in[0] - unknown_in[1])


def for_sweep(entry: Entry) -> Entry:
    """Return an entry with the objects and statuses of the swept cases, and the made ones."""
    others = entry.objects[len(_objects(entry.cases)) :], entry.reported[len(_reported(entry.cases)) :]
    objects, reported = [*_objects(entry.swept), *others[0]], [*_reported(entry.swept), *others[1]]
    return entry._replace(objects=objects, reported=reported)


def _objects(cases: Sequence[Case]) -> list[Object]:
    calls = [case.call for case in cases]
    return _distinct(obj for call in calls for obj in (call.object, call.observed) if obj is not None)


def _reported(cases: Sequence[Case]) -> list[Object]:
    items = [item.status for case in cases for item in case.call.items]
    statuses = [*items, *(obj.get("status") for obj in _objects(cases))]
    return _distinct(status for status in statuses if status)


def _distinct(objects: Iterable[Object]) -> list[Object]:
    """Return the objects without repetitions: many cases ask about the same one."""
    return list({json.dumps(obj): obj for obj in objects}.values())
