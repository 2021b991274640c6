"""Which operations to register for a kind.

Karmada asks the first webhook that matches and takes its answer, or its error, as final. So an operation is registered
only if it adds something to Karmada's own handling of the kind as the API server serves it.

An operation that is not registered still has an answer: Karmada then uses its own code and the scripts that it carries
(`karta_interpreter.engine.operations.native_interpreters`). Their answers have to make sense together with ours.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from karta_interpreter.base.k8s import GVK, JSON, Object, edit
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.definitions.karta import ComponentRules, Definition
from karta_interpreter.definitions.karta.expressions import takes_number
from karta_interpreter.engine.operations import SLOTS, Operation, by_operation, natively_answered

if TYPE_CHECKING:
    from karta_interpreter.engine.registered.pairs import Others

CRD = "CustomResourceDefinition"


class ServedKind(Struct, frozen=True):
    """The known facts about a kind.

    ``observes_generation``: its status has ``observedGeneration``. None if the schema leaves it open.
    """

    served: bool = True
    status_subresource: bool = True
    observes_generation: bool | None = None
    namespaced: bool = True
    has_component_revision: bool = False
    """Whether it is Karmada's ResourceInterpreterCustomization, of a version that knows ReviseComponents."""


_APPS = [GVK("apps", "v1", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")]
_OTHERS = [GVK("", "v1", "Pod"), GVK("batch", "v1", "CronJob"), GVK("batch", "v1", "Job")]
BUILT_IN: Mapping[GVK, ServedKind] = MappingProxyType(
    dict.fromkeys(_APPS, ServedKind(observes_generation=True))
    | dict.fromkeys(_OTHERS, ServedKind(observes_generation=False))
)
"""The workloads built into Kubernetes, which have no CRD."""


def served_kinds(crds: Iterable[Object]) -> dict[GVK, ServedKind]:
    """Read the definitions of each version of a kind in CustomResourceDefinitions (``apiextensions.k8s.io/v1``)."""
    kinds: dict[GVK, ServedKind] = {}
    for crd in crds:
        spec = crd.get("spec")
        group, kind, versions = (edit.get(spec, path) for path in (("group",), ("names", "kind"), ("versions",)))
        if not isinstance(versions, list):
            continue
        for version in versions:
            name = edit.get(version, ("name",))
            if isinstance(group, str) and isinstance(kind, str) and isinstance(name, str):
                kinds[GVK(group, name, kind)] = ServedKind(
                    served=edit.get(version, ("served",)) is True,
                    status_subresource=isinstance(edit.get(version, ("subresources", "status")), dict),
                    observes_generation=_observes_generation(edit.get(version, ("schema", "openAPIV3Schema"))),
                    namespaced=edit.get(spec, ("scope",)) != "Cluster",
                    has_component_revision=edit.get(version, _COMPONENT_REVISION) is not None,
                )
    return kinds


def find_served(kinds: Mapping[GVK, ServedKind] | None, gvk: GVK) -> ServedKind | None:
    """Return the known facts about a kind, None if there are none.

    A version that is missing in a CRD is not served. A kind without a CRD may get one, or be aggregated.
    """
    built_in = BUILT_IN.get(gvk)
    if built_in is not None or kinds is None:
        return built_in
    return ServedKind(served=False) if gvk not in kinds and _other_versions(kinds, gvk) else kinds.get(gvk)


def served_versions(kinds: Mapping[GVK, ServedKind], gvk: GVK) -> list[str]:
    """Return the versions in which a kind is served, sorted."""
    return sorted(other.version for other in _other_versions(kinds, gvk) if kinds[other].served)


def _other_versions(kinds: Mapping[GVK, ServedKind], gvk: GVK) -> list[GVK]:
    return [other for other in kinds if (other.group, other.kind) == (gvk.group, gvk.kind)]


_CUSTOMIZATION = GVK.of({"apiVersion": API_VERSION, "kind": "ResourceInterpreterCustomization"})
_SLOTS = ("properties", "spec", "properties", "customizations", "properties")
_COMPONENT_REVISION = ("schema", "openAPIV3Schema", *_SLOTS, SLOTS[Operation.REVISE_COMPONENTS].field)


def revises_components(kinds: Mapping[GVK, ServedKind] | None) -> bool:
    """Return whether Karmada knows ReviseComponents, by the CRD of its customizations."""
    customization = (kinds or {}).get(_CUSTOMIZATION)
    return customization is not None and customization.has_component_revision


def _observes_generation(schema: JSON) -> bool | None:
    """Return whether the schema of a whole object has the field, None if objects may have fields outside the schema."""
    if edit.get(schema, ("properties", "status", "properties", "observedGeneration")) is not None:
        return True
    if schema is None:
        return None
    for level in (schema, edit.get(schema, ("properties", "status"))):
        if edit.get(level, ("x-kubernetes-preserve-unknown-fields",)) is True:
            return None
    return False


INTERPRETS_COMPONENT = natively_answered(Operation.INTERPRET_COMPONENT)
REVISES_REPLICA = natively_answered(Operation.REVISE_REPLICA)
SELECTS_STATUS = natively_answered(Operation.INTERPRET_STATUS)
"""Kinds for which Karmada itself answers these operations. It reports some fields of the status, not all."""


def operations_for(
    definition: Definition,
    served: ServedKind | None = None,
    *,
    multiple_pod_templates: bool = False,
    component_revision: bool = False,
    others: "Others | None" = None,
    registered: Collection[str] = (),
) -> tuple[Operation, ...]:
    """Return the operations to register for a definition, always in the same order. A kind that is not served has none.

    ``served`` holds the known facts about the kind, or is None. ``multiple_pod_templates``: Karmada's feature gate
    ``MultiplePodTemplatesScheduling`` is on. ``component_revision``: it knows ReviseComponents (`revises_components`),
    which only follows InterpretComponent. ``others`` are asked before this server, and ``registered`` are the
    operations that are registered for the kind today.
    """
    served = served or ServedKind()
    if not served.served:
        return ()
    left_out = set[str]()
    if others:
        left_out |= others.left_out(registered, multiple_pod_templates=multiple_pod_templates)
    if not served.namespaced:
        left_out.add(Operation.INTERPRET_DEPENDENCY)
    if not served.status_subresource:
        left_out.add(Operation.AGGREGATE_STATUS)
    if not component_revision:
        left_out.add(Operation.REVISE_COMPONENTS)
    is_component = Operation.INTERPRET_COMPONENT not in left_out and definition.answers(Operation.INTERPRET_COMPONENT)
    if multiple_pod_templates and is_component and _has_components(definition):
        left_out |= {Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA}
    else:
        left_out |= {Operation.INTERPRET_COMPONENT, Operation.REVISE_COMPONENTS}
    added = (_added_by_karta(definition, served) | definition.scripts.operations) - left_out
    answered = [operation for operation in Operation if operation in added and definition.answers(operation)]
    if are_safe(definition.gvk, answered, multiple_pod_templates=multiple_pod_templates):
        return tuple(answered)
    return tuple(operation for operation in answered if operation is not Operation.REVISE_REPLICA)


def are_safe(gvk: GVK, operations: Collection[str], *, multiple_pod_templates: bool) -> bool:
    """Return whether operations may be registered together for a kind without letting Karmada scale it to zero.

    >>> are_safe(GVK("a.io", "v1", "A"), ["InterpretComponent", "ReviseReplica"], multiple_pod_templates=False)
    False
    """
    # Kept from a configuration of an older or newer version, which may know other operations.
    if not set(operations) <= set(Operation):
        return False
    has_components = Operation.INTERPRET_COMPONENT in operations
    answered_by_karmada = multiple_pod_templates and gvk in INTERPRETS_COMPONENT
    return Operation.REVISE_REPLICA not in operations or not (has_components or answered_by_karmada)


def _added_by_karta(definition: Definition, served: ServedKind) -> set[str]:
    """Return the operations for which the Karta adds something, if Karmada asks them of a kind that is served so."""
    annotations, components = definition.annotations, definition.components
    counted = definition.counted
    scalable = [component for component in counted if _is_scalable(component)]
    steered = any(component.suspend or component.resume or component.max_replicas for component in components)
    is_default = annotations.elastic is None
    # If Karmada does not call ReviseReplica, every cluster gets the whole workload.
    is_whole = counted and annotations.is_indivisible
    added: Mapping[str, object] = by_operation(
        interpret_component=True,
        interpret_replica=counted,
        revise_replica=is_whole or any(is_default or annotations.is_elastic(component.name) for component in scalable),
        revise_components=counted,
        retain=scalable or steered,
        aggregate_status=True,
        # Karmada reflects the whole status by itself. We add the field that shows whether it is of the present
        # generation.
        interpret_status=served.observes_generation is not False or definition.gvk in SELECTS_STATUS,
        interpret_health=definition.status,
        # Karmada follows the dependencies of namespaced objects only.
        interpret_dependency=definition.leaves,
    )
    operations = {operation for operation, adds in added.items() if adds}
    return operations.union(*(query.read_by for query in annotations.queries()))


def _is_scalable(component: ComponentRules) -> bool:
    """Return whether a component has a field for its count. A literal such as ``1`` has none."""
    counts = filter(None, (component.replicas, component.min_replicas))
    return any(map(takes_number, counts))


def _has_components(definition: Definition) -> bool:
    """Return whether Karmada schedules the kind by its components, if it does so at all.

    A kind that is both asked for its components and revised gets 0 replicas: components are placed without counts
    (``pkg/scheduler/core/common.go``), and ReviseReplica then writes 0. It does not matter which of the two answers is
    ours. If Karmada gives one of them, the other is excluded.
    """
    if definition.gvk in REVISES_REPLICA:
        return False
    if definition.scripts.of(Operation.INTERPRET_COMPONENT):
        return True
    with_pods = [component for component in definition.components if component.pods]
    several = len(with_pods) > 1 or any(component.instance_ids for component in with_pods)
    return several or (bool(with_pods) and definition.gvk in INTERPRETS_COMPONENT)
