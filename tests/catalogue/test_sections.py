"""Retain writes into a section of a template only if the template has it: it makes no spec of pods by itself."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import chain
from typing import Final

from karta_interpreter.base.k8s import get
from karta_interpreter.base.k8s.edit import set_value
from karta_interpreter.base.k8s.values import Object, Path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies, of_all_kinds
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import leaves

_MADE: Final = {
    "Job .spec.template.spec": "a member refuses another template of pods",
    "Elasticsearch .spec.nodeSets[].volumeClaimTemplates[].spec": "the webhook refuses other claims",
    "JobSet .spec.volumeClaimPolicies[].templates[].spec": "a member refuses other claims",
    "Sandbox .spec.volumeClaimTemplates[].spec": "a member refuses other claims",
    "SparkApplication .spec.driver.template.spec": "Kueue makes it (Start in its sparkapplication_controller.go)",
    "SparkApplication .spec.executor.template.spec": "Kueue makes it (Start in its sparkapplication_controller.go)",
    "TrainJob .spec.podTemplateOverrides[].spec": "Kueue makes the whole entry",
    "TrainJob .spec.runtimePatches[].trainingRuntimeSpec.template.spec": "Kueue makes the whole entry",
    "VirtualMachine .spec.dataVolumeTemplates[].spec": "restored disks are those of the member",
}
"""The sections that Retain makes all the same, each with the reason."""


@of_all_kinds
@applies(answers(Operation.RETAIN))
def test_no_section_is_made_that_the_template_lacks(definition: Definition, cases: Sequence[Case]) -> None:
    asked = [case.call for case in cases if case.call.operation is Operation.RETAIN and case.call.observed]
    objects = chain.from_iterable((call.object, call.observed or {}) for call in asked)
    for obj in objects:
        for section in _sections(obj):
            template = _without({key: value for key, value in obj.items() if key != "status"}, section)
            call = Call(Operation.RETAIN, template, observed=obj)
            retained = interpret(knowing(definition, template), call)["retained"]
            name = "".join("[]" if isinstance(step, int) else f".{step}" for step in section)
            assert get(retained, section) is None or f"{definition.gvk.kind} {name}" in _MADE


def _sections(obj: Object) -> set[Path]:
    """Return the paths of what is called ``spec`` within the spec of an object."""
    paths = (path for path, _ in leaves(obj.get("spec") or {}))
    return {("spec", *path[: at + 1]) for path in paths for at, step in enumerate(path[:-1]) if step == "spec"}


def _without(obj: Object, path: Path) -> Object:
    parent = deepcopy(get(obj, path[:-1]))
    del parent[path[-1]]
    return set_value(obj, path[:-1], parent)
