"""Where the pods of a component are described, and how they are recognised."""

from typing import Annotated

from karta_interpreter.karta.notation import (
    OptionalExpression,
    OptionalPodExpression,
    PodExpression,
    Schema,
    for_api_server,
    rules,
)


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
    """Where the pod definition of a component is: one of three ways to say it."""

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
    """Where a pod says which instance it belongs to."""

    id_path: PodExpression
    """jq on a pod that yields the id of its instance."""


class ReplicaSelector(Schema):
    """Where a pod says which replica it belongs to."""

    key_path: PodExpression
    """jq on a pod that yields which replica it is of."""


class PodSelector(Schema):
    """How the pods of a component are found."""

    component_type_selector: ComponentTypeSelector | None = None
    """Which pods are of the component."""
    component_instance_selector: ComponentInstanceSelector | None = None
    """Which instance a pod is of, where there is an instanceIdPath."""
    replica_selector: ReplicaSelector | None = None
    """Which replica a pod is of; said where replicas are made, for everything below."""
