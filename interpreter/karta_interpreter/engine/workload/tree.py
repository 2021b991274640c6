"""The whole structure of a workload at once: components, instances, counts, pods and status.

Source: `pkg/tree` of the Karta project. Here the children of a component appear once, below the component. A definition
reads children from the whole workload, but upstream copies them into each instance of a parent, and every sum over the
tree becomes too large. The root is a node like the others, and instances stay in the order of the object.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s import (
    GVK,
    JSON,
    Counting,
    NewObject,
    Object,
    PodRequirements,
    get,
    objects_in,
    pod_requirements,
)
from karta_interpreter.engine.evaluation import StatusMatch, attributing, pod_name, pod_sets
from karta_interpreter.engine.evaluation.pod_states import (
    is_active,
    is_ended,
    other_owner,
    owner_uids,
    problem_of,
    uids_below,
)
from karta_interpreter.engine.workload.document import checked_pods, reading
from karta_interpreter.engine.workload.extraction import PIECES, Instance
from karta_interpreter.engine.workload.gang import GroupRule, PodGroup, SubGroup, group_rules
from karta_interpreter.engine.workload.workload import Component, Workload

_Key = tuple[str, str]  # a component and one of its instances


class PodNode(NamedTuple):
    """A recognised pod. ``replica`` is the replica that it belongs to, None if that is unknown."""

    pod: Object
    replica: str | None = None

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is true."""
        conditions = objects_in(get(self.pod, ("status", "conditions")))
        return any((condition.get("type"), condition.get("status")) == ("Ready", "True") for condition in conditions)

    @property
    def problem(self) -> str:
        """Why it does not run, "" without a reason."""
        return problem_of(self.pod)

    @property
    def rank(self) -> int:
        """Its place in a list that begins with what needs attention."""
        if self.problem:
            return 0
        if is_ended(self.pod):
            return 3
        return 2 if self.is_ready else 1

    def to_json(self) -> NewObject:
        """Return its name, node and state.

        >>> PodNode({"metadata": {"name": "web-0"}, "status": {"phase": "Pending"}}).to_json()
        {'name': 'web-0', 'phase': 'Pending', 'ready': False}
        """
        return _known(
            name=pod_name(self.pod),
            replicaKey=self.replica,
            phase=get(self.pod, ("status", "phase")),
            reason=self.problem or None,
            node=get(self.pod, ("spec", "nodeName")),
            ready=self.is_ready,
        )


class StrayPod(NamedTuple):
    """A pod without a component or instance, and the reason."""

    pod: Object
    reason: str


@dataclass(frozen=True)
class InstanceNode:
    """An instance with the requests of each of its pods, and the given pods that belong to it."""

    instance: Instance
    requirements: PodRequirements | None = None
    pods: tuple[PodNode, ...] = ()
    selector: Object | None = None
    has_known_pods: bool = False
    """Whether ``pods`` are all of its pods."""

    @property
    def requests(self) -> NewObject:
        """The resources that each pod requests."""
        return _amounts(self.requirements, 1)

    @property
    def total_requests(self) -> NewObject:
        """The resources that all its pods request together."""
        return _amounts(self.requirements, self.instance.replicas)

    @property
    def counts(self) -> "PodCounts":
        """How many pods it should have, has, and has ready. Pods that have ended or are being deleted do not count."""
        return _counted(self.instance.replicas, self.pods)

    def to_json(self, *, extracted: bool = True) -> NewObject:
        """Return its key (unless it is the only instance), its counts, and what its pods need, if it has some.

        With ``extracted`` also everything that the definition extracts.
        """
        instance, scale, pieces = self.instance, self.instance.scale, self.instance.fragmented_pod_spec
        fragments = {} if pieces is None else {name: getattr(pieces, piece) for name, piece in PIECES.items()}
        parts = _known(
            podTemplateSpec=instance.pod_template,
            podSpec=instance.pod_spec,
            metadata=instance.pod_metadata,
            fragmentedPodSpec=pieces and _known(**{name.removesuffix("Path"): one for name, one in fragments.items()}),
        )
        return _known(
            instanceKey=instance.id or None,
            replicas=instance.replicas,
            scale=scale and _known(replicas=scale.replicas, minReplicas=scale.minimum, maxReplicas=scale.maximum),
            extractedInstance=parts if parts and extracted else None,
            requirements=None if self.requirements is None else self.requirements.to_json() or {},
            selector=self.selector,
            **(self._known_pods() if self.has_known_pods else {}),
        )

    def _known_pods(self) -> NewObject:
        return {
            "currentReplicas": self.counts.current,
            "readyReplicas": self.counts.ready,
            "totalRequests": self.total_requests,
            "pods": [pod.to_json() for pod in self.pods],
        }


class PodCounts(NamedTuple):
    """Numbers of pods."""

    desired: int
    current: int
    ready: int


@dataclass(frozen=True)
class ComponentNode:
    """A component with its instances and child components."""

    name: str
    kind: GVK | None
    has_pods: bool
    instances: tuple[InstanceNode, ...]
    children: "tuple[ComponentNode, ...]" = ()
    selector: Object | None = None

    def to_json(self, *, extracted: bool = True) -> NewObject:
        """Return its kind (unless it is a logical component), its instances and its children."""
        return _known(
            name=self.name,
            kind=self.kind and {"group": self.kind.group, "version": self.kind.version, "kind": self.kind.kind},
            hasPodDefinition=self.has_pods,
            selector=self.selector,
            instances=[instance.to_json(extracted=extracted) for instance in self.instances],
            children=[child.to_json(extracted=extracted) for child in self.children] or None,
        )


class GroupNode(NamedTuple):
    """Pods that are placed together or not at all. ``group`` is None if its pods are not known."""

    rule: GroupRule
    group: PodGroup | None = None

    @property
    def running(self) -> int:
        """The number of its pods that run."""
        return 0 if self.group is None else count_running(self.group.pods)

    def to_json(self) -> NewObject:
        """Return its name and members, and with known pods its keys, its minimum, how many run, and its subgroups."""
        group = self.group
        known = {} if group is None else _of_group(group)
        if group is not None:
            known |= {"keys": list(group.keys), "subGroups": [_of_sub_group(part) for part in group.sub_groups]}
        return {
            "name": self.rule.name,
            "members": list(self.rule.members),
            "groupBy": list(self.rule.keys),
            **known,
        }


def count_running(pods: Iterable[Object]) -> int:
    """Return how many pods run.

    >>> count_running([{"status": {"phase": "Running"}}, {"status": {"phase": "Pending"}}, {}])
    1
    """
    return sum(get(pod, ("status", "phase")) == "Running" for pod in pods)


def _of_group(group: PodGroup | SubGroup) -> NewObject:
    topology = group.topology
    running = count_running(group.pods)
    return _known(
        minimum=group.minimum,
        pods=[pod_name(pod) for pod in group.pods],
        running=running,
        minimumRuns=running >= group.minimum,
        topology=topology and topology.model_dump(by_alias=True),
    )


def _of_sub_group(part: SubGroup) -> NewObject:
    return {"component": part.component, **_of_group(part)}


@dataclass(frozen=True)
class WorkloadTree:
    """A workload from its root down.

    ``strays`` are the given pods that belong nowhere, ``ungrouped`` those that no group has although the definition
    describes groups.

    >>> from karta_interpreter import Karta
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {"parallelism": 3}}
    >>> tree = WorkloadTree.build(Workload(Karta.for_object(job), job))
    >>> [component.name for component in tree.components()]
    ['job']
    """

    workload: Workload
    root: ComponentNode
    status: StatusMatch
    strays: tuple[StrayPod, ...] = ()
    groups: tuple[GroupNode, ...] = ()
    ungrouped: tuple[Object, ...] = ()

    @classmethod
    def build(cls, workload: Workload, pods: Iterable[Object] | None = None, owners: Iterable[Object] = ()) -> Self:
        """Return the tree of a workload with all its pods in their places. Raises WorkloadError.

        The pods must be known to be the workload's. Those are strays whose owner is another object of its kind, by the
        UID, also through ``owners`` between them. Without pods there are no counts of them.
        """
        if not isinstance(workload, Workload):
            raise WorkloadError(f"a tree is made of a Workload(karta, object), not {type(workload).__name__}")
        by_instance, strays = defaultdict[_Key, list[PodNode]](list), list[StrayPod]()
        placed = list[Object]()
        attribute = attributing(workload.definition, workload.object)
        owners_by_uid = {get(owner, ("metadata", "uid")): owner for owner in owners}
        below = uids_below(workload.object, owners_by_uid)
        for pod in checked_pods(pods or ()):
            other = "" if owner_uids(pod) & below else other_owner(workload.object, pod, owners_by_uid)
            if other:
                strays.append(StrayPod(pod, f"pod {pod_name(pod)} is owned by {other}"))
                continue
            try:
                with reading():
                    attribution = attribute(pod)
            except WorkloadError as err:
                strays.append(StrayPod(pod, str(err)))
            else:
                placed.append(pod)
                by_instance[attribution.component, attribution.instance].append(PodNode(pod, attribution.replica))
        with reading():
            needs = {
                (pods.component, pods.instance): pod_requirements(pods.template, Counting.SCHEDULER)
                for pods in pod_sets(workload.definition, workload.object)
            }
        groups = groups_of(workload, placed)
        grouped = {id(pod) for node in groups if node.group for pod in node.group.pods}
        ungrouped = tuple(pod for pod in placed if groups and id(pod) not in grouped)
        root = _node(workload.root, needs, by_instance if pods is not None else None)
        return cls(workload, root, workload.status, tuple(strays), groups, ungrouped)

    @property
    def replicas(self) -> int:
        """The number of pods that the whole workload should have."""
        return sum(instance.instance.replicas for instance in self._instances_with_pods())

    @property
    def counts(self) -> PodCounts:
        """How many pods the whole workload should have, has, and has ready, pods that belong nowhere included."""
        pods = [PodNode(stray.pod) for stray in self.strays]
        for instance in self._instances_with_pods():
            pods += instance.pods
        return _counted(self.replicas, pods)

    @property
    def total_requests(self) -> NewObject:
        """The resources that all pods of the workload request together."""
        totals = dict[str, int]()
        for instance in self._instances_with_pods():
            if instance.requirements is not None:
                for name, amount in instance.requirements.resource_request.items():
                    totals[name] = totals.get(name, 0) + amount * instance.instance.replicas
        return _amounts(PodRequirements(totals), 1)

    def _instances_with_pods(self) -> Iterator[InstanceNode]:
        for node in self.components():
            if node.has_pods:
                yield from node.instances

    def components(self) -> Iterator[ComponentNode]:
        """Yield every component, parents before children."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)

    def to_json(self) -> NewObject:
        """Return the tree as JSON values named as in Karta's own tools. ``phases`` are all matching statuses."""
        obj = self.workload.object
        return _known(
            apiVersion=obj["apiVersion"],
            kind=obj["kind"],
            metadata=_known(
                **{field: get(obj, ("metadata", field)) for field in ("name", "generateName", "namespace")}
            ),
            definition=self.workload.karta.name,
            replicas=self.replicas,
            root=self.root.to_json(),
            status={"phases": [str(status) for status in self.status.matched]},
            podGroups=[group.to_json() for group in self.groups] or None,
            ungroupedPods=[pod_name(pod) for pod in self.ungrouped] or None,
            strayPods=[{"name": pod_name(pod), "reason": reason} for pod, reason in self.strays] or None,
        )


def groups_of(workload: Workload, pods: Sequence[Object] = ()) -> tuple[GroupNode, ...]:
    """Return the groups of the pods, and the rules for groups that have no pods yet.

    A pod without a key of its group is in no group.
    """
    rules = {rule.name: rule for rule in group_rules(workload.definition)}
    try:
        groups = workload.pod_groups(pods)
    except WorkloadError:
        groups = workload.pod_groups([pod for pod in pods if _has_group(workload, pod)])
    nodes = [GroupNode(rules[group.name], group) for group in groups]
    with_pods = {node.rule.name for node in nodes}
    return (*nodes, *(GroupNode(rule) for rule in rules.values() if rule.name not in with_pods))


def _has_group(workload: Workload, pod: Object) -> bool:
    return not reason_without_group(workload, pod)


def reason_without_group(workload: Workload, pod: Object) -> str:
    """Return why a pod has no group: the error of its rule. "" if it has one, or no rule is about it."""
    try:
        workload.pod_groups([pod])
    except WorkloadError as err:
        return str(err)
    return ""


def _known(**fields: JSON) -> NewObject:
    return {name: value for name, value in fields.items() if value is not None}


def _counted(desired: int, pods: Iterable[PodNode]) -> PodCounts:
    active = [pod for pod in pods if is_active(pod.pod)]
    return PodCounts(desired, len(active), sum(pod.is_ready for pod in active))


def _amounts(requirements: PodRequirements | None, pods: int) -> NewObject:
    """Return the resources that a number of pods request."""
    if requirements is None:
        return {}
    totals = {name: amount * pods for name, amount in requirements.resource_request.items()}
    return (PodRequirements(totals).to_json() or {}).get("resourceRequest") or {}


def _node(
    component: Component, requirements: Mapping[_Key, PodRequirements], pods: Mapping[_Key, Sequence[PodNode]] | None
) -> ComponentNode:
    selectors = component.instance_selectors
    instances = list[InstanceNode]()
    for id_, instance in component.instances.items():
        key = component.name, id_
        selector = selectors[id_].selector if id_ else None
        own = tuple((pods or {}).get(key, ()))
        is_known = pods is not None and (instance.has_pods or bool(own))
        instances.append(InstanceNode(instance, requirements.get(key), own, selector, is_known))
    children = tuple(_node(child, requirements, pods) for child in component.children)
    selector = component.selector.selector if component.has_pods else None
    return ComponentNode(component.name, component.kind, component.has_pods, tuple(instances), children, selector)
