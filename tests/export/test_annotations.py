"""The record of an annotation has what reads it: the answers that it changes, and exported scripts that follow it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Final

import pytest
import yaml

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.k8s.edit import set_value
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, Annotation, NotExported
from karta_interpreter.definitions.karta.annotations import Annotations, annotation_path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.export import customization
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.operation import SLOTS
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import entries
from tests.proofs.conformance.customizations import Pair, Tally, compare_ours

EVERY: Final = pytest.mark.parametrize("record", [pytest.param(each, id=each.name) for each in ANNOTATIONS])

MILL: Final = yaml.safe_load("""
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: mill}
spec:
  structureDefinition:
    rootComponent:
      name: mill
      kind: {group: toys.example.com, version: v1, kind: Mill}
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        conditionsDefinition: {path: .status.conditions, typeFieldName: type, statusFieldName: status}
        statusMappings:
          running: [{byPhase: Running}]
          suspended: [{byPhase: Paused}]
          failed:
            - byConditions: [{type: Failed, status: "True"}]
            - byConditions: [{type: FailureTarget, status: "True"}]
      suspendDefinition:
        suspendActions: [{path: .spec.pause, value: "true"}]
        resumeActions: [{path: .spec.pause, value: "false"}]
    childComponents:
      - name: worker
        ownerRef: mill
        specDefinition: {podTemplateSpecPath: .spec.worker.template}
        scaleDefinition: {replicasPath: .spec.worker.replicas}
      - name: clerk
        ownerRef: mill
        specDefinition: {podTemplateSpecPath: .spec.clerk.template}
        scaleDefinition: {replicasPath: .spec.clerk.replicas}
""")
"""A definition that uses what every annotation is about."""

_KEYS: Final = [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "k"}}}]
_CONTAINER: Final = {"name": "main", "image": "m", "resources": {"requests": {"cpu": "1"}}}
_PODS: Final = {"replicas": 3, "template": {"spec": {"containers": [_CONTAINER]}}}
TEMPLATE: Final[Any] = {
    "apiVersion": "toys.example.com/v1",
    "kind": "Mill",
    "metadata": {"name": "m", "namespace": "n", "generation": 2, "labels": {"example.io/queue": "q"}},
    "spec": {
        "worker": _PODS,
        "clerk": _PODS,
        "pause": True,
        "config": "settings",
        "proxy": {"name": "proxy", "env": _KEYS, "resources": {"requests": {"cpu": "2"}}},
    },
    "status": {"active": 5, "conditions": [{"type": "FailureTarget", "status": "True"}]},
}
MEMBERS: Final[list[Any]] = [
    {
        **TEMPLATE,
        "spec": {**TEMPLATE["spec"], "pause": False, "seed": 7},
        "status": {"observedGeneration": generation, "phase": phase},
    }
    for generation, phase in ((2, "Running"), (2, "Paused"), (1, "Running"))
]
ITEMS: Final = tuple(
    StatusItem(f"member{number}", {"active": number, "phase": "Running", "pools": [{"peak": number}]})
    for number in (1, 2)
)
CALLS: Final = [Call.of(operation, TEMPLATE, member, 8, ITEMS) for operation in Operation for member in MEMBERS]
"""Calls of every operation, some of which each annotation has to answer in another way."""

_SCRIPTS: Final[Mapping[Operation, str]] = {
    Operation.INTERPRET_REPLICA: "return 99",
    Operation.INTERPRET_COMPONENT: 'return {{name = "one", replicas = 1}}',
    Operation.REVISE_REPLICA: "a.spec.worker.replicas = b return a",
    Operation.RETAIN: "a.spec.pause = nil return a",
    Operation.AGGREGATE_STATUS: "a.status = {active = 77} return a",
    Operation.INTERPRET_STATUS: "return {active = 78}",
    Operation.INTERPRET_HEALTH: 'return a.status.phase ~= "Running"',
    Operation.INTERPRET_DEPENDENCY: 'return {{apiVersion = "v1", kind = "Secret", namespace = "n", name = "s"}}',
}
TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "healthy-statuses": ("Running",),
    "aggregate": (".status.active: max\n", ".status.observedGeneration: omit\n"),
    "operations": ("InterpretHealth", "Retain"),
    "lua": tuple(
        yaml.safe_dump({SLOTS[each].field: {"luaScript": f"function {SLOTS[each].function}(a, b)\n  {body}\nend"}})
        for each, body in _SCRIPTS.items()
    ),
}
"""Texts of annotations with an effect on the calls; of any other annotation the example of its record has one."""


def _annotated(record: Annotation) -> Iterator[Definition]:
    for text in TEXTS.get(record.name, (record.example,)):
        yield load_definition(set_value(MILL, annotation_path(record.name), text))


def _answer(definition: Definition, call: Call) -> Any:
    try:
        return interpret(definition, call)
    except InterpretationError as error:
        return str(error)


@EVERY
def test_record_names_operations_whose_answers_annotation_changes(record: Annotation) -> None:
    plain = load_definition(MILL)
    changed = {
        call.operation
        for definition in _annotated(record)
        for call in CALLS
        if _answer(definition, call) != _answer(plain, call)
    }

    assert changed == record.read_by, "left: a call shows it; right: the record has it"


@EVERY
def test_exported_script_follows_annotation_or_is_rejected_with_reason(record: Annotation) -> None:
    tally = Tally()
    for definition in _annotated(record):
        for operation in filter(definition.answers, record.read_by):
            if isinstance(record.exported, NotExported):
                with pytest.raises(ExportError, match=record.exported.reason):
                    script_of(definition, operation)
                continue
            script = Script(operation, script_of(definition, operation), definition.name)
            calls = [call for call in CALLS if call.operation is operation]
            compare_ours(Pair(definition, operation, script, calls), tally)

    assert not tally.differences
    assert tally.errors == 0


def test_export_rejects_operations_that_read_annotation_without_script(monkeypatch: pytest.MonkeyPatch) -> None:
    (retain,) = (each for each in ANNOTATIONS if each.name == "retain")
    unwritten = replace(retain, exported=NotExported("no script knows the member's past"))
    monkeypatch.setattr(customization, "ANNOTATIONS", (unwritten,))
    (definition,) = _annotated(retain)

    assert script_of(load_definition(MILL), Operation.RETAIN)
    assert script_of(definition, Operation.INTERPRET_HEALTH)
    with pytest.raises(ExportError, match="annotation retain: no script knows the member's past"):
        script_of(definition, Operation.RETAIN)


class _Watched(Annotations):
    """Annotations that keep the names of the fields which are asked for."""

    asked: Final[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        _Watched.asked.add(name)
        return super().__getattribute__(name)


def _watched(definition: Definition) -> Definition:
    values = {each.name: getattr(definition.annotations, each.name) for each in fields(Annotations)}
    return replace(definition, annotations=_Watched(**values))


@pytest.mark.sweep
def test_operation_asks_for_no_annotation_without_record_of_it() -> None:
    """Also where no case shows an effect."""
    found = [(load_definition(MILL), CALLS)]
    found += [(each.definition, [case.call for case in each.swept]) for each in entries() if each.definition]
    for definition, calls in found:
        watched = _watched(definition)
        for call in calls:
            read = {each.field for each in ANNOTATIONS if call.operation in each.read_by}
            _Watched.asked.clear()
            with suppress(InterpretationError):
                own_answer(watched, call, DEFAULT_OPTIONS)
            unrecorded = {each.field for each in ANNOTATIONS} & _Watched.asked - read
            assert not unrecorded, f"{definition.name}: {call.operation}"
