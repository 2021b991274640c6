"""New values for what a component's definition extracts, merged into the object.

Each function gives the object as it is to be, and the same object where nothing changes; a value that is None
leaves its instance as it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from karta_interpreter.errors import PathNotWritableError, WorkloadError
from karta_interpreter.jq import Query
from karta_interpreter.k8s.values import JSON, Object, type_name
from karta_interpreter.karta.definition import Component, Fragments, PodSpec, PodTemplate
from karta_interpreter.workload.document import check_directives, check_json, named
from karta_interpreter.workload.extraction import SCHEMA_FIELDS, TYPES, FragmentedPodSpec
from karta_interpreter.workload.merging import (
    AFFINITY_TERMS,
    CONTAINER,
    CONTAINERS,
    METADATA,
    POD_SPEC,
    POD_TEMPLATE,
    RESOURCE_CLAIMS,
    RESOURCES,
    Shape,
    merge,
)
from karta_interpreter.workload.writing import Change, WritePlan

SHAPES: Mapping[str, Shape] = {
    "resources": RESOURCES,
    "resource_claims": RESOURCE_CLAIMS,
    "pod_affinity": AFFINITY_TERMS,
    "node_affinity": AFFINITY_TERMS,
    "containers": CONTAINERS,
    "container": CONTAINER,
}
"""The shapes of those pieces of a pod that are not written as a whole."""


@dataclass(frozen=True, slots=True)
class Target:
    """A field of a component's definition that values are written through; its expression may be missing."""

    component: Component
    field: str
    query: Query | None
    shape: Shape = None
    type: type = dict

    @property
    def required(self) -> Query:
        """The expression; raises PathNotWritableError where the definition has none."""
        if self.query is None:
            raise PathNotWritableError(f"{self}: the definition has no such path, so there is no place to write to")
        return self.query

    def checked(self, value: JSON) -> JSON:
        """A value that can be stored; raises WorkloadError for any other."""
        if type(value) is not self.type:
            needed = type_name(self.type())
            raise WorkloadError(f"{self}: the new value must be {needed}, not of type {type(value).__name__}")
        try:
            check_json(value)
            check_directives(value)
        except WorkloadError as err:
            raise WorkloadError(f"{self}: the new value cannot be stored: {err}") from err
        return value

    def merging(self, value: JSON) -> Change:
        """The change that merges a value into what is there; errors as `checked`."""
        return partial(merge, new=self.checked(value), shape=self.shape)

    def __str__(self) -> str:
        return f"{named(self.component)}, {self.field}"


def update_pod_templates(component: Component, obj: Object, templates: Mapping[str, Object | None]) -> Object:
    """The object with new pod templates."""
    query = component.pods.query if isinstance(component.pods, PodTemplate) else None
    return _update(component, obj, [(Target(component, "podTemplateSpecPath", query, POD_TEMPLATE), templates)])


def update_pod_specs(component: Component, obj: Object, specs: Mapping[str, Object | None]) -> Object:
    """The object with new pod specs."""
    query = component.pods.query if isinstance(component.pods, PodSpec) else None
    return _update(component, obj, [(Target(component, "podSpecPath", query, POD_SPEC), specs)])


def update_pod_metadata(component: Component, obj: Object, metadata: Mapping[str, Object | None]) -> Object:
    """The object with new metadata of pods."""
    query = component.pods.metadata if isinstance(component.pods, PodSpec) else None
    return _update(component, obj, [(Target(component, "metadataPath", query, METADATA), metadata)])


def update_fragments(component: Component, obj: Object, specs: Mapping[str, FragmentedPodSpec]) -> Object:
    """The object with new pieces of pods."""
    queries = dict(component.pods.queries) if isinstance(component.pods, Fragments) else {}
    return _update(
        component,
        obj,
        [
            (
                Target(component, field, queries.get(field), SHAPES.get(piece), TYPES[piece]),
                {name: getattr(spec, piece) for name, spec in specs.items()},
            )
            for field, piece in SCHEMA_FIELDS.items()
        ],
    )


def _update(component: Component, obj: Object, asked: Iterable[tuple[Target, Mapping[str, JSON]]]) -> Object:
    plan = WritePlan(component, obj)
    for target, values in asked:
        changes = {name: target.merging(value) for name, value in values.items() if value is not None}
        if changes:
            plan.stage(target.field, target.required, changes)
    return plan.commit()
