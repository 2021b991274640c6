"""The script of ReviseComponents writes what the definition writes, or refuses what it refuses."""

from collections.abc import Iterator

import pytest

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.component_changes import has_several_pod_sets
from tests.catalogue.component_splits import splits_of
from tests.catalogue.entries import Entry, entries
from tests.catalogue.knowledge import knowing
from tests.proofs.conformance import ours
from tests.proofs.conformance.changed_calls import without_nulls
from tests.proofs.conformance.customizations import Pair, difference
from tests.support.examples import SWEEPS_ALL, few
from tests.support.rows import rows

_OBJECTS = 3 if SWEEPS_ALL else 1


def _entries() -> Iterator[Entry]:
    yield from few([each for each in entries() if has_several_pod_sets(each)], "component revision")


@pytest.mark.sweep
@rows("entry", _entries(), ids=lambda entry: entry.folder.name)
def test_exported_script_revises_components_as_karta(entry: Entry) -> None:
    assert entry.definition
    try:
        script = Script("ReviseComponents", script_of(entry.definition, Operation.REVISE_COMPONENTS), entry.folder.name)
    except ExportError:
        return
    asked = 0
    for obj in map(without_nulls, entry.objects):  # a table of Lua has no nulls
        definition = knowing(entry.definition, obj)
        try:
            splits = list(splits_of(definition, obj, several=1))
        except InterpretationError:
            continue
        pair = Pair(definition, Operation.REVISE_COMPONENTS, script, [])
        for split in splits if len(splits[0]) > 1 else ():
            call = Call(Operation.REVISE_COMPONENTS, obj, components=split)
            assert not difference(pair, call, ours.ask(pair.question(call))), split
        asked += len(splits[0]) > 1
        if asked == _OBJECTS:
            break
