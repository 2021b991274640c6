"""The whole structure of a workload at once: components, instances, counts, pods and status.

Source: `pkg/tree` of the Karta project. Here children are below their component, once: a definition reads them from
the whole workload, so that the copy which upstream gives to each instance of a parent makes every sum over the tree
too large. The root is a node like the others, and instances stay in the order of the object.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from karta_interpreter.errors import WorkloadError
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.requirements import Counting, PodRequirements, pod_requirements
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.pods import pod_sets
from karta_interpreter.karta.status import StatusMatch
from karta_interpreter.workload.attribution import attribute, checked_pod
from karta_interpreter.workload.component import Component
from karta_interpreter.workload.document import reading
from karta_interpreter.workload.nodes import ComponentNode, InstanceNode, PodNode
from karta_interpreter.workload.selectors import pod_name
from karta_interpreter.workload.workload import Workload

_Key = tuple[str, str]
"""A component and an instance of it."""


class StrayPod(NamedTuple):
    """A pod that belongs to no component or instance, and why."""

    pod: Object
    reason: str


@dataclass(frozen=True, slots=True)
class WorkloadTree:
    """A workload from its root down.

    ``status`` is None where the definition has no status rules; ``strays`` are the given pods that belong
    nowhere.

    >>> from karta_interpreter import Karta
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {"parallelism": 3}}
    >>> tree = WorkloadTree.build(Workload(Karta.for_object(job), job))
    >>> [component.name for component in tree.components()]
    ['job']
    """

    workload: Workload
    root: ComponentNode
    status: StatusMatch | None = None
    strays: tuple[StrayPod, ...] = ()

    @classmethod
    def build(cls, workload: Workload, pods: Iterable[Object] = ()) -> Self:
        """The tree of a workload, with pods that are known to be its own in their places.

        Raises WorkloadError where the definition has no answer for the object, as reading a component does.
        """
        found, strays = _attributed(workload, pods)
        return cls(workload, _node(workload.root, _requirements(workload), found), workload.status, strays)

    @property
    def replicas(self) -> int:
        """How many pods the whole workload is to have."""
        return sum(each.instance.replicas for node in self.components() if node.has_pods for each in node.instances)

    def components(self) -> Iterator[ComponentNode]:
        """Every component, each before those that belong to it."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)

    def to_json(self) -> dict[str, JSON]:
        """The tree as JSON values, in the names of Karta's own tools; what is not there is left out.

        ``status.phases`` are all statuses that match, ``strayPods`` the pods that belong nowhere.
        """
        obj = self.workload.object
        names = {field: get(obj, ("metadata", field)) for field in ("name", "generateName", "namespace")}
        wire: dict[str, JSON] = {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "metadata": {field: name for field, name in names.items() if name is not None},
            "definition": self.workload.karta.name,
            "replicas": self.replicas,
            "root": self.root.to_json(),
        }
        if self.status is not None:
            wire["status"] = {"phases": [str(status) for status in self.status.matched]}
        if self.strays:
            wire["strayPods"] = [{"name": pod_name(pod), "reason": reason} for pod, reason in self.strays]
        return wire


def _node(
    component: Component, requirements: Mapping[_Key, PodRequirements], pods: Mapping[_Key, tuple[PodNode, ...]]
) -> ComponentNode:
    keys = [((component.name, id_), instance) for id_, instance in component.instances.items()]
    instances = [InstanceNode(instance, requirements.get(key), pods.get(key, ())) for key, instance in keys]
    children = [_node(child, requirements, pods) for child in component.children]
    return ComponentNode(component.name, component.kind, component.has_pods, tuple(instances), tuple(children))


def _requirements(workload: Workload) -> dict[_Key, PodRequirements]:
    with reading():
        found = pod_sets(workload.karta.definition, workload.object)
        return {(each.component, each.instance): pod_requirements(each.template, Counting.SCHEDULER) for each in found}


def _attributed(
    workload: Workload, pods: Iterable[Object]
) -> tuple[dict[_Key, tuple[PodNode, ...]], tuple[StrayPod, ...]]:
    found: dict[_Key, tuple[PodNode, ...]] = {}
    strays: list[StrayPod] = []
    for pod in map(checked_pod, pods):
        try:
            with reading():
                place = attribute(workload.karta.definition, workload.object, pod)
        except WorkloadError as err:
            strays.append(StrayPod(pod, str(err)))
            continue
        key = (place.component, place.instance)
        found[key] = (*found.get(key, ()), PodNode(pod, place.replica))
    return found, tuple(strays)
