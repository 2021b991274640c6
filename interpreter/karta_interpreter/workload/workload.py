"""A workload: an object and the Karta of its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from karta_interpreter.errors import ComponentNotFoundError
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.resolution import Known, resolved
from karta_interpreter.karta.status import StatusMatch, match_status
from karta_interpreter.suggestion import did_you_mean
from karta_interpreter.workload import attribution, gang, subtree
from karta_interpreter.workload.attribution import Attribution, checked_pod
from karta_interpreter.workload.component import Component
from karta_interpreter.workload.document import check_object, reading
from karta_interpreter.workload.gang import PodGroup
from karta_interpreter.workload.karta import Karta
from karta_interpreter.workload.membership import EffectiveMember, effective_member
from karta_interpreter.workload.scaling import Direction, apply_actions


@dataclass(frozen=True, slots=True)
class Workload:
    """An object, read and changed through its Karta (the component factory of Karta's library).

    The object is not copied, and never changed: every change gives a new workload, which shares what did not change
    with this one. Raises WorkloadError for an object without apiVersion, kind or name, or, unless ``any_kind``,
    one that is not of the Karta's kind.

    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {"parallelism": 3}}
    >>> workload = Workload(Karta.for_object(job), job)
    >>> workload.suspend().object["spec"]
    {'parallelism': 3, 'suspend': True}
    """

    karta: Karta
    object: Object
    any_kind: bool = False

    def __post_init__(self) -> None:
        check_object(self.object, None if self.any_kind else self.karta.gvk)

    @property
    def components(self) -> Mapping[str, Component]:
        """Every component by name, the root first and the others in the order of the definition."""
        return {each.name: Component(self, each) for each in self.karta.definition.components}

    @property
    def root(self) -> Component:
        """The component that is the workload object itself."""
        return Component(self, self.karta.definition.root)

    def component(self, name: str) -> Component:
        """The component of that name; raises ComponentNotFoundError."""
        found = self.karta.definition.component(name)
        if found is None:
            hint = did_you_mean(name, self.components)
            raise ComponentNotFoundError(f'definition {self.karta.name} has no component "{name}"; {hint}')
        return Component(self, found)

    def children_of(self, name: str) -> tuple[Component, ...]:
        """The components that belong to the one of that name, in the order of the definition."""
        owner = self.component(name).name
        return tuple(each for each in self.components.values() if each.definition.owner == owner)

    @property
    def status(self) -> StatusMatch | None:
        """Phase, conditions and all matching statuses; None where the definition has no status rules."""
        if self.karta.definition.status is None:
            return None
        with reading():
            return match_status(self.karta.definition, self.object)

    def with_references(self, objects: Iterable[Object]) -> "Workload":
        """The same workload with the definition's references looked up among the given objects.

        An expression that reads a reference without having its value raises WorkloadError; it never reads null.
        """
        with reading():
            definition = resolved(self.karta.definition, self.object, Known.of(objects))
        return replace(self, karta=Karta(definition))

    def infer_component(self, pod: Object) -> str:
        """The name of the component that a pod of this workload is of; raises ComponentNotFoundError.

        >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {}}
        >>> Workload(Karta.for_object(job), job).infer_component({"metadata": {"name": "sum-x7k2p"}})
        'job'
        """
        with reading():
            return attribution.infer_component(self.karta.definition, checked_pod(pod))

    def infer_instance(self, pod: Object) -> str:
        """The id of the instance that a pod is of, "" for an unnamed one; raises ComponentNotFoundError."""
        with reading():
            return attribution.infer_instance(self.karta.definition, self.object, checked_pod(pod))

    def attribute(self, pods: Iterable[Object]) -> tuple[Attribution, ...]:
        """Component, instance and replica of each pod; raises one WorkloadError for all that belong nowhere."""
        with reading():
            return attribution.attribute_all(self.karta.definition, self.object, map(checked_pod, pods))

    def effective_member(self, pod: Object) -> EffectiveMember | None:
        """The rule of `podGroups` that a pod falls under, None when it is in no group."""
        component = self.infer_component(pod)
        with reading():
            return effective_member(self.karta.definition, component, pod)

    def pod_groups(self, pods: Iterable[Object] = ()) -> tuple[PodGroup, ...]:
        """The groups of pods to be placed together or not at all; see docs/library.md for what they wait for."""
        with reading():
            return gang.pod_groups(self.karta.definition, self.object, map(checked_pod, pods))

    def minimum_members(self, component: str, instance: str | None = None) -> int:
        """The pods of a component and of all below it that have to start together."""
        with reading():
            return subtree.minimum_members(self.karta.definition, self.object, component, instance)

    def subtree_scale(self, component: str, instance: str | None = None) -> int:
        """The number that Karta's library gives for `minimum_members`, which multiplies what is counted already."""
        with reading():
            return subtree.subtree_scale(self.karta.definition, self.object, component, instance)

    def suspend(self) -> "Workload":
        """The workload after the suspend actions of all components, the root's last; the same without any."""
        return self._after("suspend")

    def resume(self) -> "Workload":
        """The workload after the resume actions of all components, the root's last; the same without any."""
        return self._after("resume")

    def replaced(self, obj: Object) -> "Workload":
        """The workload with another version of its object; the same with the same."""
        return self if obj is self.object else replace(self, object=obj)

    def _after(self, direction: Direction) -> "Workload":
        root, *children = self.karta.definition.components
        return self.replaced(apply_actions((*children, root), direction, self.object))

    def __repr__(self) -> str:
        names = (get(self.object, ("metadata", field)) for field in ("namespace", "name"))
        return f"Workload({self.karta.gvk} {'/'.join(name for name in names if name)})"
