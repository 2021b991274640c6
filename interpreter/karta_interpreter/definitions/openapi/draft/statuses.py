"""Drafts a status definition from the schema of a status."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from karta_interpreter.base.k8s import Object, grouped
from karta_interpreter.definitions.karta.status_rules import MEANINGS
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

# Fields of a status that hold a phase, the most telling first, and the words that end other names of such fields.
_PHASES: Final = ("phase", "state", "currentState", "status", "jobStatus", "jobDeploymentStatus", "health")
_ENDS: Final = ("phase", "state", "status", "health")

_STATUS: Final = SchemaPath(("status",))

Statuses: TypeAlias = tuple[Object, str]
"""A `statusDefinition`, and a note about the points to check in it."""


def statuses(kind: CustomKind, switch: str) -> Statuses:
    """Return the status definition of a kind: by its phase, by its conditions, or by its ready replicas.

    Conditions go before a phase if the schema does not list the phase's values.

    ``switch`` is the field that suspends a workload. It shows a suspended workload if the status does not.
    """
    status = below(kind.schema, "status")
    places = _phases(status)
    phase = next(iter(places), None)
    phases = listed_texts(below(kind.schema, *phase.names)) if phase else []
    has_conditions = has_entries(status, "conditions", "type", "status")
    if phase and (phases or not has_conditions):
        mappings, note = _mappings("phase", phases)
        definition: Object = {"phaseDefinition": {"path": phase.jq}, "statusMappings": mappings}
    elif has_conditions:
        types = listed_texts(below(entries(below(status, "conditions"), "items") or {}, "type"))
        mappings, note = _mappings("condition", types)
        definition = {"conditionsDefinition": {"path": ".status.conditions"}, "statusMappings": mappings}
        if phase:
            definition = {"phaseDefinition": {"path": phase.jq}, **definition}
            note += f" {phase.jq} may be a phase without a list of its values; byPhase can match them."
    else:
        definition, note = _by_replicas(status, kind.scale_path)
    if len(places) > 1:
        note += f" These may be phases, too: {', '.join(place.jq for place in places[1:])}."
    if switch:
        suspended = {"byExpression": {"expression": f"{switch} // false", "expectedResult": "true"}}
        definition["statusMappings"].setdefault("suspended", [suspended])
    if definition["statusMappings"].keys().isdisjoint(("running", "completed", "suspended")):
        note += " Until one is mapped that counts as healthy, every workload is unhealthy."
    return definition, note


def _phases(status: Object) -> list[SchemaPath]:
    """Return the places of phases, the most telling first. Texts of an object in the status come last.

    >>> text = {"type": "string"}
    >>> job = {"properties": {"state": text, "message": text}}
    >>> described = {"podsHealth": text, "currentState": text, "job": job, "message": text}
    >>> [path.jq for path in _phases({"properties": described})]
    ['.status.currentState', '.status.podsHealth', '.status.job.state']
    """
    texts = [name for name, part in fields(status) if is_text(part)]
    names: list[str] = [name for name in _PHASES if name in texts]
    names += [name for name in texts if name.lower().endswith(_ENDS) and name not in names]
    places = [_STATUS / name for name in names]
    for name, part in fields(status):
        places += [_STATUS / name / inner for inner in _PHASES[:2] if is_text(below(part, inner))]
    return places


def _mappings(noun: str, listed: Sequence[str]) -> Statuses:
    """Return the mappings of the phases or conditions that a schema lists. There are none for those it does not."""
    if not listed:
        return {}, f"CHECK: the schema does not say which {noun}s there are. Map those that the controller sets."
    meanings = ((MEANINGS.get(text.lower()), _matcher(noun, text)) for text in listed)
    mappings = grouped((status, matcher) for status, matcher in meanings if status)
    note = f"CHECK: which {noun} means what is guessed by its name."
    unknown = [text for text in listed if text.lower() not in MEANINGS]
    if unknown:
        note += f" Without a meaning here: {', '.join(unknown)}."
    return mappings, note


def _matcher(noun: str, text: str) -> Object:
    if noun == "phase":
        return {"byPhase": text}
    return {"byConditions": [{"type": text, "status": "True"}]}


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
