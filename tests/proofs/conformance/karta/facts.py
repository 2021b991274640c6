"""What our library answers to a recorded question, fact by fact, in the form of the recorded answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, TypeAlias

import orjson

from karta_interpreter import Component, FragmentedPodSpec, Karta, Workload
from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta import Fragments
from karta_interpreter.engine.evaluation.attribution import extract_group_keys
from tests.proofs.conformance.gojq.asking import FAILED, same

Ask: TypeAlias = Callable[[Workload, Object], JSON]
"""A question about a workload, or about a pod of it."""

_SCALE = ("replicas", "minReplicas", "maxReplicas")
_PIECES: Mapping[str, str] = {
    "schedulerName": "scheduler_name",
    "labels": "labels",
    "annotations": "annotations",
    "resources": "resources",
    "resourceClaims": "resource_claims",
    "podAffinity": "pod_affinity",
    "nodeAffinity": "node_affinity",
    "containers": "containers",
    "container": "container",
    "priorityClassName": "priority_class_name",
    "image": "image",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A value, or `FAILED` and the text of the error."""

    value: JSON
    error: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is an error."""
        return self.value is FAILED

    @classmethod
    def recorded(cls, answer: Mapping[str, Any]) -> "Answer":
        """An answer of Karta's library."""
        return cls(FAILED, answer["error"]) if "error" in answer else cls(answer["value"])

    @classmethod
    def of(cls, ask: Callable[[], JSON]) -> "Answer":
        """An answer of ours."""
        try:
            return cls(ask())
        except InterpreterError as error:
            return cls(FAILED, str(error))


@dataclass(frozen=True, slots=True)
class Fact:
    """One recorded answer compared with ours. ``kind`` is the question, ``about`` its subject."""

    kind: str
    about: str
    workload: Workload
    record: Mapping[str, Any]
    ask: Ask
    theirs: Answer
    ours: Answer
    pod: Object

    @property
    def agrees(self) -> bool:
        """Whether the two answers mean the same: an empty value is an absent one, and numbers are doubles."""
        return same(_stripped(self.theirs.value), _stripped(self.ours.value))

    def about_pod(self, pod: Object) -> "Fact":
        """The same recorded answer compared with what we answer about another pod."""
        return replace(self, pod=pod, ours=Answer.of(partial(self.ask, self.workload, pod)))


def facts(record: Mapping[str, Any]) -> Iterator[Fact]:
    """Every fact of a recorded answer, each with our own answer."""
    question, answer = record["question"], record["answer"]
    workload = Workload(_loaded(orjson.dumps(question["definition"])), question["object"])

    def fact(kind: str, about: str, recorded: Mapping[str, Any], ask: Ask, pod: Object | None = None) -> Fact:
        ours = Answer.of(partial(ask, workload, pod or {}))
        return Fact(kind, about, workload, record, ask, Answer.recorded(recorded), ours, pod or {})

    for name, of_component in answer["components"].items():
        yield fact("hasPods", name, {"value": of_component["hasPods"]}, _of_component(name, lambda each: each.has_pods))
        for kind, ask in _COMPONENT.items():
            yield fact(kind, name, of_component[kind], _of_component(name, ask))
    yield fact("status", "", answer["status"], _status)
    for pod, of_pod in zip(question["pods"], answer["pods"], strict=True):
        for kind, recorded in of_pod.items():
            yield fact(kind, pod["metadata"]["name"], recorded, _POD[kind], pod)
    for operation, recorded in zip(question["ops"], answer["ops"], strict=True):
        yield fact(f"op {operation['op']}", " ".join(operation.values()), recorded, partial(_changed, operation))


@cache
def _loaded(definition: bytes) -> Karta:
    """A definition, compiled once for all questions about it."""
    return Karta.load(orjson.loads(definition))


def _of_component(name: str, ask: Callable[[Component], JSON]) -> Ask:
    return lambda workload, _: ask(workload.component(name))


_COMPONENT: Mapping[str, Callable[[Component], JSON]] = {
    "ids": lambda component: list(component.instance_ids),
    "podTemplate": lambda component: dict(component.pod_templates),
    "podSpec": lambda component: dict(component.pod_specs),
    "metadata": lambda component: dict(component.pod_metadata),
    "fragments": lambda component: {key: _pieces(spec) for key, spec in _fragmented(component).items()},
    "scale": lambda component: {key: dict(zip(_SCALE, scale, strict=True)) for key, scale in component.scales.items()},
}


def _fragmented(component: Component) -> Mapping[str, FragmentedPodSpec]:
    """The pieces as Karta's library reads them: only of a fragmented definition."""
    return component.fragmented_pod_specs if isinstance(component.definition.pods, Fragments) else {}


def _pieces(spec: FragmentedPodSpec) -> JSON:
    return {name: getattr(spec, piece) for name, piece in _PIECES.items()}


def _status(workload: Workload, _: Object) -> JSON:
    found = workload.status
    conditions = [condition._asdict() for condition in found.conditions]
    return {"phase": found.phase, "conditions": conditions, "matchedStatuses": [str(each) for each in found.matched]}


def _member(workload: Workload, pod: Object) -> JSON:
    found = workload.effective_member(pod)
    return None if found is None else {"component": found.component, "group": found.pod_group}


def _keys(workload: Workload, pod: Object) -> JSON:
    found = workload.effective_member(pod)
    component = workload.karta.definition.component(found.component) if found else None
    return list(extract_group_keys(component, found.rule.group_by, pod)) if found and component else None


_POD: Mapping[str, Ask] = {
    "component": Workload.infer_component,
    "instance": Workload.infer_instance,
    "replica": lambda workload, pod: workload.attribute([pod])[0].replica,
    "member": _member,
    "keys": _keys,
}


def _changed(operation: Mapping[str, str], workload: Workload, _: Object) -> JSON:
    match operation:
        case {"op": ("suspend" | "resume") as direction}:
            return _DIRECTIONS[direction](workload).object
        case {"op": form, "component": name}:
            return _FORMS[form](workload.component(name), operation.get("scheduler", "")).object
    raise ValueError(operation)


def _templates(component: Component, scheduler: str) -> Workload:
    """The pod templates written back as they were read, or with another scheduler."""
    read = component.pod_templates
    changed = {
        key: {**(each or {}), "spec": _scheduled((each or {}).get("spec"), scheduler)} for key, each in read.items()
    }
    return component.update_pod_templates(changed if scheduler else read)


def _specs(component: Component, scheduler: str) -> Workload:
    read = component.pod_specs
    changed = {key: _scheduled(spec, scheduler) for key, spec in read.items()}
    return component.update_pod_specs(changed if scheduler else read)


def _scheduled(spec: Object | None, scheduler: str) -> Object:
    return {**(spec or {}), "schedulerName": scheduler}


def _fragments(component: Component, scheduler: str) -> Workload:
    read = _fragmented(component)
    changed = {key: replace(spec, scheduler_name=scheduler) for key, spec in read.items()} if scheduler else read
    return component.update_fragmented_pod_specs(changed)


_DIRECTIONS: Mapping[Literal["suspend", "resume"], Callable[[Workload], Workload]] = {
    "suspend": Workload.suspend,
    "resume": Workload.resume,
}
_FORMS: Mapping[str, Callable[[Component, str], Workload]] = {
    "template": _templates,
    "spec": _specs,
    "fragments": _fragments,
}


def _stripped(value: JSON) -> JSON:
    """A value without what is empty, which Go's types leave out; None where nothing is left."""
    if isinstance(value, dict):
        fields = {key: _stripped(item) for key, item in value.items()}
        return {key: item for key, item in fields.items() if item is not None} or None
    if isinstance(value, list):
        return [_stripped(item) for item in value] or None
    return None if value == "" else value
