"""The Karta resource as it is written: `run.ai/v1alpha1`, its defaults applied, nothing interpreted yet.

Source: `pkg/api/runai/v1alpha1` of the Karta project.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

from interpreter.k8s.values import Path
from interpreter.karta.instructions import OptimizationInstructions
from interpreter.karta.notation import (
    AtLeastOne,
    Expression,
    Many,
    OptionalExpression,
    OptionalPodExpression,
    PodExpression,
    Schema,
)


class GroupVersionKind(Schema):
    """The type of a Kubernetes object; the group of core kinds is empty."""

    group: str
    version: str
    kind: str


class FragmentedPodSpecDefinition(Schema):
    """Where the pieces of a pod are, for workloads that have no whole pod template."""

    scheduler_name_path: OptionalExpression = None
    labels_path: OptionalExpression = None
    annotations_path: OptionalExpression = None
    resources_path: OptionalExpression = None
    resource_claims_path: OptionalExpression = None
    pod_affinity_path: OptionalExpression = None
    node_affinity_path: OptionalExpression = None
    containers_path: OptionalExpression = None
    container_path: OptionalExpression = None
    priority_class_name_path: OptionalExpression = None
    image_path: OptionalExpression = None


class SpecDefinition(Schema):
    """Where the pod definition of a component is: one of three ways to say it."""

    pod_template_spec_path: OptionalExpression = None
    pod_spec_path: OptionalExpression = None
    metadata_path: OptionalExpression = None
    fragmented_pod_spec_definition: FragmentedPodSpecDefinition | None = None


class ScaleDefinition(Schema):
    """Where the number of units of a component is, counted across the whole workload."""

    replicas_path: OptionalExpression = None
    min_replicas_path: OptionalExpression = None
    max_replicas_path: OptionalExpression = None


class PhaseDefinition(Schema):
    """Where the phase is."""

    path: Expression


class ConditionsDefinition(Schema):
    """Where the conditions are and how their fields are called."""

    path: Expression
    type_field_name: str = "type"
    status_field_name: str = "status"
    message_field_name: str = "message"
    reason_field_name: str = "reason"


class ConditionMatcher(Schema):
    """A condition that must be there."""

    type: str
    status: str = ""
    reason: str = ""


class ExpressionMatcher(Schema):
    """An expression whose first result, as text, must be ``expected_result``."""

    expression: Expression
    expected_result: str


class StatusMatcher(Schema):
    """One way to have a status; what is given must hold all together."""

    by_phase: str = ""
    by_conditions: Many[ConditionMatcher] = ()
    by_expression: ExpressionMatcher | None = None


class StatusMappings(Schema):
    """The ways to have each status; any one of a list is enough."""

    initializing: Many[StatusMatcher] = ()
    running: Many[StatusMatcher] = ()
    completed: Many[StatusMatcher] = ()
    failed: Many[StatusMatcher] = ()
    degraded: Many[StatusMatcher] = ()
    suspended: Many[StatusMatcher] = ()
    suspending: Many[StatusMatcher] = ()
    resuming: Many[StatusMatcher] = ()


class StatusDefinition(Schema):
    """How the status of the workload is derived."""

    phase_definition: PhaseDefinition | None = None
    conditions_definition: ConditionsDefinition | None = None
    status_mappings: StatusMappings


class SuspendAction(Schema):
    """One write; ``value`` is JSON in a string, or (as of Karta 0.1) the JSON value itself."""

    nullable = frozenset({"value"})

    path: Expression
    value: Any


class SuspendDefinition(Schema):
    """The writes that suspend and resume a component."""

    suspend_actions: AtLeastOne[SuspendAction]
    resume_actions: AtLeastOne[SuspendAction]


class ComponentTypeSelector(Schema):
    """How a pod is recognised as one of this component."""

    key_path: OptionalPodExpression = None
    value: str | None = None
    match_labels: dict[str, str] | None = None


class ComponentInstanceSelector(Schema):
    """Where a pod says which instance it belongs to."""

    id_path: PodExpression


class ReplicaSelector(Schema):
    """Where a pod says which replica it belongs to."""

    key_path: PodExpression


class PodSelector(Schema):
    """How the pods of a component are found."""

    component_type_selector: ComponentTypeSelector | None = None
    component_instance_selector: ComponentInstanceSelector | None = None
    replica_selector: ReplicaSelector | None = None


class ComponentDefinition(Schema):
    """One component of a workload."""

    name: str
    kind: GroupVersionKind | None = None
    owner_ref: str | None = None
    spec_definition: SpecDefinition | None = None
    scale_definition: ScaleDefinition | None = None
    status_definition: StatusDefinition | None = None
    suspend_definition: SuspendDefinition | None = None
    instance_id_path: OptionalExpression = None
    pod_selector: PodSelector | None = None


class StructureDefinition(Schema):
    """The component tree of a workload."""

    root_component: ComponentDefinition
    child_components: Many[ComponentDefinition] = ()
    additional_child_kinds: Many[GroupVersionKind] = ()

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
    """What a definition says."""

    structure_definition: StructureDefinition
    optimization_instructions: OptimizationInstructions | None = None


class Karta(BaseModel):
    """A definition as it was written, with its name and annotations."""

    model_config = ConfigDict(frozen=True)

    name: str
    annotations: dict[str, str]
    spec: Spec
