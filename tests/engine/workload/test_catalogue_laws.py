"""What holds for every object in the catalogue's suites."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from karta_interpreter import GVK, Karta, Workload, WorkloadError
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta import CORE, catalogue_files
from karta_interpreter.definitions.karta.reference_resolver import Known, resolved
from karta_interpreter.engine.evaluation.pods import pod_sets
from tests.catalogue.entries import entries
from tests.support.examples import few
from tests.support.rows import rows

pytestmark = pytest.mark.sweep


@cache
def catalogued(path: Path) -> Karta:
    """The definition of a file, compiled once for all laws."""
    group, version, kind = path.parts[-4:-1]
    return Karta.catalogue()[GVK("" if group == CORE else group, version, kind)]


def workloads(path: Path) -> Iterator[Workload]:
    (entry,) = (entry for entry in entries() if path.parent.match(str(entry.folder)))
    for case in entry.swept:
        yield Workload(catalogued(path), case.call.object)


def told_of(workload: Workload) -> list[tuple[str, str, int]] | None:
    """The pod sets that Karmada is told of; None for an object that a definition has no answer for."""
    try:
        sets = pod_sets(resolved(workload.karta.definition, workload.object, Known({})), workload.object)
    except InterpretationError:
        return None
    return [(each.component, each.instance, each.replicas) for each in sets]


def found_in(workload: Workload) -> list[tuple[str, str, int]] | None:
    components = [component for component in workload.components.values() if component.has_pods]
    try:
        instances = [(each.name, instance) for each in components for instance in each.instances.values()]
    except WorkloadError:
        return None
    return [(name, instance.id, instance.replicas) for name, instance in instances if instance.has_pods]


FILES = [pytest.param(path, id=path.parent.name) for path in few(catalogue_files(), __name__)]

WITH_PODS = [each for each in FILES if each.id not in ("JobFlow", "TrainJob")]
"""Those whose objects describe their pods: a JobFlow and a TrainJob leave that to what they refer to."""


@rows("path", WITH_PODS)
def test_instances_are_the_pod_sets_that_karmada_is_told_of(path: Path) -> None:
    found = [(found_in(workload), told_of(workload)) for workload in workloads(path)]
    assert any(sets is not None for _, sets in found)
    assert [instances for instances, _ in found] == [sets for _, sets in found]


@rows("path", WITH_PODS)
def test_c35_writing_what_was_read_changes_nothing(path: Path) -> None:
    compared = 0
    for workload in workloads(path):
        before = deepcopy(workload.object)
        for component in workload.components.values() if told_of(workload) is not None else ():
            updates = (
                component.update_pod_templates(deepcopy(dict(component.pod_templates))),
                component.update_pod_specs(deepcopy(dict(component.pod_specs))),
                component.update_pod_metadata(deepcopy(dict(component.pod_metadata))),
                component.update_fragmented_pod_specs(component.fragmented_pod_specs),
            )
            assert all(updated is workload for updated in updates)
            compared += 1
        assert workload.object == before
    assert compared


@rows("path", FILES)
def test_suspending_and_resuming_are_idempotent(path: Path) -> None:
    some = list(workloads(path))
    assert some
    for workload in some:
        if not workload.karta.definition.suspend:
            with pytest.raises(WorkloadError, match="no suspendActions"):
                workload.suspend()
            continue
        suspended = workload.suspend()
        assert suspended.suspend() is suspended
        resumed = suspended.resume()
        assert resumed.resume() is resumed


@rows("path", FILES)
def test_kind_is_found_by_its_folder(path: Path) -> None:
    assert catalogued(path).gvk.kind == path.parent.name
