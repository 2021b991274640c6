"""Drafts a status definition from the schema of a status, by the usual habits of operators."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from karta_interpreter.base.k8s import Object, grouped
from karta_interpreter.definitions.openapi.schema import (
    CustomKind,
    SchemaPath,
    below,
    entries,
    fields,
    has_entries,
    is_text,
    listed_texts,
)

PHASES = ("phase", "state", "status", "jobStatus", "jobDeploymentStatus")
"""Fields of a status that hold a phase, the most telling first."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "initializing": (
        *("pending", "creating", "created", "initializing", "starting", "submitted", "provisioning", "queued"),
        *("waiting", "scheduling", "deploying", "notready", "new"),
    ),
    "running": ("running", "ready", "active", "healthy", "available", "successful", "deployed"),
    "completed": ("completed", "complete", "succeeded", "success", "finished", "done"),
    "failed": ("failed", "failure", "error", "failing"),
    "degraded": ("degraded", "unhealthy"),
    "suspended": ("suspended", "paused", "stopped"),
    "suspending": ("suspending", "pausing", "stopping"),
    "resuming": ("resuming",),
}
"""The usual meaning of phases, by their names in lower case."""
_MEANINGS = {word: status for status, words in WORDS.items() for word in words}

_SERVICE = {"running": ("Ready", "Available"), "failed": ("Failed",)}
_BATCH = {
    "running": ("Running",),
    "completed": ("Complete", "Completed", "Succeeded"),
    "failed": ("Failed",),
    "suspended": ("Suspended",),
}
_STATUS: Final = SchemaPath(("status",))
_BATCH_KINDS = re.compile(r"(Job|Run|Task|Workflow|Application)(?![a-z])")

Statuses = tuple[Object, str]
"""A `statusDefinition`, and a note about the points to check in it."""


def statuses(kind: CustomKind, switch: str) -> Statuses:
    """Return the status definition of a kind: by its phase, by its conditions, or by its ready replicas.

    Conditions go before a phase if the schema does not list the phase's values.

    ``switch`` is the field that suspends a workload. It shows a suspended workload if the status does not.
    """
    status = below(kind.schema, "status")
    # Texts of an object in the status come last.
    places = [_STATUS / name for name in PHASES]
    places += [_STATUS / name / inner for name, _ in fields(status) for inner in PHASES[:2]]
    phase = next((at for at in places if is_text(below(kind.schema, *at.names))), None)
    phases = listed_texts(below(kind.schema, *phase.names)) if phase else []
    has_conditions = has_entries(status, "conditions", "type", "status")
    if phase and (phases or not has_conditions):
        definition, note = _by_phase(phase, phases)
    elif has_conditions:
        definition, note = _by_conditions(kind, status)
        if phase:
            definition = {"phaseDefinition": {"path": phase.jq}, **definition}
            note += f" {phase.jq} is a phase without a list of its values; byPhase can match them."
    else:
        definition, note = _by_replicas(status, kind.scale_path)
    if switch:
        suspended = {"byExpression": {"expression": f"{switch} // false", "expectedResult": "true"}}
        definition["statusMappings"].setdefault("suspended", [suspended])
    return definition, note


def _by_phase(path: SchemaPath, listed: Sequence[str]) -> Statuses:
    phases = listed or ("Pending", "Running", "Succeeded", "Failed")
    meanings = ((_MEANINGS.get(phase.lower()), {"byPhase": phase}) for phase in phases)
    mappings = grouped((status, matcher) for status, matcher in meanings if status)
    unknown = [phase for phase in listed if phase.lower() not in _MEANINGS]
    note = (
        "CHECK: which phase means what is guessed by its name."
        if listed
        else "CHECK: the schema does not say which phases there are; these are the usual ones."
    )
    if unknown:
        note += f" Without a meaning here: {', '.join(unknown)}."
    return {"phaseDefinition": {"path": path.jq}, "statusMappings": mappings}, note


def _by_conditions(kind: CustomKind, status: Object) -> Statuses:
    listed = listed_texts(below(entries(below(status, "conditions"), "items") or {}, "type"))
    types: Mapping[str, Sequence[str]] = _BATCH if _BATCH_KINDS.search(kind.gvk.kind) else _SERVICE
    note = (
        "CHECK: the schema does not say which conditions there are; these are usual ones. Remove the ones that the"
        " controller does not set."
    )
    if listed:
        types = {
            name: [condition for condition in listed if _MEANINGS.get(condition.lower()) == name] for name in WORDS
        }
        unknown = [condition for condition in listed if condition.lower() not in _MEANINGS]
        note = "CHECK: which condition means what is guessed by its name."
        note += f" Without a meaning here: {', '.join(unknown)}." if unknown else ""
    mappings = {
        name: [{"byConditions": [{"type": type_, "status": "True"}]} for type_ in named]
        for name, named in types.items()
        if named
    }
    return {"conditionsDefinition": {"path": ".status.conditions"}, "statusMappings": mappings}, note


def _by_replicas(status: Object, scale_path: str) -> Statuses:
    ready = next((name for name in ("readyReplicas", "availableReplicas") if below(status, name)), None)
    if ready is None or not scale_path:
        return (
            {"statusMappings": {}},
            "CHECK: the schema has neither a phase nor conditions. Say when the workload runs, and when it has failed.",
        )
    are_ready = f"(.status.{ready} // 0) >= ({scale_path} // 1)"
    mappings = {
        "running": [{"byExpression": {"expression": are_ready, "expectedResult": "true"}}],
        "initializing": [{"byExpression": {"expression": are_ready, "expectedResult": "false"}}],
    }
    return {"statusMappings": mappings}, "CHECK: a workload whose pods are all ready is taken to run."
