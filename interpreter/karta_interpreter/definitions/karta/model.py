"""The Karta resource as it is written: `run.ai/v1alpha1`, with its defaults applied, before anything is compiled.

Source: `pkg/api/runai/v1alpha1` of the Karta project. Selectors of pods and the advice to schedulers are used as they
are written: no request of Karmada asks about pods.
"""

from typing import Annotated, Any, Final, Literal, Self

from msgspec import Struct
from pydantic import ConfigDict, Field, model_validator

from karta_interpreter.base.k8s import Path
from karta_interpreter.definitions.karta.expression_text import Expression, ObjectQuery, PodQuery
from karta_interpreter.definitions.karta.identity import ROOT, STRUCTURE
from karta_interpreter.definitions.karta.schema_types import (
    AS_SET,
    AtLeastOne,
    Many,
    NonEmpty,
    Schema,
    described,
    keyed_by,
    one_of,
    optional,
    yields,
)

_AT_LEAST_ONE = ConfigDict(json_schema_extra={"minProperties": 1})


class FragmentedPodSpecDefinition(Schema):
    """Where the pieces of a pod are if a workload has no whole pod template."""

    model_config = _AT_LEAST_ONE

    scheduler_name_path: Expression | None = yields("the name of the scheduler")
    labels_path: Expression | None = yields("the labels of the pods")
    annotations_path: Expression | None = yields("the annotations of the pods")
    resources_path: Expression | None = yields("the resources of the main container")
    resource_claims_path: Expression | None = yields("the resource claims of the pods")
    pod_affinity_path: Expression | None = yields("the pod affinity")
    node_affinity_path: Expression | None = yields("the node affinity")
    containers_path: Expression | None = yields("the list of containers")
    container_path: Expression | None = yields("the main container")
    priority_class_name_path: Expression | None = yields("the name of the priority class")
    image_path: Expression | None = yields("the image of the main container")


class SpecDefinition(Schema):
    """Where the pod definition of a component is, in one of three forms."""

    model_config = _AT_LEAST_ONE

    pod_template_spec_path: Expression | None = yields("pod templates")
    pod_spec_path: Expression | None = yields("pod specs")
    metadata_path: Expression | None = yields("the metadata of the pods, with podSpecPath")
    fragmented_pod_spec_definition: FragmentedPodSpecDefinition | None = optional(
        "Where the pieces of a pod are if the workload has no whole pod template."
    )


_SELECTOR_RULES = {
    "has(self.keyPath) || has(self.matchLabels)": "at least one of keyPath or matchLabels must be set",
    "!has(self.value) || has(self.keyPath)": "value requires keyPath",
}


class ComponentTypeSelector(Schema):
    """How a pod is recognised as one of this component.

    The pod has all labels. If there is a key, it gives the value, or without a value anything but null.
    """

    model_config = ConfigDict(
        json_schema_extra={"x-kubernetes-validations": [{"rule": r, "message": m} for r, m in _SELECTOR_RULES.items()]}
    )

    key: PodQuery | None = optional("jq on a pod that yields a value.", alias="keyPath", minLength=1)
    value: str | None = optional("The value. Without it any value matches.")
    labels: dict[str, str] = described("Labels that the pods have.", {}, alias="matchLabels", minProperties=1)


class ComponentInstanceSelector(Schema):
    """Where a pod has the id of its instance."""

    id_path: PodQuery = described("jq on a pod that yields the id of its instance.")


class ReplicaSelector(Schema):
    """Where a pod has the id of its replica."""

    key_path: PodQuery = described("jq on a pod that yields the id of its replica.")


class PodSelector(Schema):
    """How the pods of a component are found."""

    component_type: ComponentTypeSelector | None = optional(
        "Which pods belong to the component.", alias="componentTypeSelector"
    )
    component_instance_selector: ComponentInstanceSelector | None = optional(
        "Which instance a pod belongs to, if there is an instanceIdPath."
    )
    replica_selector: ReplicaSelector | None = optional(
        "The replica of a pod. The component that makes replicas defines it for all components below."
    )

    @property
    def instance_id(self) -> PodQuery | None:
        """The expression for the instance of a pod."""
        selector = self.component_instance_selector
        return None if selector is None else selector.id_path

    @property
    def replica_key(self) -> PodQuery | None:
        """The expression for the replica of a pod."""
        return None if self.replica_selector is None else self.replica_selector.key_path


class GroupVersionKind(Schema):
    """The type of a Kubernetes object. The group of core kinds is empty."""

    group: str = described("API group, empty for core kinds.", maxLength=253)
    version: str = described("API version.", maxLength=63)
    kind: str = described("Kind.", maxLength=63)


class ScaleDefinition(Schema):
    """Where the number of units of a component is, counted across the whole workload."""

    model_config = _AT_LEAST_ONE

    replicas_path: Expression | None = yields("the count")
    min_replicas_path: Expression | None = yields("the least count")
    max_replicas_path: Expression | None = yields("the largest count")


class SuspendAction(Schema):
    """One write. ``value`` is JSON in a string, or (as of Karta 0.1) the JSON value itself."""

    nullable = frozenset({"value"})

    path: Expression = described("jq on the workload that yields the place to write.")
    value: Any = described('The value to write: JSON in a string, such as "true".', type="string")


class SuspendDefinition(Schema):
    """The writes that suspend and resume a component."""

    suspend_actions: AtLeastOne[SuspendAction] = described("The writes that suspend.")
    resume_actions: AtLeastOne[SuspendAction] = described("The writes that resume.")


class PhaseDefinition(Schema):
    """Where the phase is."""

    path: Expression = described("jq on the workload that yields its phase.")


class ConditionsDefinition(Schema):
    """Where the conditions are, and the names of their fields."""

    path: Expression = described("jq on the workload that yields the list of its conditions.")
    type_field_name: str = described("Field of a condition that has its type.", "type")
    status_field_name: str = described(
        "Field of a condition that has its status. Empty if conditions have no status and hold while they are present.",
        "status",
    )
    message_field_name: str = described("Field of a condition that has its message.", "message")
    reason_field_name: str = described("Field of a condition that has its reason.", "reason")


class ConditionMatcher(Schema):
    """A condition that must be present."""

    type: str = described("Type of the condition.")
    status: str = described('Its status, such as "True". Without it any status matches.', "")
    reason: str = described("Its reason. Without it any reason matches.", "")


class ExpressionMatcher(Schema):
    """An expression. Its first result, as text, must be ``expectedResult``."""

    expression: Expression = described("jq on the workload.")
    expected_result: str = described("Its first result, as text.")


class StatusMatcher(Schema):
    """One way to have a status. All fields that are set must hold together."""

    by_phase: str = described("The phase.", "")
    by_conditions: Many[ConditionMatcher] = described("Conditions that must all be present.", ())
    by_expression: ExpressionMatcher | None = optional("An expression on the workload, if no other field fits.")


class StatusMappings(Schema):
    """The ways to have each status. One entry of a list is enough."""

    model_config = _AT_LEAST_ONE

    initializing: Many[StatusMatcher] = described("When the workload is being set up.", ())
    running: Many[StatusMatcher] = described("When it does its work.", ())
    completed: Many[StatusMatcher] = described("When it has finished its work.", ())
    failed: Many[StatusMatcher] = described("When it has failed for good.", ())
    degraded: Many[StatusMatcher] = described("When it does less than it should.", ())
    suspended: Many[StatusMatcher] = described("When it is suspended.", ())
    suspending: Many[StatusMatcher] = described("When it is about to be suspended.", ())
    resuming: Many[StatusMatcher] = described("When it is about to run again.", ())


class StatusDefinition(Schema):
    """How the status of the workload is derived."""

    phase_definition: PhaseDefinition | None = optional("Where the phase is, for byPhase.")
    conditions_definition: ConditionsDefinition | None = optional("Where the conditions are, for byConditions.")
    status_mappings: StatusMappings = described("When the workload has each status. Several may hold at once.")


class ComponentDefinition(Schema):
    """One component of a workload."""

    name: NonEmpty = described("Name of the component, unique in the Karta.")
    kind: GroupVersionKind | None = optional(
        "Type of the component's objects. A component without it is a part of its parent. The root needs it."
    )
    owner_ref: str | None = optional("Name of the parent component. Every component except the root has one.")
    spec_definition: SpecDefinition | None = optional("Where the pod definition is.")
    scale_definition: ScaleDefinition | None = optional("How many pods the whole workload has of the component.")
    status_definition: StatusDefinition | None = optional("How the status is derived. The root needs it.")
    suspend_definition: SuspendDefinition | None = optional("How the component is suspended and resumed.")
    instance_id_path: Expression | None = yields("the id of each instance of the component")
    pod_selector: PodSelector | None = optional("How the component's pods are recognised.")


class LabelValue(Schema):
    """The value of a label: text, or an expression that yields it."""

    model_config = one_of("value", "expression")
    exactly_one = ("value", "expression")

    value: str | None = optional("The value itself.")
    expression: Expression | None = yields("the value")


_VALUES = "the operators In and NotIn need values, and the others take none"
_VALUES_RULE = "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)"


class LabelRequirement(Schema):
    """A requirement of a label selector."""

    model_config = ConfigDict(
        json_schema_extra={"x-kubernetes-validations": [{"rule": _VALUES_RULE, "message": _VALUES}]}
    )

    key: str = described("Key of the label.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = described("In, NotIn, Exists or DoesNotExist.")
    values: Many[LabelValue] = described("The values, for In and NotIn.", ())

    @model_validator(mode="after")
    def _with_values(self) -> Self:
        if bool(self.values) != (self.operator in ("In", "NotIn")):
            raise ValueError(_VALUES)
        return self


class LookupReference(Schema):
    """One object by its name, or a list of objects by their names."""

    name_expression: Expression = described(
        "jq on the workload that yields the name of the object, or an array of names. Without a result there is no "
        "object. With an array the variable is a list."
    )
    names_expression: ObjectQuery | None = optional(
        "jq on an object of the kind that yields `{name, rank}` for each name that it has, instead of its own name. "
        "nameExpression may then give several names with commas between them. Of the objects that have them all, the "
        "one with the greatest ranks is taken."
    )
    optional: bool = described("Whether a missing object is nothing to report.", default=False)


class ListReference(Schema):
    """The objects that have certain labels."""

    match_labels: dict[str, LabelValue] = described("Labels that the objects have.", {})
    match_expressions: Many[LabelRequirement] = described("Requirements that their labels meet.", ())


class ReferencedKind(GroupVersionKind):
    """The type of an object that is looked up."""

    version: NonEmpty = described("API version.", maxLength=63)
    kind: NonEmpty = described("Kind.", maxLength=63)


class ResourceReference(Schema):
    """Other objects that expressions read as a variable: one object, or a list of objects."""

    model_config = one_of("lookup", "list")
    exactly_one = ("lookup", "list")

    name: str = described("Name of the variable, without its dollar sign.")
    gvk: ReferencedKind = described("Type of the objects.")
    namespace_expression: Expression | None = yields("the objects' namespace, by default the workload's")
    lookup: LookupReference | None = optional("Looks up objects by name. A missing object is null.")
    list: ListReference | None = optional("Lists objects.")


# Functions that walk the component tree recurse, and so do JSON encoders, with two levels for each component.
MOST_LEVELS = 100
MOST_REFERENCES: Final = 100
"""References of a definition. Each of its expressions may read all of them."""


class StructureDefinition(Schema):
    """The component tree of a workload, and other objects that belong to it."""

    root_component: ComponentDefinition = described("The workload itself.")
    child_components: Many[ComponentDefinition] = described("The parts of the workload.", (), **keyed_by("name"))
    additional_child_kinds: Many[GroupVersionKind] = described(
        "Other kinds of objects that the workload owns.", (), **keyed_by("kind")
    )
    references: Annotated[Many[ResourceReference], Field(max_length=MOST_REFERENCES)] = described(
        "Other objects that expressions read.", (), **keyed_by("name")
    )

    @property
    def reference_names(self) -> frozenset[str]:
        """The names by which expressions read references."""
        return frozenset(reference.name.removeprefix("$") for reference in self.references)

    @property
    def components(self) -> tuple[tuple[Path, ComponentDefinition], ...]:
        """Every component with its path in the Karta, the root first."""
        children = (
            ((*STRUCTURE, "childComponents", index), child) for index, child in enumerate(self.child_components)
        )
        return ((ROOT, self.root_component), *children)

    @property
    def counted(self) -> tuple[tuple[Path, ComponentDefinition], ...]:
        """The components with a number of pods: those that have pods or, without any, the root with its count."""
        leaves = tuple(pair for pair in self.components if pair[1].spec_definition is not None)
        scale, is_one = self.root_component.scale_definition, self.root_component.instance_id_path is None
        has_count = scale is not None and (scale.replicas_path or scale.min_replicas_path) is not None
        return leaves or (((ROOT, self.root_component),) if has_count and is_one else ())


class Topology(Schema):
    """The topology levels that pods of a group should share."""

    name: str = described("Name of the topology.", alias="topologyName")
    preferred_level: str = described("Level that the pods should share.", alias="preferredTopologyLevel")
    required_level: str = described("Level that the pods must share.", alias="requiredTopologyLevel")


class PodGroupMember(Schema):
    """A component that takes part in a pod group."""

    component: str = described("Name of the component.", alias="componentName")
    group_by: Many[PodQuery] = described(
        "jq on a pod. Pods with the same results belong to the same group.", (), alias="groupByKeyPaths", **AS_SET
    )
    filters: Many[PodQuery] = described("jq on a pod that must all be true.", (), **AS_SET)


class NamedPodGroup(Schema):
    """A named pod group of the older form."""

    name: str = described("Name of the group.")
    members: Many[PodGroupMember] = described("The components with pods in the group.", **keyed_by("componentName"))


class SubGroup(Schema):
    """A component that is a subgroup of the pod group."""

    component: str = described("Name of the component.", alias="componentName")
    topology: Topology | None = optional("What its pods share.")


class PodGroup(Schema):
    """The pod group of the whole workload."""

    name: str = described("Name of the group.")
    sub_groups: Many[SubGroup] = described(
        "Components with pods that form their own groups within it.", (), **keyed_by("componentName")
    )
    topology: Topology | None = optional("What all its pods share.")


class GangScheduling(Schema):
    """Which pods are scheduled together."""

    pod_groups: Many[NamedPodGroup] = described("The older form. podGroup replaces it.", (), **keyed_by("name"))
    pod_group: PodGroup | None = optional("All pods of the workload, scheduled together or not at all.")


class OptimizationInstructions(Schema):
    """Advice to schedulers. It is a part of definitions that Karmada does not use."""

    gang_scheduling: GangScheduling | None = optional("Groups of pods that are scheduled together.")


class Spec(Schema):
    """The spec of a definition."""

    structure_definition: StructureDefinition = described("The components of the workload, as a tree.")
    optimization_instructions: OptimizationInstructions | None = optional("Advice to schedulers.")

    @property
    def gang(self) -> GangScheduling:
        """The pods that are scheduled together, empty without instructions."""
        instructions = self.optimization_instructions
        return (instructions and instructions.gang_scheduling) or GangScheduling()


class KartaResource(Struct, frozen=True):
    """A definition as it was written, with its name and annotations."""

    name: str
    annotations: dict[str, str]
    spec: Spec
