"""What is compared in a state: health and aggregation, counts and requests, dependencies, and Retain."""

from collections.abc import Iterator
from typing import Any

from tests.proofs.reality.comparison import GROUPED, Reality, active, compare_components, compare_replica
from tests.proofs.reality.difference import differences, same_meaning
from tests.proofs.reality.experiment import Experiment
from tests.proofs.reality.findings import Finding
from tests.proofs.reality.ours import RejectedError, UnansweredError
from tests.proofs.reality.references import references
from tests.proofs.rig.api import ApiError, Object

_TIMES = 3
_AFTER_A_WRITE = 1.0
_SHOWN = 6
_NOT_FOUND = 404
_CHILDREN = (
    *("/api/v1/pods", "/api/v1/services", "/api/v1/configmaps", "/api/v1/secrets", "/apis/batch/v1/jobs"),
    *("/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets"),
    "/apis/apps/v1/controllerrevisions",
)


def judge_state(experiment: Experiment, state: str, expected: bool | None) -> None:
    """Compare health with the expectation, and have one and two such members aggregated."""
    expected = experiment.case.health.get(state, expected)
    experiment.judge(lambda: [*_health(experiment, state, expected), *_aggregation(experiment, state)])


def _health(experiment: Experiment, state: str, expected: bool | None) -> Iterator[Finding]:
    if expected is None:
        return
    what, live = f"health when {state}", experiment.live
    try:
        healthy = experiment.ours.healthy(live)
    except RejectedError as error:
        yield Finding(what, str(error))
        return
    shown = f"ours {healthy}, expected {expected}; pods {_phases(experiment)}; status {_brief(live.get('status'))}"
    yield Finding(what, "" if healthy is expected else shown)


def _aggregation(experiment: Experiment, state: str) -> Iterator[Finding]:
    try:
        status = experiment.ours.status(experiment.live)
    except RejectedError as error:
        yield Finding(f"status when {state}", str(error))
        return
    if status:
        for clusters in (1, 2):
            problem = _stored(experiment, [status] * clusters)
            if problem is not None:
                yield Finding(f"aggregate of {clusters} when {state}", problem)


def _stored(experiment: Experiment, statuses: list[Object]) -> str | None:
    """Return why karmada-apiserver rejects the aggregated status, empty when it does not, None when nobody is asked."""
    stored, karmada = experiment.stored, experiment.cluster.karmada
    try:
        aggregated = experiment.ours.aggregate(stored, statuses)
        karmada.request("PUT", f"{karmada.path(stored)}/status?dryRun=All", aggregated)
    except UnansweredError:
        return None
    except RejectedError as error:
        return str(error)
    except ApiError as error:
        return None if error.status == _NOT_FOUND else f"karmada-apiserver rejects it: {error.message[:300]}"
    return ""


def compare(experiment: Experiment, things: dict[str, Object]) -> None:
    """Compare counts and requests that are answered for these objects with the pods that exist; and dependencies."""
    experiment.judge(
        lambda: [finding for label, thing in things.items() for finding in _counts(experiment, label, thing)]
    )


def _counts(experiment: Experiment, label: str, thing: Object) -> Iterator[Finding]:
    pods = active(experiment.pods)
    reality = Reality.of(pods, experiment.case.kind.component)
    try:
        components, replica = experiment.ours.components(thing), experiment.ours.replica(thing)
    except RejectedError as error:
        yield Finding(f"counts ({label})", f"rejected: {error}")
        return
    yield compare_components(label, components, reality)
    yield compare_replica(label, replica, reality, is_of_groups=thing["kind"] in GROUPED)
    yield from dependencies(experiment, label, thing)


def dependencies(experiment: Experiment, label: str, thing: Object) -> Iterator[Finding]:
    """Compare dependencies that are answered for an object with what the pods refer to."""
    what = f"dependencies ({label})"
    try:
        listed = {(one["kind"], one.get("name")) for one in experiment.ours.dependencies(thing)}
    except RejectedError as error:
        yield Finding(what, f"rejected: {error}")
        return
    needed = {reference for pod in active(experiment.pods) for reference in references(pod["spec"])}
    missing = sorted(needed - listed - _made(experiment))
    yield Finding(what, ", ".join(f"{kind} {name} is missing" for kind, name in missing))


def _made(experiment: Experiment) -> set[tuple[str, str]]:
    """Return what pods may refer to that exists in the member and was not there before."""
    given = {(thing["kind"], thing["metadata"]["name"]) for thing in experiment.case.before}
    kinds = {"ConfigMap": "configmaps", "Secret": "secrets", "ServiceAccount": "serviceaccounts"}
    kinds["PersistentVolumeClaim"] = "persistentvolumeclaims"
    root = f"/api/v1/namespaces/{experiment.case.namespace}"
    found = {
        (kind, item["metadata"]["name"])
        for kind, plural in kinds.items()
        for item in experiment.cluster.member.request("GET", f"{root}/{plural}")["items"]
    }
    return found - given


def judge_retain(experiment: Experiment, state: str) -> None:
    """Send the template three times: spec, generation and children stay as they are, and nothing is rejected."""
    what, first, children = f"retain when {state}", experiment.live, _children(experiment)
    generations = []
    try:
        for _ in range(_TIMES):
            generations.append(experiment.write()["metadata"].get("generation"))
            experiment.steady(_AFTER_A_WRITE)
    except (ApiError, RejectedError) as error:
        experiment.found(Finding(what, f"write {len(generations) + 1} is rejected: {error}"[:500]))
        return
    last, later = experiment.live, _children(experiment)
    moved = [
        f"{name}: {children.get(name)} -> {later.get(name)}"
        for name in sorted({*children, *later})
        if children.get(name) != later.get(name)
    ]
    changes = differences(first["spec"], last["spec"])
    before, after = (thing["metadata"].get("generation") for thing in (first, last))
    if not experiment.case.kind.status_subresource:
        before, generations = after, []
    respelled = same_meaning(first["spec"], last["spec"]) and {*generations, after} == {after}
    if moved or not (respelled or (before == after and not changes)):
        seen = f"generation {before} -> {generations}; spec {changes[:_SHOWN]}; children {moved[:_SHOWN]}"
        experiment.found(Finding(what, seen))
    else:
        experiment.found(Finding(what))


def _children(experiment: Experiment) -> dict[str, Any]:
    """Return identity and generation of what is in the namespace, next to the object itself."""
    own = experiment.live["metadata"]["uid"]
    found = {}
    for path in (*_CHILDREN, *experiment.case.kind.children):
        root, _, plural = path.rpartition("/")
        answer = experiment.cluster.member.request("GET", f"{root}/namespaces/{experiment.case.namespace}/{plural}")
        for item in answer["items"]:
            metadata = item["metadata"]
            if metadata["uid"] != own:
                found[f"{plural}/{metadata['name']}"] = metadata["uid"], metadata.get("generation")
    return found


def _phases(experiment: Experiment) -> dict[str, int]:
    phases = [str(pod.get("status", {}).get("phase")) for pod in experiment.pods]
    return {phase: phases.count(phase) for phase in sorted(set(phases))}


def _brief(status: Any) -> str:
    status = status or {}
    plain = {name: value for name, value in status.items() if isinstance(value, (int, str))}
    conditions = {one.get("type"): one.get("status") for one in status.get("conditions") or () if isinstance(one, dict)}
    return str({**plain, "conditions": conditions})[:400]
