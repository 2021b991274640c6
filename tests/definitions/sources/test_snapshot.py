from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import cast

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.languages.lua.script import Script, Scripts


def _entry(gvk: GVK) -> ServedDefinition:
    return ServedDefinition(Definition(gvk.kind, gvk, (ComponentRules(gvk.kind, "main", gvk),)), "here")


def test_snapshot_cannot_be_changed(gvk: Callable[[str], GVK]) -> None:
    entries = {gvk("Job"): _entry(gvk("Job"))}
    snapshot = Snapshot(entries)
    entries[gvk("Set")] = _entry(gvk("Set"))

    assert snapshot.kinds() == [gvk("Job")]
    with pytest.raises(TypeError):
        cast("MutableMapping[GVK, ServedDefinition]", snapshot.entries)[gvk("Set")] = _entry(gvk("Set"))


def test_kinds_are_sorted(gvk: Callable[[str], GVK]) -> None:
    kinds = [gvk("B"), gvk("A"), GVK("", "v1", "Pod")]

    assert Snapshot({kind: _entry(kind) for kind in kinds}).kinds() == [kinds[2], kinds[1], kinds[0]]


def test_generations_do_not_make_a_difference(gvk: Callable[[str], GVK]) -> None:
    snapshot = Snapshot({gvk("Job"): _entry(gvk("Job"))})

    assert replace(snapshot, generation=7) == snapshot
    assert snapshot != Snapshot()


def test_entries_with_scripts_are_known_without_a_search(gvk: Callable[[str], GVK]) -> None:
    script = Script("InterpretHealth", "function InterpretHealth(obj) return true end", "mine", "mine.yaml")
    scripted = ServedDefinition(Definition.of_scripts(gvk("Set"), Scripts((script,))), "mine.yaml")
    snapshot = Snapshot({gvk("Job"): _entry(gvk("Job")), gvk("Set"): scripted})

    assert snapshot.scripted == {gvk("Set"): scripted}
