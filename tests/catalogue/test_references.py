"""What definitions answer while something that they refer to does not exist, as a server finds it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NoReturn

import pytest

from karta_interpreter.base.errors import InterpretationError, QueryReferenceError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.base.karmada import Results
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known, ReferenceReader, resolved
from karta_interpreter.engine.evaluation.pods import unknown_requests
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import applies

_FLOW = GVK("flow.volcano.sh", "v1alpha1", "JobFlow")
_TEMPLATE = GVK("flow.volcano.sh", "v1alpha1", "JobTemplate")


@applies(lambda entry: entry.definition is not None and entry.definition.gvk == _FLOW)
def test_missing_job_template_costs_only_the_count(definition: Definition, cases: Sequence[Case]) -> None:
    case = next(case for case in cases if case.call.operation is Operation.INTERPRET_DEPENDENCY)
    first = Known.of(case.references[:1], complete=[_TEMPLATE])
    found = interpret(definition, case.call, reader=first)["dependencies"]
    everything = interpret(definition, case.call, reader=Known.of(case.references))["dependencies"]
    assert found == everything, "all is needed by the first job, and by the flow itself"
    none = Known.of([], complete=[_TEMPLATE])
    interpret(definition, case.call, reader=none)
    for operation, reader in product((Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT), (first, none)):
        with pytest.raises(InterpretationError, match="a JobTemplate does not exist"):
            interpret(definition, Call(operation, case.call.object), reader=reader)


_EVERY = (Operation.INTERPRET_DEPENDENCY, Operation.RETAIN)
_COUNTS = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT)
_COUNTED_ELSEWHERE = {
    _FLOW: "the tasks of all jobs are in JobTemplates (`createJob` in pkg/controllers/jobflow of Volcano)",
    GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob"): "all Jobs are in the runtime (pkg/runtime/core)",
    **{
        GVK("serving.kserve.io", version, "LLMInferenceService"): "configs add counts and stages (config_merge.go)"
        for version in ("v1alpha1", "v1alpha2")
    },
}
"""The kinds whose number of pods is in other objects."""
_CASES_COUNTED_ELSEWHERE = {
    "of a WorkflowTemplate that is there": "a Workflow without parallelism has that of its template (JoinWorkflowSpec)",
    "nodes and GPUs of the runtime": "an InferenceService leaves its nodes to the runtime (multiNodeProcess)",
    "a pipeline without Ray": "the runtime says so (multiNodeProcess)",
}
"""The cases of other kinds whose number of pods is in another object."""


def _lacking(definition: Definition, case: Case) -> Iterator[Known]:
    """Yield what is known while each referenced object is missing or empty, and while no kind can be looked up."""
    complete = [reference.gvk for reference in definition.references]
    yield Known({})
    yield Known.of([], complete)
    for position, gone in enumerate(case.references):
        others = [*case.references[:position], *case.references[position + 1 :]]
        yield Known.of(others, complete)
        bare = {**GVK.of(gone).type_meta, "metadata": gone["metadata"]}
        yield Known.of([*others, bare], complete)


@pytest.mark.sweep
@applies(lambda entry: entry.definition is not None and entry.definition.references)
def test_absent_reference_costs_only_what_it_says(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        for reader in _lacking(definition, case):
            for operation in filter(definition.answers, _EVERY):
                call = Call(operation, case.call.object, observed=case.call.object)
                results = interpret(definition, call, reader=reader)
                assert results.get("retained", case.call.object) == case.call.object
            for operation in filter(definition.answers, _COUNTS):
                call = Call(operation, case.call.object)
                try:
                    whole = interpret(definition, call, reader=Known.of(case.references))
                except InterpretationError:
                    continue
                if definition.gvk in _COUNTED_ELSEWHERE or case.name in _CASES_COUNTED_ELSEWHERE:
                    continue
                assert _count(interpret(definition, call, reader=reader)) == _count(whole), case.name


@applies(lambda entry: entry.definition is not None and entry.definition.references)
def test_refused_count_names_each_object_that_is_absent(definition: Definition, cases: Sequence[Case]) -> None:
    """Whoever reads the error creates all of them, and not the first one only."""
    nothing = Known.of([], [reference.gvk for reference in definition.references])
    for case, operation in product(cases, filter(definition.answers, _COUNTS)):
        error = ""
        try:
            interpret(definition, Call(operation, case.call.object), reader=nothing)
        except InterpretationError as refused:
            error = str(refused)
        absent = resolved(definition, case.call.object, nothing).absent
        assert not error or [reason for reason in absent if reason not in error] == [], case.name


_DEFAULTS = {
    "scheduler": "the preset of an LLMInferenceService's scheduler requests 1 CPU and 2Gi",
    "kserve-container": "KServe gives the container of a custom predictor, which has no runtime, 1 CPU and 2Gi",
    "transformer": "a transformer has no runtime, and its container gets the same",
}
"""What an object says if it has pods that an operator's default gives an amount, whatever is absent."""


@applies(lambda entry: entry.definition is not None and entry.definition.references)
def test_requests_beside_absent_references_are_written_in_the_object(
    definition: Definition, cases: Sequence[Case]
) -> None:
    """What an operator adds to every pod is no request of a pod that is described elsewhere, for each resource alone.

    Each model of an InferenceService is served by a runtime, also one that names none. Disks are in no reference.
    """
    nothing = Known.of([], [reference.gvk for reference in definition.references])
    for case, left_out in product(cases, (None, "cpu", "memory")):
        if not case.references and definition.gvk.kind != "InferenceService":
            continue
        object_ = _without(left_out, case.call.object)
        written = json.dumps(object_)
        try:
            results = interpret(definition, Call(Operation.INTERPRET_REPLICA, object_), reader=nothing)
        except InterpretationError:
            continue
        requests = (results.get("requires") or {}).get("resourceRequest") or {}
        added = [name for name in requests if f'"{name}"' not in written and name != "ephemeral-storage"]
        assert not added or any(f'"{name}"' in written for name in _DEFAULTS), f"{case.name}: {added}"


_MAIN: JSON = {"containers": [{"name": "main", "image": "main"}]}
_SCHEDULER: JSON = {"containers": [{"name": "main", "resources": {"requests": {"cpu": 1, "memory": "2Gi"}}}]}
_TOKENIZER: JSON = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1", "memory": "4Gi"}}}]}
_PRESETS: Mapping[str, JSON] = {
    "template": {"template": _MAIN},
    "decode-template": {"template": _MAIN},
    "worker-data-parallel": {"template": _MAIN, "worker": _MAIN},
    "decode-worker-data-parallel": {"template": _MAIN, "worker": _MAIN},
    "prefill-template": {"prefill": {"template": _MAIN}},
    "prefill-worker-data-parallel": {"prefill": {"template": _MAIN, "worker": _MAIN}},
    "scheduler": {"router": {"scheduler": {"template": _SCHEDULER}}},
    "tokenizer": {"router": {"scheduler": {"tokenizer": {"template": _TOKENIZER}}}},
}
"""What KServe's own configs of a service have (config/llmisvcconfig of 0.20+aaac4e2): only two request anything."""


@applies(lambda entry: entry.definition is not None and entry.definition.gvk.kind == "LLMInferenceService")
def test_absent_presets_are_taken_for_those_of_kserve(definition: Definition, cases: Sequence[Case]) -> None:
    """KServe lays each service on its presets, also one without ``baseRefs``; the control plane may not have them."""
    kinds = [reference.gvk for reference in definition.references]
    presets: list[Object] = [
        {**kinds[0].type_meta, "metadata": {"name": f"kserve-config-llm-{name}", "namespace": "kserve"}, "spec": spec}
        for name, spec in _PRESETS.items()
    ]
    asked = [case for case in cases if not case.references]
    for case, operation in product(asked, _COUNTS):
        beside = [_answer(definition, Call(operation, case.call.object), known, kinds) for known in ([], presets)]
        assert beside[0] == beside[1], case.name


def _answer(definition: Definition, call: Call, known: Sequence[Object], kinds: Sequence[GVK]) -> JSON:
    """Return the numbers of pods and their requests, or the error."""
    try:
        results = interpret(definition, call, reader=Known.of(known, kinds))
    except InterpretationError as error:
        return str(error)
    parts = results.get("components") or [{"replicas": results["replica"], "replicaRequirements": results["requires"]}]
    return [[each["replicas"], (each.get("replicaRequirements") or {}).get("resourceRequest")] for each in parts]


def _without(resource: str | None, value: JSON) -> JSON:
    """Return the value without the amounts of a resource, as if its author had named the other ones only."""
    if isinstance(value, list):
        return [_without(resource, item) for item in value]
    if isinstance(value, dict):
        return {key: _without(resource, item) for key, item in value.items() if key != resource}
    return value


def _count(results: Results) -> int:
    components = results.get("components")
    return results["replica"] if components is None else sum(each["replicas"] for each in components)


@applies(lambda entry: entry.definition and entry.definition.annotations.unread)
def test_requests_that_cannot_be_known_are_named_beside_a_count(definition: Definition, cases: Sequence[Case]) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.call.operation in _COUNTS and case.error is None:
            whole = resolved(definition, case.call.object, Known.of(case.references))
            if parts := unknown_requests(whole, case.call.object):
                assert _count(interpret(definition, case.call, reader=Known.of(case.references))), case.name
                seen.update(part.reason for part in parts)
    assert seen == {part.reason for part in definition.annotations.unread}


class _WithoutRoom(ReferenceReader):
    """What a server knows if objects of one kind have no room, or cannot be decoded."""

    def __init__(self, known: Known, gvk: GVK) -> None:
        self._known, self._gvk = known, gvk

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        return self._fail() if gvk == self._gvk else self._known.get(gvk, namespace, name)

    def list(self, gvk: GVK, namespace: str) -> Sequence[Object]:
        return self._fail() if gvk == self._gvk else self._known.list(gvk, namespace)

    def _fail(self) -> NoReturn:
        raise QueryReferenceError("not all objects have room")


@pytest.mark.sweep
@applies(lambda entry: entry.definition is not None and entry.definition.references)
def test_reference_without_room_is_an_error_and_no_smaller_answer(
    definition: Definition, cases: Sequence[Case]
) -> None:
    failed = 0
    for case, operation in product(cases, filter(definition.answers, (*_EVERY, *_COUNTS))):
        call = Call(operation, case.call.object, observed=case.call.object)
        known = Known.of(case.references, [reference.gvk for reference in definition.references])
        for gvk in dict.fromkeys(reference.gvk for reference in definition.references):
            try:
                results = interpret(definition, call, reader=_WithoutRoom(known, gvk))
            except InterpretationError as error:
                failed += "have room" in str(error)
                continue
            assert results == interpret(definition, call, reader=known), (case.name, operation, gvk)
    assert failed, "some answer needs what has no room"
