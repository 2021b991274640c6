"""Policies of Karmada that follow from a definition: an override that suspends, and failover that keeps state."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import JSON, Object, field_path, get, pointer_step
from karta_interpreter.base.k8s.patch import Operation as Patch
from karta_interpreter.definitions.karta import Definition, Status
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.interpret_health import healthy_statuses
from karta_interpreter.engine.operations.retain import is_queued
from karta_interpreter.export.paths import guarded_paths

API_VERSION = "policy.karmada.io/v1alpha1"

Direction = Literal["suspend", "resume"]

_RESUMING = (
    "Without this policy members keep a switch that the template leaves unset: to resume, set it in the template or "
    "apply the policy of --resume."
)

_QUEUED = (
    "the switch of an object in a queue belongs to the queue of the member, and an override of it has no effect; with "
    "Kueue, set spec.active of its Workload, or the stopPolicy of the queue"
)


class Policy(NamedTuple):
    """A policy, and notes for its reader, which become comments above it."""

    manifest: Object
    notes: tuple[str, ...] = ()


def switch_policy(definition: Definition, direction: Direction, clusters: Sequence[str] = ()) -> Policy:
    """Return the OverridePolicy that suspends or resumes all objects of a kind, in all clusters if none are named.

    Raises ExportError for a kind that cannot be suspended, or that has no fixed path for its switches.
    """
    patches: list[Patch] = []
    notes, conditions = list[str](), list[str]()
    for action in getattr(definition, direction):
        found = guarded_paths(action.path.node) or []
        if len(found) != 1 or len(found[0].paths) != 1:
            raise ExportError(
                f"definition {definition.name}: `{action.path.text}` of its suspendDefinition has no fixed path; "
                "give --object"
            )
        condition, path = found[0].condition, found[0].paths[0].steps
        pointer = "".join(f"/{pointer_step(str(key))}" for key in path)
        patches.append({"op": "add", "path": pointer, "value": action.value})
        conditions += [condition] if condition else []
        notes += [f"Only objects with `{condition}` can be suspended."] if condition else []
        if path[0] == "spec" and path[1:-1]:
            notes.append(f"The patch needs {field_path(path[:-1])} in the template; --object writes it where it lacks.")
    if not patches:
        raise ExportError(f"definition {definition.name} has no suspendDefinition: its workloads cannot be suspended")
    if len(patches) > 1 and conditions:
        raise ExportError(f"definition {definition.name}: what suspends a workload depends on its spec; give --object")
    labels = definition.annotations.queue_labels
    notes += [f"It does not hold for objects with the label {' or '.join(labels)}: {_QUEUED}."] if labels else []
    return _override(definition, direction, patches, clusters, tuple(notes))


def switch_policy_of(
    definition: Definition, direction: Direction, obj: Object, patches: Sequence[Patch], clusters: Sequence[str]
) -> Policy:
    """Return the OverridePolicy that suspends or resumes one object by the patches which do that."""
    if is_queued(definition, obj):
        raise ExportError(f"definition {definition.name}: {_QUEUED}")
    if not patches:
        raise ExportError(f"definition {definition.name}: there is nothing to change to {direction} this object")
    return _override(definition, direction, patches, clusters, (), obj)


_OF_CLUSTER: Final = ("ClusterPolicy.kyverno.io", "SidecarSet.apps.kruise.io")
"""The kinds of the catalogue that have objects without a namespace."""


def is_cluster_scoped(definition: Definition) -> bool:
    """Return whether the catalogue knows that objects of a kind have no namespace."""
    return f"{definition.gvk.kind}.{definition.gvk.group}" in _OF_CLUSTER


_TOLERATION_OF_SERVICE, _TOLERATION_OF_JOB, _GRACE_PERIOD = 900, 300, 600
_SERVES = (
    f"It serves, and a roll-out is unhealthy until it has finished: {_TOLERATION_OF_SERVICE} s are longer than the "
    f"usual progress deadline of {_GRACE_PERIOD} s. Choose more where pods take longer to start, such as those that "
    "load a model."
)
_RUNS_TO_COMPLETION = (
    "It runs to completion. While it waits it is healthy; once it has failed it runs again in another cluster, from "
    "its beginning or from the checkpoint that it finds. Leave spec.failover out where a failed job has to stay."
)
_STATE = (
    "purgeMode is Directly: in no other mode does Karmada give state to a new cluster, and two of these workloads must "
    "not run at once. The feature gate StatefulFailoverInjection has to be on. Where the status lacks the field of a "
    "rule, nothing is moved. The value of a label has at most 63 characters: letters, digits, '-', '_' and '.'"
)


def failover_policy(definition: Definition, *, cluster_scoped: bool = False) -> Policy:
    """Return the policy that runs a workload in one cluster and moves it with its state when that fails.

    It is a ClusterPropagationPolicy for a kind without namespaces: one that the catalogue knows, or by the caller.
    Raises ExportError for a kind without health, which never moves.
    """
    if not definition.answers(Operation.INTERPRET_HEALTH):
        raise ExportError(f"definition {definition.name} does not answer InterpretHealth: its workloads never move")
    state = definition.annotations.state
    is_service = Status.INITIALIZING not in healthy_statuses(definition)
    toleration = _TOLERATION_OF_SERVICE if is_service else _TOLERATION_OF_JOB
    application: dict[str, JSON] = {"decisionConditions": {"tolerationSeconds": toleration}, "purgeMode": "Directly"}
    notes = [_SERVES if is_service else _RUNS_TO_COMPLETION]
    if state:
        rules = [{"aliasLabelName": each.label, "jsonPath": each.json_path} for each in state]
        application["statePreservation"] = {"rules": rules}
        notes += [_STATE, *(f"A mutation in the members makes of {each}." for each in state)]
    elif is_service:
        application |= {"purgeMode": "Gracefully", "gracePeriodSeconds": _GRACE_PERIOD}
    spec = {
        "propagateDeps": True,
        "resourceSelectors": [_selector(definition)],
        "placement": {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]},
        "failover": {"application": application},
    }
    scope = "Cluster" if cluster_scoped or is_cluster_scoped(definition) else ""
    metadata = {"name": definition.name}
    manifest = {"apiVersion": API_VERSION, "kind": f"{scope}PropagationPolicy", "metadata": metadata, "spec": spec}
    return Policy(manifest, tuple(notes))


def _override(
    definition: Definition,
    direction: Direction,
    patches: Iterable[Patch],
    clusters: Sequence[str],
    notes: tuple[str, ...],
    obj: Object | None = None,
) -> Policy:
    plaintext = [{"operator" if key == "op" else key: value for key, value in patch.items()} for patch in patches]
    rule: dict[str, JSON] = {"overriders": {"plaintext": plaintext}}
    if clusters:
        rule["targetCluster"] = {"clusterNames": [*clusters]}
    else:
        notes = ("It holds for all clusters; --cluster names some.", *notes)
    if direction == "suspend":
        notes += (_RESUMING,)
    identity = {key: value for key in ("name", "namespace") if (value := get(obj, ("metadata", key)))}
    metadata = {"name": ".".join(filter(None, [f"{direction}-{definition.name}", identity.get("name")]))}
    if "namespace" in identity:
        metadata["namespace"] = identity["namespace"]
    spec = {"resourceSelectors": [{**_selector(definition), **identity}], "overrideRules": [rule]}
    scope = "Cluster" if is_cluster_scoped(definition) else ""
    manifest = {"apiVersion": API_VERSION, "kind": f"{scope}OverridePolicy", "metadata": metadata, "spec": spec}
    return Policy(manifest, notes)


def _selector(definition: Definition) -> Object:
    return {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind}
