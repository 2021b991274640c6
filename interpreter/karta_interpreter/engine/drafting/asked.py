"""Evidence from a customization: its answers about objects stand for the pods that a member would run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from math import inf
from typing import Final

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.k8s import JSON, Object, get, objects_in, set_value
from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.definitions.openapi.draft.pod_fields import OPAQUE, Form, PodsField, find_pods
from karta_interpreter.definitions.openapi.observed import completed
from karta_interpreter.definitions.openapi.schema import (
    CustomKind,
    below,
    entries,
    fields,
    is_pod_spec,
    is_pod_template,
    listed_texts,
)
from karta_interpreter.engine.operations import Call, Operation, Results
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.languages.jq import Query

MOST_PODS: Final = 1000
"""The most pods of an object that a draft looks at."""
_DEEPEST: Final = 20
_LABEL: Final = "example.com/component"
"""Made up: an answer has the names of components, and nobody tells the labels of their pods."""
_VOLUMES: Final[Mapping[JSON, tuple[str, str]]] = {
    "ConfigMap": ("configMap", "name"),
    "Secret": ("secret", "secretName"),
    "PersistentVolumeClaim": ("persistentVolumeClaim", "claimName"),
}

Ask = Callable[[Call], Results]
"""Returns the answer to a call, empty without one."""


def answered_evidence(kind: CustomKind, objects: Sequence[Object], ask: Ask) -> Iterator[Evidence]:
    """Yield objects with the pods that answers count, and copies of them with other numbers.

    The numbers of a copy are different primes, so that no two products of them are the same.
    """
    places = [pods for pods in find_pods(completed(kind.schema, objects)) if pods.form is not Form.FRAGMENTS]
    for obj in objects:
        for each in (obj, {**obj, "spec": _renumbered(obj.get("spec"), _primes())}):
            pods = _pods(each, _templates(places, each), ask)
            if pods:
                yield Evidence(each, tuple(pods), now=inf)


def sample_of(kind: CustomKind) -> Object:
    """Return an object with every field of a schema. The pods of each template request something else."""
    sizes = count(1)

    def sample(schema: Object, name: str, depth: int) -> JSON:
        is_template = is_pod_template(schema) or (name in OPAQUE and name != "podSpec")
        if is_template or is_pod_spec(schema) or name in OPAQUE:
            size = next(sizes)
            requests = {"cpu": str(size), "memory": f"{size}Gi"}
            pod: Object = {"containers": [{"name": "main", "image": "main", "resources": {"requests": requests}}]}
            return {"spec": pod} if is_template else pod
        if depth == _DEEPEST:
            return None
        inner = entries(schema, "items")
        if inner is not None:
            return [sample(inner, "", depth + 1)]
        if values := entries(schema, "additionalProperties"):
            return {"a": sample(values, "", depth + 1)}
        types: Mapping[JSON, JSON] = {"integer": 1, "number": 1, "boolean": False, "string": name or "a"}
        value = types.get(schema.get("type"), 1 if schema.get("x-kubernetes-int-or-string") else None)
        value = schema.get("default", next(iter(listed_texts(schema)), value))
        inside = {field: sample(each, field, depth + 1) for field, each in fields(schema)}
        return {field: each for field, each in inside.items() if each is not None} or value

    metadata = {"name": "sample", "namespace": "default"}
    return {**kind.gvk.type_meta, "metadata": metadata, "spec": sample(below(kind.schema, "spec"), "", 0) or {}}


def _primes() -> Iterator[int]:
    return (number for number in count(2) if all(number % divisor for divisor in range(2, number)))


def _renumbered(value: JSON, numbers: Iterator[int]) -> JSON:
    if isinstance(value, dict):
        return {name: _renumbered(each, numbers) for name, each in value.items()}
    if isinstance(value, list):
        return [_renumbered(each, numbers) for each in value]
    return next(numbers) if type(value) is int else value


def _templates(places: Sequence[PodsField], obj: Object) -> Iterator[Object]:
    for pods in places:
        try:
            templates = objects_in(Query.compile(pods.place.jq).evaluate(obj))
        except QueryError:
            continue
        yield from (template if pods.form is Form.TEMPLATE else {"spec": template} for template in templates)


def _pods(obj: Object, templates: Iterator[Object], ask: Ask) -> list[Object]:
    """Return pods with the containers of the template that has the answered requests, else with one container."""
    components = ask(Call(Operation.INTERPRET_COMPONENT, obj)).get("components") or []
    if not components:
        answer = ask(Call(Operation.INTERPRET_REPLICA, obj))
        components = [{"replicas": answer.get("replica"), "replicaRequirements": answer.get("requires")}]
    by_requests = {str(_amounts(template, counting)): template for template in templates for counting in Counting}
    pods: list[Object] = []
    for component in components:
        requests = get(component, ("replicaRequirements", "resourceRequest")) or {}
        made = {"spec": {"containers": [{"name": "main", "resources": {"requests": requests}}]}}
        template = by_requests.get(str(_amounts(made, Counting.SCHEDULER)), made)
        labels = {_LABEL: name} if (name := component.get("name")) else {}
        replicas = component.get("replicas") or 0
        if len(pods) + replicas > MOST_PODS:
            return []
        pods += [
            {"kind": "Pod", "metadata": {"name": f"{name}-{number}", "labels": labels}, "spec": template["spec"]}
            for number in range(replicas)
        ]
    references = _references(ask(Call(Operation.INTERPRET_DEPENDENCY, obj)))
    return [set_value(pod, ("spec",), {**pod["spec"], **references}) for pod in pods[:1]] + pods[1:]


def _amounts(template: Object, counting: Counting) -> list[tuple[str, int]]:
    return sorted(pod_requirements(template, counting).resource_request.items())


def _references(answer: Results) -> dict[str, JSON]:
    """Return the fields of a pod that refers to the answered dependencies."""
    listed = answer.get("dependencies") or []
    volumes = [
        {_VOLUMES[each["kind"]][0]: {_VOLUMES[each["kind"]][1]: each.get("name")}}
        for each in listed
        if each.get("kind") in _VOLUMES
    ]
    accounts = [each.get("name") for each in listed if each.get("kind") == "ServiceAccount"]
    return {"volumes": volumes, **({"serviceAccountName": accounts[0]} if accounts else {})}
