"""A component of a workload: its pods, their number, its status, its switch."""

from typing import Annotated, Any

from karta_interpreter.karta.model.pods import PodSelector, SpecDefinition
from karta_interpreter.karta.model.status import StatusDefinition
from karta_interpreter.karta.notation import AtLeastOne, Expression, OptionalExpression, Schema, for_api_server


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
