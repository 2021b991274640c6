"""The state of a pod: whether it counts, why it does not run, and which object of the workload's kind owns it."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from karta_interpreter.base.k8s import JSON, Object, get, objects_in

# The reasons of a container that waits for its start (``pkg/kubelet/kubelet_pods.go``). Any other is a failure.
STARTING: Final = frozenset({None, "", "ContainerCreating", "PodInitializing"})
_ENDED: Final = frozenset({"Succeeded", "Failed"})
# The reason of a container that ended by itself says less than its exit code.
_UNTOLD: Final = frozenset({None, "", "Error"})


def is_ended(pod: Object) -> bool:
    """Return whether all containers of a pod have ended for good."""
    return get(pod, ("status", "phase")) in _ENDED


def is_active(pod: Object) -> bool:
    """Return whether a pod runs or is about to."""
    return not is_ended(pod) and not get(pod, ("metadata", "deletionTimestamp"))


def problem_of(pod: Object) -> str:
    """Return why a pod does not run, "" for one that runs, starts or has succeeded.

    >>> problem_of({"status": {"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}})
    'ImagePullBackOff'
    """
    phase = get(pod, ("status", "phase"))
    if phase == "Succeeded":
        return ""
    for name in ("initContainerStatuses", "containerStatuses"):
        for container in objects_in(get(pod, ("status", name))):
            problem = _problem_of_container(container)
            if problem:
                return problem
    if phase == "Failed":
        return str(get(pod, ("status", "reason")) or phase)
    for condition in objects_in(get(pod, ("status", "conditions"))):
        if (condition.get("type"), condition.get("status")) == ("PodScheduled", "False"):
            return ": ".join(str(condition[name]) for name in ("reason", "message") if condition.get(name))
    return ""


def _problem_of_container(container: Object) -> str:
    waiting = get(container, ("state", "waiting", "reason"))
    if waiting not in STARTING:
        before = _end_of(get(container, ("lastState", "terminated")))
        return f"{waiting} after {before}" if before else str(waiting)
    return _end_of(get(container, ("state", "terminated")))


def _end_of(terminated: JSON) -> str:
    """Return how a container has failed, "" for one that has not."""
    code = get(terminated, ("exitCode",))
    if not code:
        return ""
    reason = get(terminated, ("reason",))
    return f"exit code {code}" if reason in _UNTOLD else str(reason)


def other_owner(obj: Object, pod: Object, owners: Mapping[JSON, Object]) -> str:
    """Return the object of the workload's kind that owns a pod instead of the workload, "" if none does.

    Owners are known by their UIDs. ``owners`` are objects between, by UID.
    """
    uid, kind, group = get(obj, ("metadata", "uid")), obj.get("kind"), _group(obj)
    if not uid:
        return ""
    other = ""
    pending, seen = [pod], set[JSON]()
    while pending:
        owned = pending.pop()
        if get(owned, ("metadata", "uid")) == uid:
            return ""
        for reference in objects_in(get(owned, ("metadata", "ownerReferences"))):
            owner = reference.get("uid")
            if owner == uid:
                return ""
            if not isinstance(owner, str) or owner in seen:
                continue
            seen.add(owner)
            if reference.get("kind") == kind and _group(reference) == group:
                other = f"{kind} {reference.get('name')}"
            elif owner in owners:
                pending.append(owners[owner])
    return other


def uids_below(obj: Object, owners: Mapping[JSON, Object]) -> set[str]:
    """Return the UID of an object, and those of the ``owners`` that it owns, also through others of them.

    A pod that one of them owns has no `other_owner`. The work is linear in their references.
    """
    children = defaultdict[str, list[str]](list)
    for uid, owner in owners.items():
        if isinstance(uid, str) and (owner.get("kind"), _group(owner)) != (obj.get("kind"), _group(obj)):
            for above in owner_uids(owner):
                children[above].append(uid)
    pending = [uid] if isinstance(uid := get(obj, ("metadata", "uid")), str) else []
    below = {*pending}
    while pending:
        found = {*children[pending.pop()]} - below
        below |= found
        pending += found
    return below


def owner_uids(obj: Object) -> set[str]:
    """Return the UIDs of the owners that an object names."""
    references = objects_in(get(obj, ("metadata", "ownerReferences")))
    return {uid for reference in references if isinstance(uid := reference.get("uid"), str)}


def _group(obj: Object) -> str:
    return str(obj.get("apiVersion")).rpartition("/")[0]
