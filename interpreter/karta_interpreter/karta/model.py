"""The Karta resource as it is written: `run.ai/v1alpha1`, with its defaults applied, before anything is compiled.

Source: `pkg/api/runai/v1alpha1` of the Karta project. The status definition is in `status_model`, the advice to
schedulers in `scheduling_model`.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.scheduling_model import OptimizationInstructions
from karta_interpreter.karta.schema_types import (
    AtLeastOne,
    Expression,
    Many,
    OptionalExpression,
    OptionalPodExpression,
    PodExpression,
    Schema,
    for_api_server,
    keyed_by,
    rules,
)
from karta_interpreter.karta.status_model import StatusDefinition


class FragmentedPodSpecDefinition(Schema):
    """Where the pieces of a pod are, for workloads that have no whole pod template."""

    scheduler_name_path: OptionalExpression = None
    """jq on the workload that yields the name of the scheduler."""
    labels_path: OptionalExpression = None
    """jq on the workload that yields the labels of the pods."""
    annotations_path: OptionalExpression = None
    """jq on the workload that yields the annotations of the pods."""
    resources_path: OptionalExpression = None
    """jq on the workload that yields the resources of the main container."""
    resource_claims_path: OptionalExpression = None
    """jq on the workload that yields the resource claims of the pods."""
    pod_affinity_path: OptionalExpression = None
    """jq on the workload that yields the pod affinity."""
    node_affinity_path: OptionalExpression = None
    """jq on the workload that yields the node affinity."""
    containers_path: OptionalExpression = None
    """jq on the workload that yields the list of containers."""
    container_path: OptionalExpression = None
    """jq on the workload that yields the main container."""
    priority_class_name_path: OptionalExpression = None
    """jq on the workload that yields the name of the priority class."""
    image_path: OptionalExpression = None
    """jq on the workload that yields the image of the main container."""


class SpecDefinition(Schema):
    """Where the pod definition of a component is, in one of three forms."""

    pod_template_spec_path: OptionalExpression = None
    """jq on the workload that yields pod templates."""
    pod_spec_path: OptionalExpression = None
    """jq on the workload that yields pod specs."""
    metadata_path: OptionalExpression = None
    """jq on the workload that yields the metadata of the pods, beside podSpecPath."""
    fragmented_pod_spec_definition: FragmentedPodSpecDefinition | None = None
    """Where the pieces of a pod are, where there is no whole."""


class ComponentTypeSelector(Schema):
    """How a pod is recognised as one of this component."""

    model_config = rules(
        ("has(self.keyPath) || has(self.matchLabels)", "at least one of keyPath or matchLabels must be set"),
        ("!has(self.value) || has(self.keyPath)", "value requires keyPath"),
    )

    key_path: Annotated[OptionalPodExpression, for_api_server(minLength=1)] = None
    """jq on a pod that yields a value."""
    value: str | None = None
    """The value; without it any will do."""
    match_labels: Annotated[dict[str, str] | None, for_api_server(minProperties=1)] = None
    """Labels that the pods have."""


class ComponentInstanceSelector(Schema):
    """Where a pod has the id of its instance."""

    id_path: PodExpression
    """jq on a pod that yields the id of its instance."""


class ReplicaSelector(Schema):
    """Where a pod has the id of its replica."""

    key_path: PodExpression
    """jq on a pod that yields which replica it is of."""


class PodSelector(Schema):
    """How the pods of a component are found."""

    component_type_selector: ComponentTypeSelector | None = None
    """Which pods are of the component."""
    component_instance_selector: ComponentInstanceSelector | None = None
    """Which instance a pod is of, where there is an instanceIdPath."""
    replica_selector: ReplicaSelector | None = None
    """The replica of a pod; defined at the component that makes replicas, for all components below it."""


class GroupVersionKind(Schema):
    """The type of a Kubernetes object; the group of core kinds is empty."""

    group: str
    """API group; empty for core kinds."""
    version: str
    """API version."""
    kind: str
    """Kind."""


class ScaleDefinition(Schema):
    """Where the number of units of a component is, counted across the whole workload."""

    replicas_path: OptionalExpression = None
    """jq on the workload that yields the count."""
    min_replicas_path: OptionalExpression = None
    """jq on the workload that yields the least count."""
    max_replicas_path: OptionalExpression = None
    """jq on the workload that yields the largest count."""


class SuspendAction(Schema):
    """One write; ``value`` is JSON in a string, or (as of Karta 0.1) the JSON value itself."""

    nullable = frozenset({"value"})

    path: Expression
    """jq on the workload that yields the place to write."""
    value: Annotated[Any, for_api_server(type="string")]
    """What is written there: JSON in a string, such as "true"."""


class SuspendDefinition(Schema):
    """The writes that suspend and resume a component."""

    suspend_actions: AtLeastOne[SuspendAction]
    """The writes that suspend."""
    resume_actions: AtLeastOne[SuspendAction]
    """The writes that resume."""


class ComponentDefinition(Schema):
    """One component of a workload."""

    name: str
    """Name of the component, unique in the Karta."""
    kind: GroupVersionKind | None = None
    """Type of the component's objects; one without is a part of its parent. The root needs it."""
    owner_ref: str | None = None
    """Name of the parent component; every component has one but the root."""
    spec_definition: SpecDefinition | None = None
    """Where the pod definition is."""
    scale_definition: ScaleDefinition | None = None
    """How many pods the whole workload has of the component."""
    status_definition: StatusDefinition | None = None
    """How the status is derived; the root needs it."""
    suspend_definition: SuspendDefinition | None = None
    """How the component is suspended and resumed."""
    instance_id_path: OptionalExpression = None
    """jq on the workload that yields the id of each instance of the component."""
    pod_selector: PodSelector | None = None
    """How the component's pods are recognised."""


class LabelValue(Schema):
    """The value of a label: text, or an expression that yields it."""

    value: str | None = None
    """The value itself."""
    expression: OptionalExpression = None
    """jq on the workload that yields the value."""


class LabelRequirement(Schema):
    """A requirement of a label selector."""

    key: str
    """Key of the label."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: Many[LabelValue] = ()
    """The values, for In and NotIn."""


class LookupReference(Schema):
    """One object, by its name."""

    name_expression: Expression
    """jq on the workload that yields the name of the object; without a result there is none."""


class ListReference(Schema):
    """The objects that have certain labels."""

    match_labels: dict[str, LabelValue] = Field(default_factory=dict)
    """Labels that the objects have."""
    match_expressions: Many[LabelRequirement] = ()
    """Requirements that their labels meet."""


class ResourceReference(Schema):
    """Other objects, which expressions read as a variable: one, or a list of them."""

    name: str
    """Name of the variable, without its dollar sign."""
    gvk: GroupVersionKind
    """Type of the objects."""
    namespace_expression: OptionalExpression = None
    """jq on the workload that yields the namespace of the objects; without it that of the workload."""
    lookup: LookupReference | None = None
    """Looks up one object; the variable is null when it does not exist."""
    list: ListReference | None = None
    """Lists objects."""


class StructureDefinition(Schema):
    """The component tree of a workload, and what else has to be known of it."""

    root_component: ComponentDefinition
    """The workload itself."""
    child_components: Annotated[Many[ComponentDefinition], keyed_by("name")] = ()
    """The parts of the workload."""
    additional_child_kinds: Annotated[Many[GroupVersionKind], keyed_by("kind")] = ()
    """Other kinds of objects that the workload owns."""
    references: Annotated[Many[ResourceReference], keyed_by("name")] = ()
    """Other objects that expressions read."""

    @property
    def reference_names(self) -> frozenset[str]:
        """The names by which expressions read references."""
        return frozenset(reference.name for reference in self.references)

    @property
    def components(self) -> tuple[tuple[Path, ComponentDefinition], ...]:
        """Every component with its path in the Karta, the root first."""
        at = ("spec", "structureDefinition")
        children = enumerate(self.child_components)
        return (
            ((*at, "rootComponent"), self.root_component),
            *(((*at, "childComponents", index), child) for index, child in children),
        )


class Spec(Schema):
    """The spec of a definition."""

    structure_definition: StructureDefinition
    """The components of the workload, as a tree."""
    optimization_instructions: OptimizationInstructions | None = None
    """Advice to schedulers."""


class Karta(BaseModel):
    """A definition as it was written, with its name and annotations."""

    model_config = ConfigDict(frozen=True)

    name: str
    annotations: dict[str, str]
    spec: Spec
