"""Compare the product's counts and requests with the pods that exist."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.proofs.reality.findings import Finding
from tests.proofs.reality.resources import most, plus, pod_requests, quantities, shown
from tests.proofs.rig.api import Object

Part: TypeAlias = tuple[int, str]
"""How many pods a component has, and what each requests."""

GROUPED = frozenset(
    (
        "DisaggregatedSet",
        "LeaderWorkerSet",
        "ModelServing",
        "PodCliqueSet",
        "RayClusterFleet",
        "RoleBasedGroupSet",
        "StormService",
    )
)
"""The kinds that Karmada divides as groups of pods."""

ANY = "*"
"""The component of all pods of a kind that has a single one, whatever the product calls it."""


@dataclass(frozen=True, slots=True)
class Reality:
    """The pods that exist: by component, and what they request together."""

    components: Mapping[str, list[Object]]

    @classmethod
    def of(cls, pods: Sequence[Object], component: Callable[[Object], str]) -> "Reality":
        """Group pods by their component."""
        grouped: dict[str, list[Object]] = {}
        for pod in pods:
            grouped.setdefault(component(pod), []).append(pod)
        return cls(grouped)

    @property
    def pods(self) -> int:
        return sum(len(pods) for pods in self.components.values())

    def together(self) -> str:
        """Return what all pods request, by resource."""
        specs = [pod["spec"] for pods in self.components.values() for pod in pods]
        return shown(plus(*(pod_requests(spec) for spec in specs)))

    def largest(self) -> str:
        """Return the most that any pod requests, by resource."""
        specs = [pod["spec"] for pods in self.components.values() for pod in pods]
        return shown(most(*(pod_requests(spec) for spec in specs)))


def compare_components(label: str, answered: Sequence[Object], reality: Reality) -> Finding:
    ours = {
        component["name"]: (component.get("replicas", 0), _requests(component.get("replicaRequirements")))
        for component in answered
        if component.get("replicas", 0)
    }
    real = dict(reality.components)
    if ANY in real and len(ours) == 1:
        real[next(iter(ours))] = real.pop(ANY)
    return Finding(f"components ({label})", "; ".join(_component_problems(ours, real)))


def _component_problems(ours: Mapping[str, Part], real: Mapping[str, list[Object]]) -> Iterator[str]:
    for name in sorted({*ours, *real}):
        count, requests = ours.get(name, (0, ""))
        pods = real.get(name, [])
        if count != len(pods):
            yield f"{name}: ours {count} pods, real {len(pods)}"
        actual = sorted({shown(pod_requests(pod["spec"])) for pod in pods})
        if count and pods and actual != [requests]:
            yield f"{name}: ours requests {requests}, real {' or '.join(actual)}"


def compare_replica(label: str, answered: Object, reality: Reality, *, is_of_groups: bool = False) -> Finding:
    """Compare an answer of InterpretReplica: all pods, and the most that any of them requests.

    Of groups each is asked for the sum of its pods.
    """
    problems = []
    count = answered.get("replicas", 0)
    if is_of_groups:
        return Finding(f"replica ({label})", _problem_of_groups(count, answered, reality))
    if count != reality.pods:
        problems.append(f"ours {count} pods, real {reality.pods}")
    requests = _requests(answered.get("replicaRequirements"))
    if reality.pods and requests != reality.largest():
        problems.append(f"ours requests {requests}, real {reality.largest()}")
    return Finding(f"replica ({label})", "; ".join(problems))


def _problem_of_groups(count: int, answered: Object, reality: Reality) -> str:
    if not count or reality.pods % count:
        return f"ours {count} groups, real {reality.pods} pods" if count or reality.pods else ""
    requests = quantities((answered.get("replicaRequirements") or {}).get("resourceRequest"))
    ours = shown({name: amount * count for name, amount in requests.items()})
    return "" if ours == reality.together() else f"ours requests {ours} together, real {reality.together()}"


def active(pods: Sequence[Object]) -> list[Object]:
    """Return the pods that run or are about to."""
    return [
        pod
        for pod in pods
        if pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}
        and "deletionTimestamp" not in pod["metadata"]
    ]


def _requests(requirements: Any) -> str:
    return shown(quantities((requirements or {}).get("resourceRequest")))
