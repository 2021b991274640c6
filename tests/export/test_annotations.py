"""The record of an annotation has what reads it: the answers that it changes, and exported scripts that follow it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

import pytest
import yaml

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.findings import DefinitionError
from karta_interpreter.base.k8s.edit import set_value
from karta_interpreter.base.k8s.requirements import Counting
from karta_interpreter.base.k8s.values import Path, parts_of
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, Annotation, Annotations
from karta_interpreter.definitions.karta.annotations import WHOLE, annotation_path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.check.check import check
from karta_interpreter.engine.explain import explain, outline
from karta_interpreter.engine.operations import (
    DEFAULT_OPTIONS,
    Call,
    Operation,
    Options,
    StatusItem,
    TargetComponent,
    interpret,
)
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.export.argocd_health import argocd_health
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from karta_interpreter.webhook.wire import Request, encode_results
from tests.catalogue.entries import entries
from tests.engine.explain.laws import names_annotation
from tests.proofs.conformance import ours
from tests.proofs.conformance.customizations import Pair, Tally, compare_ours
from tests.support.both_ways import compare_answers, projection_decoder
from tests.support.examples import SWEEPS_ALL, few


def _each(annotations: Sequence[Annotation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("record", [pytest.param(each, id=each.name) for each in annotations])


EVERY: Final = _each(ANNOTATIONS)

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
        "worker": {**_PODS, "quorum": 2},
        "clerk": _PODS,
        "pause": True,
        "config": "settings",
        "total": 9,
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
_DELIVERED: Final = {"annotations": {"resourcetemplate.karmada.io/generation": "2"}}
OLDER: Final[Any] = {**TEMPLATE, "metadata": {**TEMPLATE["metadata"], **_DELIVERED}, "status": {"phase": "Running"}}
"""A member with an operator that writes no generation."""
ITEMS: Final = tuple(
    StatusItem(f"member{number}", {"active": number, "phase": "Running", "pools": [{"peak": number}]})
    for number in (1, 2)
)
PAUSED: Final = (ITEMS[0], StatusItem("member2", {**ITEMS[1].status, "phase": "Paused"}))
FINISHED: Final = tuple(StatusItem(item.cluster, {"phase": "Finished", "finished": 4}) for item in ITEMS)
OF_RELEASES: Final = (ITEMS[0], StatusItem("member2", OLDER["status"]))
COMPONENTS: Final = (TargetComponent("worker", 5), TargetComponent("clerk", 2))
CALLS: Final = [
    *(Call.of(operation, TEMPLATE, member, 8, ITEMS, COMPONENTS) for operation in Operation for member in MEMBERS),
    *(
        Call.of(Operation.AGGREGATE_STATUS, TEMPLATE, MEMBERS[0], 8, items, COMPONENTS)
        for items in (PAUSED, FINISHED, OF_RELEASES)
    ),
    Call.of(Operation.INTERPRET_STATUS, TEMPLATE, OLDER, 8, ITEMS, COMPONENTS),
]
"""Calls of every operation, some of which each annotation has to answer in another way."""

_SCRIPTS: Final[Mapping[Operation, str]] = {
    Operation.INTERPRET_REPLICA: "return 99",
    Operation.INTERPRET_COMPONENT: 'return {{name = "one", replicas = 1}}',
    Operation.REVISE_REPLICA: "a.spec.worker.replicas = b return a",
    Operation.REVISE_COMPONENTS: "a.spec.worker.replicas = b[1].replicas + 1 return a",
    Operation.RETAIN: "a.spec.pause = nil return a",
    Operation.AGGREGATE_STATUS: "a.status = {active = 77} return a",
    Operation.INTERPRET_STATUS: "return {active = 78}",
    Operation.INTERPRET_HEALTH: 'return a.status.phase ~= "Running"',
    Operation.INTERPRET_DEPENDENCY: 'return {{apiVersion = "v1", kind = "Secret", namespace = "n", name = "s"}}',
}
TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "elastic": ("worker", "none"),
    "healthy-statuses": ("Running", "Suspended"),
    "aggregate": (".status.active: max\n", ".status.observedGeneration: omit\n"),
    "operations": ("InterpretHealth", "Retain"),
    "later-status": (".status.active: .status.ready // 5\n", ".status.observedGeneration: 'null'\n"),
    "lua": tuple(
        yaml.safe_dump({SLOTS[each].field: {"luaScript": f"function {SLOTS[each].function}(a, b)\n  {body}\nend"}})
        for each, body in _SCRIPTS.items()
    ),
}
"""Texts of annotations with an effect on the calls; of any other annotation the example of its record has one."""


_PLAIN: Final = load_definition(MILL)
_MAPPINGS: Final = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings", "completed")
_ENDING: Final = set_value(MILL, _MAPPINGS, [{"byPhase": "Finished"}])
"""The same of a workload that completes, which some annotations are about."""
_OPTIONS: Final = [
    pytest.param(
        Options(resource_quota_estimate=estimate, pod_requests=counting), id=f"{counting}{' quota' * estimate}"
    )
    for counting in Counting
    for estimate in (False, True)
]


def _base(record: Annotation) -> Any:
    return _ENDING if record.name == "completions" else MILL


def _annotated(record: Annotation) -> Iterator[Definition]:
    for text in TEXTS.get(record.name, (record.example,)):
        yield load_definition(set_value(_base(record), annotation_path(record.name), text))


def _answer(definition: Definition, call: Call, options: Options = DEFAULT_OPTIONS) -> Any:
    try:
        return interpret(definition, call, options)
    except InterpretationError as error:
        return str(error)


@_each(few(ANNOTATIONS, "served"))
@pytest.mark.sweep
@pytest.mark.parametrize("options", _OPTIONS if SWEEPS_ALL else _OPTIONS[-1:])
def test_record_names_operations_whose_served_answers_annotation_changes(record: Annotation, options: Options) -> None:
    changed, plain = set(), load_definition(_base(record))
    for definition in _annotated(record):
        for operation in Operation:
            read = projection_decoder(definition, operation)
            assert read or definition.scripts.of(operation) or not definition.answers(operation)
            for call in (each for each in CALLS if each.operation is operation):
                if read:
                    compare_answers(definition, call, read, options)
                if _answer(definition, call, options) != _answer(plain, call, options):
                    changed.add(operation)

    assert changed == record.read_by, "left: a call shows it; right: the record has it"


@_each(few(ANNOTATIONS, "explained"))
@pytest.mark.sweep
def test_explanation_names_annotation_that_changes_the_answer(record: Annotation) -> None:
    plain = load_definition(_base(record))
    for definition in _annotated(record):
        for call in CALLS:
            if _answer(definition, call) != _answer(plain, call):
                found = (explain(definition, call), outline(definition, call.operation))
                assert any(names_annotation(each, record.name) for each in found), call.operation


@_each(few(ANNOTATIONS, "exported"))
@pytest.mark.sweep
def test_exported_script_follows_annotation_or_is_refused_with_reason(record: Annotation) -> None:
    tally, unannotated = Tally(), load_definition(_base(record))
    for definition in _annotated(record):
        for operation in filter(definition.answers, record.read_by):
            calls = [call for call in CALLS if call.operation is operation]
            script, refusal = _script(definition, operation)
            if refusal:
                assert f"annotation {record.name}: " in refusal
                continue
            pair, plain = (
                Pair(each, operation, Script(operation, text, each.name), calls)
                for each, text in ((definition, script), (unannotated, script_of(unannotated, operation)))
            )
            compare_ours(pair, tally)
            # A comparison lets a script give more than the Karta, so each change is looked for as well.
            for call in calls:
                if _answer(definition, call) != _answer(unannotated, call):
                    assert ours.ask(pair.question(call)) != ours.ask(plain.question(call)), f"no code for {operation}"

    assert not tally.differences
    # Other numbers and components than the present ones, with `elastic: none`, and more units than there are.
    refused = {"elastic": 2 * len(MEMBERS), "unit": len(MEMBERS)}
    assert tally.errors == refused.get(record.name, 0)


def _script(definition: Definition, operation: Operation) -> tuple[str, str]:
    """Return the exported script, or the reason why there is none."""
    try:
        return script_of(definition, operation), ""
    except ExportError as error:
        return "", str(error)


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    for key, part in parts_of(value):
        yield from _leaves(part, (*path, key))


def _replaced(record: Annotation, text: str) -> Iterator[Definition]:
    """Yield the usable definitions that have a text for one of the expressions in the record's example."""
    value = record.example if record.schema.get("type") == "string" else yaml.safe_load(record.example)
    expressions = {query.text for definition in _annotated(record) for query in definition.annotations.queries()}
    for path, leaf in _leaves(value):
        if leaf in expressions:
            other = text if not path else yaml.safe_dump(set_value(value, path, text))
            with suppress(DefinitionError):  # a place cannot be computed
                yield load_definition(set_value(_base(record), annotation_path(record.name), other))


def _error(definition: Definition, call: Call) -> str:
    """Return the message of the error that Karmada gets, nothing for an answer; any other exception is a defect."""
    try:
        encode_results(Request("1", definition.gvk, call=call), interpret(definition, call))
    except InterpretationError as error:
        return str(error)
    return ""


_MISTYPED: Final = ['error("no")', ".kind.part", "1", '"text"', "true", "null", "{}", "[]", "{a: 1}", "[1]", "{}, []"]


@_each(few(ANNOTATIONS, "mistyped"))
@pytest.mark.sweep
@pytest.mark.parametrize("text", _MISTYPED if SWEEPS_ALL else _MISTYPED[::3])
def test_expression_that_fails_or_is_mistyped_is_error_with_definition_and_annotation(
    record: Annotation, text: str
) -> None:
    definitions, failed = list(_replaced(record, text)), set()
    for definition in definitions:
        for call in CALLS:
            if message := _error(definition, call):
                failed.add(call.operation)
                assert f"definition mill, annotation {record.name}" in message
                assert message.endswith(": no") or f"`{text}`" in message

    assert failed <= record.read_by
    if definitions and text == 'error("no")':
        # What cannot be found out is not kept, and costs no dependency that another part of the definition names.
        answered = {Operation.RETAIN, Operation.INTERPRET_DEPENDENCY}
        if record.name == "later-status":  # of which InterpretStatus reads the names alone
            answered.add(Operation.INTERPRET_STATUS)
        assert failed | answered == record.read_by | answered


@EVERY
def test_crd_check_follows_every_expression_about_the_workload(record: Annotation) -> None:
    whole = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": dict.fromkeys(("kind", "metadata", "spec", "status"), whole)}
    for definition in _replaced(record, ".missing"):
        (missing,) = (each for each in definition.annotations.queries() if each.text == ".missing")
        karta, _ = read_karta(definition.manifest)
        assert karta
        found = [each for each in check(karta, schema) if each.expression == ".missing"]
        assert [each.path for each in found] == [annotation_path(record.name)] * (missing.of is WHOLE)


_UNSEEN: Final[Mapping[tuple[str, str], str]] = {
    ("operations", ".*"): "it says what is registered with Karmada",
    ("aggregate", ".status.active: max"): "it is no rule about the generation",
    ("observed-generation", "late"): "the template's status is of an older generation all the same",
}
"""Annotations of which a check needs to know nothing, with the reason."""


def _check(definition: Definition) -> object:
    """Return a health check, or the reason why there is none."""
    try:
        return argocd_health(definition)
    except ExportError as error:
        return str(error)


@pytest.mark.parametrize(
    "record", [pytest.param(each, id=each.name) for each in ANNOTATIONS if Operation.INTERPRET_HEALTH in each.read_by]
)
def test_health_check_follows_annotation_or_is_rejected_with_reason(record: Annotation) -> None:
    texts = {"healthy-statuses": ("Running, Failed",)}.get(record.name) or TEXTS.get(record.name, (record.example,))
    for text in texts:
        definition = load_definition(set_value(MILL, annotation_path(record.name), text))
        if any(name == record.name and re.match(shown, text.strip()) for name, shown in _UNSEEN):
            assert argocd_health(definition) == argocd_health(_PLAIN)
            continue
        if record.name == "lua" and not definition.scripts.of(Operation.INTERPRET_HEALTH):
            continue
        found = _check(definition)
        assert found != argocd_health(_PLAIN), f"no check of {record.name}"
        assert not isinstance(found, str) or f"annotation {record.name}: " in found


class _Watched(Annotations, frozen=True):
    """Annotations that keep the names of the fields which are asked for."""

    asked: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        _Watched.asked.add(name)
        return super().__getattribute__(name)


def _watched(definition: Definition) -> Definition:
    values = {name: getattr(definition.annotations, name) for name in Annotations.__struct_fields__}
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
