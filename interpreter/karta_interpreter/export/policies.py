"""The policy of Karmada that follows from a definition: failover that keeps state."""

from typing import Final, NamedTuple

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import NewObject, Object
from karta_interpreter.definitions.karta import Definition, Status
from karta_interpreter.engine.operations import Operation, healthy_statuses

API_VERSION = "policy.karmada.io/v1alpha1"


class Policy(NamedTuple):
    """A policy, and notes for its reader, which become comments above it."""

    manifest: Object
    notes: tuple[str, ...] = ()


# The kinds of the catalogue that have objects without a namespace.
_OF_CLUSTER: Final = ("ClusterPolicy.kyverno.io", "SidecarSet.apps.kruise.io")


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
    application: NewObject = {"decisionConditions": {"tolerationSeconds": toleration}, "purgeMode": "Directly"}
    notes = [_SERVES if is_service else _RUNS_TO_COMPLETION]
    if state:
        rules = [{"aliasLabelName": item.label, "jsonPath": item.json_path} for item in state]
        application["statePreservation"] = {"rules": rules}
        notes += [_STATE, *(f"A mutation in the members makes of {name}." for name in state)]
    elif is_service:
        application |= {"purgeMode": "Gracefully", "gracePeriodSeconds": _GRACE_PERIOD}
    spec = {
        "propagateDeps": True,
        "resourceSelectors": [{"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind}],
        "placement": {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]},
        "failover": {"application": application},
    }
    is_known = f"{definition.gvk.kind}.{definition.gvk.group}" in _OF_CLUSTER
    scope = "Cluster" if cluster_scoped or is_known else ""
    metadata = {"name": definition.object_name}
    manifest = {"apiVersion": API_VERSION, "kind": f"{scope}PropagationPolicy", "metadata": metadata, "spec": spec}
    return Policy(manifest, tuple(notes))
