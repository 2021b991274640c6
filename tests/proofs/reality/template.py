"""What Karmada makes of an object on its way to a member.

Pruning follows pkg/resourceinterpreter/default/native/prune, the merge pkg/util/objectwatcher of Karmada.
"""

import copy

from tests.proofs.rig.api import Object

_ASSIGNED = (
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
    "ownerReferences",
    "finalizers",
)
_JOB_SELECTOR = ("controller-uid", "batch.kubernetes.io/controller-uid")
_JOB_LABELS = (*_JOB_SELECTOR, "job-name", "batch.kubernetes.io/job-name")
_REVISIONS = ("deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history")


def template_of(stored: Object, revised: Object | None = None) -> Object:
    """Return what Karmada writes into a Work for an object as karmada-apiserver has it.

    ``revised`` is the object with the replicas of the cluster. Kinds are recognized by name only, as there.
    """
    thing = copy.deepcopy(revised or stored)
    metadata = thing["metadata"]
    for name in _ASSIGNED:
        metadata.pop(name, None)
    thing.pop("status", None)
    if thing["kind"] == "Job":
        _prune_job(thing["spec"])
    if thing["kind"] == "Deployment":
        _remove(metadata.get("annotations"), _REVISIONS)
    _label(metadata, stored["metadata"])
    return thing


def prepared(template: Object, observed: Object) -> Object:
    """Return the desired object that Karmada passes to Retain."""
    desired, seen = copy.deepcopy(template), observed["metadata"]
    metadata = desired["metadata"]
    metadata["resourceVersion"] = seen["resourceVersion"]
    for name in ("finalizers", "ownerReferences"):
        if seen.get(name):
            metadata[name] = seen[name]
    for name in ("annotations", "labels"):
        metadata[name] = {**seen.get(name, {}), **metadata.get(name, {})}
    return desired


def _prune_job(spec: Object) -> None:
    spec.pop("ttlSecondsAfterFinished", None)
    if not spec.get("manualSelector"):
        _remove(spec.get("selector", {}).get("matchLabels"), _JOB_SELECTOR)
        _remove(spec.get("template", {}).get("metadata", {}).get("labels"), _JOB_LABELS)


def _remove(entries: Object | None, names: tuple[str, ...]) -> None:
    for name in names:
        (entries or {}).pop(name, None)


def _label(metadata: Object, stored: Object) -> None:
    labels, annotations = metadata.setdefault("labels", {}), metadata.setdefault("annotations", {})
    labels["karmada.io/managed"] = "true"
    annotations["resourcetemplate.karmada.io/uid"] = stored["uid"]
    annotations["resourcetemplate.karmada.io/generation"] = str(stored.get("generation", 0))
