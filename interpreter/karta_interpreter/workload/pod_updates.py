"""Changes to pods, taken to where a definition has them: in a template, in a spec and its metadata, or in pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial

from karta_interpreter.errors import ComponentNotFoundError
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.karta.definition import Component, PodSpec, PodTemplate
from karta_interpreter.suggestion import did_you_mean
from karta_interpreter.workload.extraction import SCHEMA_FIELDS
from karta_interpreter.workload.merging import name_of, patch
from karta_interpreter.workload.updates import SHAPES, Target
from karta_interpreter.workload.writing import Change, WritePlan, check_pods_exist


@dataclass(frozen=True, slots=True, kw_only=True)
class PodChanges:
    """What to change in the pods of an instance; None leaves a thing as it is, an empty text or list clears it.

    ``labels``, ``annotations`` and ``node_selector`` are added to what is there, and a value None removes its key.
    ``containers`` has a change for each container by its name, merged as RFC 7386 has it.
    """

    scheduler_name: str | None = None
    priority_class_name: str | None = None
    labels: Mapping[str, str | None] | None = None
    annotations: Mapping[str, str | None] | None = None
    node_selector: Mapping[str, str | None] | None = None
    tolerations: Sequence[JSON] | None = None
    pod_affinity: Object | None = None
    node_affinity: Object | None = None
    resource_claims: Sequence[JSON] | None = None
    containers: Mapping[str, Object] | None = None

    @property
    def said(self) -> Mapping[str, JSON]:
        """What is to be changed, by the name of its field.

        >>> PodChanges(scheduler_name="kai", tolerations=[]).said
        {'scheduler_name': 'kai', 'tolerations': []}
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


_PLACES: Mapping[str, tuple[Path, type]] = {
    "scheduler_name": (("spec", "schedulerName"), str),
    "priority_class_name": (("spec", "priorityClassName"), str),
    "labels": (("metadata", "labels"), dict),
    "annotations": (("metadata", "annotations"), dict),
    "node_selector": (("spec", "nodeSelector"), dict),
    "tolerations": (("spec", "tolerations"), list),
    "pod_affinity": (("spec", "affinity", "podAffinity"), dict),
    "node_affinity": (("spec", "affinity", "nodeAffinity"), dict),
    "resource_claims": (("spec", "resourceClaims"), list),
    "containers": (("spec", "containers"), dict),
}
"""Where each thing is in a pod template, and of what type the change is."""

_FRAGMENTS = {piece: field for field, piece in SCHEMA_FIELDS.items()}
_MAPS = ("labels", "annotations", "node_selector")


def update_pods(component: Component, obj: Object, changes: Mapping[str, PodChanges]) -> Object:
    """The object with changed pods; the same object where nothing changes.

    Raises PathNotWritableError for an instance without pods, and for a thing that the definition has no path for.
    """
    check_pods_exist(component, obj, changes)
    plan = WritePlan(component, obj)
    for thing in _PLACES:
        asked = {name: change.said[thing] for name, change in changes.items() if thing in change.said}
        if asked:
            target, below = _target(component, thing)
            plan.stage(target.field, target.required, _changes(target, thing, asked), below)
    return plan.commit()


def _target(component: Component, thing: str) -> tuple[Target, Path]:
    """The field that a thing is written through, and where the thing is below it."""
    (place, kind), shape = _PLACES[thing], SHAPES.get(thing)
    match component.pods:
        case PodTemplate(query):
            return Target(component, "podTemplateSpecPath", query, shape, kind), place
        case PodSpec(query, metadata):
            in_spec = place[0] == "spec"
            field, query_of_thing = ("podSpecPath", query) if in_spec else ("metadataPath", metadata)
            return Target(component, field, query_of_thing, shape, kind), place[1:]
    pieces = dict(component.pods.queries) if component.pods else {}
    field = _FRAGMENTS.get(thing, thing)
    return Target(component, field, pieces.get(field), shape, kind), ()


def _changes(target: Target, thing: str, asked: Mapping[str, JSON]) -> Mapping[str, Change]:
    if thing in _MAPS:
        return {name: partial(patch, change=target.checked(value)) for name, value in asked.items()}
    if thing == "containers":
        return {
            name: partial(_containers, target=target, changes=target.checked(value)) for name, value in asked.items()
        }
    return {name: target.merging(value) for name, value in asked.items()}


def _containers(old: JSON, target: Target, changes: Mapping[str, Object]) -> JSON:
    containers = old if isinstance(old, list) else []
    names = [name for name in map(name_of, containers) if name is not None]
    for name in changes:
        if name not in names:
            known = did_you_mean(name, names) if names else "there are none"
            raise ComponentNotFoundError(f'{target}: there is no container "{name}"; {known}')
    return [patch(each, change) if (change := changes.get(name_of(each) or "")) else each for each in containers]
