"""What must hold for any object of a kind: tried on the objects of its suites, and on others of the same shape."""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import permutations
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, QuantityError, QueryError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.patch import diff
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.definition import Definition, PodTemplate
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.evaluation.status import match_status
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.aggregate import ENDED_CONTAINERS
from karta_interpreter.engine.registered.operations import operations_for
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies, has_pods, of_all_kinds
from tests.catalogue.knowledge import knowing

_COUNTS = (0, 1, 2, 3, 7, 12)
_LONGEST_NAME = 32
_TYPED = {"", "apps", "batch"}
"""The groups of Kubernetes' own kinds, whose types leave an empty list out."""
_BOOKKEEPING = {"generation", "resourceTemplateGeneration", "observedGeneration"}


_MADE_FROM_NOTHING = {
    GVK("milvus.io", "v1beta1", "Milvus"): "an empty spec is a standalone Milvus with an etcd and a MinIO",
    GVK("serving.kserve.io", "v1alpha1", "LLMInferenceService"): "the model is optional, and the template a preset's",
    GVK("serving.kserve.io", "v1alpha2", "LLMInferenceService"): "likewise",
}
"""Kinds whose operators run pods for an empty spec."""


class _Refused(str):
    """The message of an error in place of an answer."""

    __slots__ = ()


def _ask(definition: Definition, operation: Operation, obj: Object, replicas: int | None = None) -> JSON:
    """The only, or the first, result of an operation."""
    try:
        return next(iter(interpret(knowing(definition, obj), Call(operation, obj, replicas=replicas)).values()))
    except InterpretationError as error:
        return _Refused(error)


COUNTS = answers(Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA)


@applies(COUNTS)
def test_revised_object_has_requested_pods(definition: Definition, objects: Sequence[Object]) -> None:
    answered = 0
    for obj in objects:
        today = _ask(definition, Operation.INTERPRET_REPLICA, obj)
        for count in _COUNTS:
            revised = _ask(definition, Operation.REVISE_REPLICA, obj, count)
            if isinstance(revised, _Refused):
                assert revised, "a refusal says why"
                continue
            found = _ask(definition, Operation.INTERPRET_REPLICA, revised)
            assert found == count or (isinstance(found, _Refused) and isinstance(today, _Refused))
            answered += 1
    assert answered > 0 or Operation.REVISE_REPLICA not in operations_for(definition)


@applies(COUNTS)
def test_revising_to_todays_number_writes_nothing_but_defaults(
    definition: Definition, objects: Sequence[Object]
) -> None:
    compared = 0
    for obj in objects:
        today = _ask(definition, Operation.INTERPRET_REPLICA, obj)
        if not isinstance(today, _Refused):
            compared += 1
            revised = _ask(definition, Operation.REVISE_REPLICA, obj, today)
            assert _ask(definition, Operation.INTERPRET_REPLICA, revised) == today
            again = _ask(definition, Operation.REVISE_REPLICA, revised, today)
            assert _same(definition, Operation.REVISE_REPLICA, again, revised)
            if not definition.scripts.of(Operation.REVISE_REPLICA):
                assert not [change for change in diff(obj, revised) if not _is_default(obj, change)]
    assert compared


_DEFAULTED = {"instances", "minReplicas", "replicas", "spark.executor.instances"}


def _is_default(obj: Object, change: Mapping[str, Any]) -> bool:
    """Whether only counts were written that the object left to its API, with the objects that they lie in."""
    path = tuple(int(step) if step.isdigit() else step for step in change["path"].split("/")[1:])
    pending = [(path, change["value"])]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            pending += [((*path, name), part) for name, part in value.items()]
        elif path[-1] not in _DEFAULTED or edit.get(obj, path) is not None:
            return False
    return True


def _same(definition: Definition, operation: Operation, one: JSON, other: JSON) -> bool:
    """Whether an operation left an object as it is; a script loses nulls, and what has nothing else in it."""
    return one == other or (bool(definition.scripts.of(operation)) and _filled(one) == _filled(other))


def _filled(value: JSON) -> JSON:
    if isinstance(value, dict):
        fields = {key: _filled(item) for key, item in value.items()}
        return {key: item for key, item in fields.items() if item is not None} or None
    return [item for item in map(_filled, value) if item is not None] or None if isinstance(value, list) else value


@applies(answers(Operation.INTERPRET_COMPONENT))
def test_components_are_named_apart_and_add_up(definition: Definition, objects: Sequence[Object]) -> None:
    compared = 0
    for obj in objects:
        components = _ask(definition, Operation.INTERPRET_COMPONENT, obj)
        if isinstance(components, _Refused):
            continue
        compared += 1
        names = [component["name"] for component in components]
        assert len(set(names)) == len(names)
        assert all(0 < len(name) <= _LONGEST_NAME for name in names)
        if definition.answers(Operation.INTERPRET_REPLICA):
            total = sum(component["replicas"] for component in components)
            assert total == _ask(definition.in_pods, Operation.INTERPRET_REPLICA, obj)
    assert compared


_WITHOUT_TEMPLATES = {
    GVK("argoproj.io", "v1alpha1", "CronWorkflow"): "a pod is made of the parts of a template",
    GVK("argoproj.io", "v1alpha1", "Workflow"): "likewise",
    GVK("flink.apache.org", "v1beta1", "FlinkBlueGreenDeployment"): "a pod is made of two templates",
    GVK("flink.apache.org", "v1beta1", "FlinkDeployment"): "likewise",
    GVK("flow.volcano.sh", "v1alpha1", "JobFlow"): "the templates are in the JobTemplates that are referred to",
    GVK("spark.apache.org", "v1", "SparkApplication"): "there are pods without a template",
    GVK("postgresql.cnpg.io", "v1", "Cluster"): "a pod is made of single fields",
    GVK("serving.kserve.io", "v1alpha1", "LLMInferenceService"): "a pod is made of the templates of several objects",
    GVK("serving.kserve.io", "v1alpha2", "LLMInferenceService"): "likewise",
    GVK("sparkoperator.k8s.io", "v1beta2", "ScheduledSparkApplication"): "a pod is made of single fields",
    GVK("sparkoperator.k8s.io", "v1beta2", "SparkApplication"): "likewise",
    GVK("tekton.dev", "v1", "PipelineRun"): "a place is made of the tasks",
    GVK("tekton.dev", "v1", "TaskRun"): "a pod is made of the steps",
    GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob"): "the templates are in the runtime that is referred to",
}
"""Kinds in whose objects no template of a component stands by itself."""


def _has_templates(definition: Definition | None) -> bool:
    return definition is not None and has_pods(definition) and definition.gvk not in _WITHOUT_TEMPLATES


@applies(lambda entry: _has_templates(entry.definition))
def test_component_without_template_does_not_exist(definition: Definition, objects: Sequence[Object]) -> None:
    compared = 0
    for obj in objects:
        for name, without in _without_templates(definition, obj):
            try:
                found = pod_sets(knowing(definition, without), without)
            except InterpretationError:
                continue
            compared += 1
            assert name not in {pods.component for pods in found}
    assert compared


def _without_templates(definition: Definition, obj: Object) -> Iterator[tuple[str, Object]]:
    """Each component whose template stands somewhere in the object, and the object with null in its place.

    There may be a second place, for where there is nothing at the first.
    """
    for component in definition.components:
        if isinstance(component.pods, PodTemplate):
            without = obj
            with suppress(QueryError):
                while places := [place for place in component.pods.query.paths(without) if edit.get(without, place)]:
                    for place in places:
                        without = edit.set_value(without, place, None)
                yield component.name, without


@applies(answers(Operation.RETAIN))
def test_retaining_twice_is_retaining_once(definition: Definition, objects: Sequence[Object]) -> None:
    objects, compared = [obj for obj in objects if not has_pods(definition) or _describes_pods(definition, obj)], 0
    for index, desired in enumerate(objects):
        for observed in (desired, objects[index - 1], objects[index - 2]):
            once = _retained(definition, desired, observed)
            if not isinstance(once, _Refused):
                compared += 1
                assert _same(definition, Operation.RETAIN, _retained(definition, once, observed), once)
    assert compared


@applies(answers(Operation.RETAIN))
def test_retain_changes_nothing_of_an_object_that_is_as_desired(
    definition: Definition, objects: Sequence[Object]
) -> None:
    found = [(obj, _retained(definition, obj, obj)) for obj in objects]
    answered = [(obj, retained) for obj, retained in found if not isinstance(retained, _Refused)]
    assert answered
    assert all(_same(definition, Operation.RETAIN, retained, obj) for obj, retained in answered)


def _describes_pods(definition: Definition, obj: Object) -> bool:
    try:
        return bool(pod_sets(knowing(definition, obj), obj))
    except InterpretationError:
        return False


def _retained(definition: Definition, desired: Object, observed: Object) -> JSON:
    try:
        return interpret(knowing(definition, desired), Call(Operation.RETAIN, desired, observed=observed))["retained"]
    except InterpretationError as error:
        return _Refused(error)


@of_all_kinds
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="no spec"),
        pytest.param({"spec": {}}, id="an empty spec", marks=pytest.mark.slow),
        pytest.param({"spec": None}, id="a spec of null"),
        pytest.param({"spec": {}, "status": None}, id="a status of null", marks=pytest.mark.slow),
    ],
)
def test_bare_object_has_no_pods(definition: Definition, spec: Object) -> None:
    bare = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, "metadata": {"name": "a"}, **spec}
    wanted: Mapping[Operation, JSON] = {
        Operation.INTERPRET_COMPONENT: [],
        Operation.INTERPRET_REPLICA: 0,
        Operation.INTERPRET_STATUS: {},
        Operation.INTERPRET_HEALTH: False,
        Operation.INTERPRET_DEPENDENCY: [],
    }
    counted = (
        () if definition.gvk in _MADE_FROM_NOTHING else (Operation.INTERPRET_COMPONENT, Operation.INTERPRET_REPLICA)
    )
    asked = (Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH, Operation.INTERPRET_DEPENDENCY, *counted)
    answered = {operation: wanted[operation] for operation in asked if definition.answers(operation)}
    assert {operation: _ask(definition, operation, bare) for operation in answered} == answered
    if definition.answers(Operation.RETAIN):
        assert _same(definition, Operation.RETAIN, _retained(definition, bare, bare), bare)


@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_status_of_one_cluster_is_taken_as_it_is(definition: Definition, reported: Sequence[Object]) -> None:
    said_otherwise = {path[1] for path, rule in definition.annotations.aggregate.items() if rule in ("omit", "drop")}
    if definition.annotations.outcomes:
        said_otherwise |= {"conditions", "completionTime"}
    compared = 0
    for status in reported:
        aggregated = _aggregated(definition, [StatusItem("member1", status)])
        if isinstance(aggregated, _Refused):
            continue
        compared += 1
        merged = aggregated.get("status", {})
        # What the CRD requires is there even if the one cluster leaves it out, unless it says nothing about the whole.
        required = {path[1]: value for path, value in definition.annotations.required_status.items() if len(path) == 2}
        is_said = bool(status.keys() - said_otherwise)
        added = {key: value for key, value in required.items() if is_said and status.get(key) is None}
        expected = {key: value for key, value in {**status, **added}.items() if key not in said_otherwise}
        if definition.gvk.group in _TYPED:  # no API server returns an empty list of Kubernetes' own types
            expected = {key: value for key, value in expected.items() if value != []}
        if definition.gvk in ENDED_CONTAINERS:
            expected = {key: value for key, value in expected.items() if value or "container" not in key.lower()}
        assert {key: merged[key] for key in merged if key not in said_otherwise} == _plain(expected)
    assert compared


@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_order_of_clusters_does_not_matter(definition: Definition, reported: Sequence[Object]) -> None:
    compared = 0
    for index in range(0, len(reported), 3):
        items = [StatusItem(f"member{place}", status) for place, status in enumerate(reported[index : index + 3])]
        forth = _aggregated(definition, items)
        for other in permutations(items):
            back = _aggregated(definition, other)
            assert back == forth or isinstance(back, _Refused) is isinstance(forth, _Refused) is True
            compared += back == forth
    assert compared


@pytest.mark.sweep
@applies(answers(Operation.AGGREGATE_STATUS, scripted=False))
def test_names_of_clusters_decide_no_status(definition: Definition, cases: Sequence[Case]) -> None:
    """Of clusters that are equally badly off the first by name has the text; what it means is the same."""
    for case in cases:
        names = [item.cluster for item in case.call.items]
        statuses = [item.status for item in case.call.items]
        told = {
            _told(definition, _aggregated(definition, list(map(StatusItem, names, order))))
            for order in permutations(statuses)
        }
        assert len(told) == 1, case.name


def _told(definition: Definition, whole: JSON) -> JSON:
    """What a merged status says apart from its text: statuses, numbers, truth values and the status of conditions."""
    if isinstance(whole, _Refused):
        return "refused"
    conditions = edit.get(whole, ("status", "conditions"))
    conditions = conditions if isinstance(conditions, list) else []  # those of a JobFlow are a map of its jobs
    known = sorted(str([one.get("type"), one.get("status")]) for one in conditions)
    firsts = {path[1] for path, rule in definition.annotations.aggregate.items() if rule == "first"}
    status = whole.get("status") or {}
    numbers = {key: value for key, value in status.items() if isinstance(value, int | float) and key not in firsts}
    return json.dumps([match_status(definition, whole).matched, known, numbers], sort_keys=True)


def _aggregated(definition: Definition, items: Sequence[StatusItem]) -> JSON:
    template = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, "metadata": {"name": "a"}}
    try:
        return interpret(definition, Call(Operation.AGGREGATE_STATUS, template, items=tuple(items)))["aggregatedStatus"]
    except InterpretationError as error:
        return _Refused(error)


def _plain(value: JSON, names: Container[str] = _BOOKKEEPING) -> JSON:
    """Return a value without the generations of members."""
    if isinstance(value, dict):
        return {key: _plain(part, {"observedGeneration"}) for key, part in value.items() if key not in names}
    return [_plain(part, names) for part in value] if isinstance(value, list) else value


@pytest.mark.sweep
def test_answer_leaves_question_unchanged(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        before = deepcopy(case.call)
        try:
            interpret(definition, case.call, reader=Known.of(case.references))
        except InterpretationError:
            assert case.error is not None
        assert case.call == before, f"{case.source}:{case.line}"


@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_equal_reports_give_what_one_gives(definition: Definition, reported: Sequence[Object]) -> None:
    """Except sums, joined values, and messages, which name the clusters."""
    concatenated = {path[-1] for path, rule in definition.annotations.aggregate.items() if rule == "concat"}
    compared = 0
    for status in map(_tidy, reported):
        one, two = (
            _aggregated(definition, [StatusItem(f"member{number}", status) for number in range(clusters)])
            for clusters in (1, 2)
        )
        if isinstance(two, _Refused):
            continue
        compared += 1
        assert _halved(one, two, {*concatenated, "message"}) == one
    assert compared


def _only_when_true(definition: Definition | None) -> set[str | None]:
    """Return the types of conditions that a controller takes away instead of making them False."""
    rules = definition.annotations.aggregate.items() if definition else ()
    return {path[-1] for path, rule in rules if rule == "any" and path[1:-1] == ("conditions",)}


@applies(lambda entry: _only_when_true(entry.definition))
def test_condition_written_only_if_true_survives_cluster_without_it(definition: Definition) -> None:
    for name in _only_when_true(definition):
        ready, held = ({"type": each, "status": "True", "reason": "Held"} for each in ("Ready", name))
        reports = [{"replicas": 1, "conditions": conditions} for conditions in ([ready, held], [ready])]
        for items in permutations([StatusItem("member1", reports[0]), StatusItem("member2", reports[1])]):
            merged = _aggregated(definition, items)
            assert {**held, "message": "member1"} in edit.get(merged, ("status", "conditions"))


def _tidy(value: JSON) -> JSON:
    """Return a value without nulls, empty texts and repetitions in lists, which mean nothing or are not allowed."""
    if isinstance(value, dict):
        return {key: _tidy(part) for key, part in value.items() if part not in (None, "")}
    if not isinstance(value, list):
        return value
    parts = [_tidy(part) for part in value if part is not None]
    return list({_identity(part): part for part in parts}.values())


def _identity(element: JSON) -> JSON:
    names = [element.get(field) for field in ("type", "name")] if isinstance(element, dict) else [None]
    return next((name for name in names if name is not None), json.dumps(element))


def _halved(one: JSON, two: JSON, differing: Container[JSON]) -> JSON:
    """Return what two equal reports give as one of them gives it, if they differ in sums and certain fields alone."""
    if isinstance(one, dict) and isinstance(two, dict):
        kept = {key: one[key] for key in one if key in differing}
        return {
            key: _halved(one.get(key), value, differing) for key, value in two.items() if key not in differing
        } | kept
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [_halved(*pair, differing) for pair in zip(one, two, strict=True)]
    with suppress(QuantityError, TypeError):
        return one if Quantity.parse(two) == Quantity.parse(one) + Quantity.parse(one) else two
    return two
