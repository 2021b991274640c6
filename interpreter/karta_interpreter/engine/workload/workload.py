"""A workload: an object and the Karta of its kind."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from karta_interpreter.base.errors import ComponentNotFoundError, InterpretationError, WorkloadError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK, Object, diff, get
from karta_interpreter.base.k8s.patch import Operation as Patch
from karta_interpreter.definitions.karta import (
    ComponentRules,
    Definition,
    Known,
    resolved,
)
from karta_interpreter.engine.evaluation import (
    UNNAMED,
    Attribution,
    Scale,
    Selection,
    StatusMatch,
    attribution,
    instance_ids,
    label_selector,
    match_status,
    pod_sets,
    scale_locations,
)
from karta_interpreter.engine.workload import extraction, gang, updates
from karta_interpreter.engine.workload.document import (
    Named,
    Value,
    check_kind,
    checked_object,
    checked_objects,
    checked_pod,
    checked_pods,
    reading,
)
from karta_interpreter.engine.workload.karta import Karta, known
from karta_interpreter.engine.workload.updates import ByInstance
from karta_interpreter.engine.workload.writing import apply_actions, scale_to

if TYPE_CHECKING:
    from karta_interpreter.engine.verification import Judgement

_MOST_SECONDS = 1e11


def _check_ids(component: ComponentRules, names: Iterable[str], ids: tuple[str, ...]) -> None:
    for name in names:
        if name not in ids:
            hint = did_you_mean(str(name), ids)
            if ids == UNNAMED:
                hint = 'its only instance is called "": write {"": …}'
            raise ComponentNotFoundError(f'{component}: there is no instance "{name}"; {hint}')


@dataclass(frozen=True)
class Component:
    """A component of a workload (`Component` of Karta's library).

    Every property is read anew each time. Raises WorkloadError if the definition has no answer for the object. Every
    change returns a new workload, or the same one if nothing changes, and leaves everything else alone. Nothing is
    written unless all of it reads back as given. Changes are given by instance id, "" for the only instance of a
    component without ids. Instances that are not named stay as they are.
    """

    workload: "Workload"
    definition: ComponentRules

    @property
    def name(self) -> str:
        """The name of the component, unique in the workload."""
        return self.definition.name

    @property
    def kind(self) -> GVK | None:
        """The type of the objects that the component stands for, None for a logical component."""
        return self.definition.gvk

    @property
    def owner(self) -> "Component | None":
        """The parent component, None for the root."""
        return None if self.definition.owner is None else self.workload.component(self.definition.owner)

    @property
    def children(self) -> "tuple[Component, ...]":
        """The child components in the order of the definition."""
        return tuple(child for child in self.workload.components.values() if child.definition.owner == self.name)

    @property
    def has_pods(self) -> bool:
        """Whether the definition has a path for pods. The object may still have none."""
        return self.definition.pods is not None

    @property
    def selector(self) -> Selection:
        """The Kubernetes LabelSelector of its pods among those of the workload, or the reason why there is none."""
        return label_selector(self.workload.definition, self.definition)

    @property
    def instance_selectors(self) -> Mapping[str, Selection]:
        """The LabelSelector of each instance by id, that of the component for an instance without a name."""
        return Named(
            (name, label_selector(self.workload.definition, self.definition, name)) for name in self.instance_ids
        )

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """The id of each instance in the order of the object. Without `instanceIdPath` this is one ""."""
        with reading():
            return instance_ids(self.definition, self.workload.object)

    @property
    def instances(self) -> Mapping[str, extraction.Instance]:
        """All fields of each instance by id. Raises if one expression fails, or all pods are in absent objects."""
        with reading():
            instances = extraction.extract_instances(self.definition, self.workload.object)
            if self.has_pods and self.workload.definition.absent:
                pod_sets(self.workload.definition, self.workload.object)
        return Named(instances)

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The counts of each instance by id, empty without a scale definition."""
        return self._by_id(extraction.extract_scales, extraction.has_scale(self.definition))

    @property
    def pod_templates(self) -> ByInstance:
        """The pod template of each instance by id, empty without `podTemplateSpecPath`."""
        return self._pods("podTemplateSpecPath")

    @property
    def pod_specs(self) -> ByInstance:
        """The pod spec of each instance by id, empty without `podSpecPath`."""
        return self._pods("podSpecPath")

    @property
    def pod_metadata(self) -> ByInstance:
        """The metadata of each instance's pods by id, empty without `metadataPath`."""
        return self._pods("metadataPath")

    @property
    def fragmented_pod_specs(self) -> Mapping[str, extraction.FragmentedPodSpec]:
        """The pieces of each instance's pods by id, in whichever form the definition describes them."""
        return self._by_id(extraction.extract_pieces, self.has_pods)

    def update_pod_templates(self, templates: ByInstance) -> "Workload":
        """Return the workload with new pod templates. docs/library.md says what a new value replaces."""
        return self._updated(partial(updates.update_field, "podTemplateSpecPath"), templates)

    def update_pod_specs(self, specs: ByInstance) -> "Workload":
        """Return the workload with new pod specs."""
        return self._updated(partial(updates.update_field, "podSpecPath"), specs)

    def update_pod_metadata(self, metadata: ByInstance) -> "Workload":
        """Return the workload with new metadata of pods."""
        return self._updated(partial(updates.update_field, "metadataPath"), metadata)

    def update_fragmented_pod_specs(self, specs: Mapping[str, extraction.FragmentedPodSpec]) -> "Workload":
        """Return the workload with new pieces of pods, in each form of a definition.

        None leaves a piece as it is, an empty value clears it.
        """
        return self._updated(updates.update_fragments, specs)

    def scale_to(self, replicas: Mapping[str, int]) -> "Workload":
        """Return the workload with these counts at `replicasPath`. All other instances keep their counts."""
        return self._updated(scale_to, replicas)

    def suspend(self) -> "Workload":
        """Return the workload after this component's suspend actions. Raises WorkloadError without any."""
        return self.workload.replaced(apply_actions([self.definition], "suspend", self.workload.object))

    def resume(self) -> "Workload":
        """Return the workload after this component's resume actions. Raises WorkloadError without any."""
        return self.workload.replaced(apply_actions([self.definition], "resume", self.workload.object))

    def _pods(self, field: str) -> Named[Object | None]:
        return self._by_id(partial(extraction.extract_pods, field), field in self.definition.pod_queries)

    def _by_id(
        self, extract: Callable[[ComponentRules, Object, extraction.Ids], list[Value]], is_defined: object
    ) -> Named[Value]:
        if not is_defined:
            return Named()
        with reading():
            ids = instance_ids(self.definition, self.workload.object)
            values = extract(self.definition, self.workload.object, ids)
        return Named(zip(ids, values, strict=True) if values else ())

    def _updated(
        self, update: Callable[[ComponentRules, Object, Mapping[str, Value]], Object], by_id: Mapping[str, Value]
    ) -> "Workload":
        ids = self.instance_ids
        if not isinstance(by_id, Mapping):
            example = f'{{"{ids[0] if ids else ""}": …}}, not {type(by_id).__name__}'
            raise WorkloadError(f"{self.definition}: give a value for each instance, {example}")
        _check_ids(self.definition, by_id, ids)
        with reading():
            return self.workload.replaced(update(self.definition, self.workload.object, by_id))

    def __reduce__(self) -> tuple[Any, ...]:
        return Workload.component, (self.workload, self.name)

    def __repr__(self) -> str:
        return f"Component({self.name} of {self.workload!r})"


@dataclass(frozen=True)
class Workload:
    """An object, read and changed through its Karta (the component factory of Karta's library).

    The object is not copied and never changed. Every change returns a new workload that shares its unchanged parts with
    this one. Raises WorkloadError if the object has no apiVersion, kind or name, or (unless ``any_kind``) is not of the
    Karta's kind.

    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {"parallelism": 3}}
    >>> workload = Workload(Karta.for_object(job), job)
    >>> workload.suspend().object["spec"]
    {'parallelism': 3, 'suspend': True}
    """

    karta: Karta
    object: Object
    any_kind: bool = False

    def __post_init__(self) -> None:
        if not all((isinstance(self.karta, Karta), isinstance(self.any_kind, bool))):
            values = [self.karta, self.object]
            if self.any_kind is not False:
                values.append(self.any_kind)
            types = ", ".join(type(value).__name__ for value in values)
            raise WorkloadError(f"write Workload(karta, object), then such as .with_references(objects), not ({types})")
        check_kind(self.object, None if self.any_kind else self.karta.gvk, "a workload")
        # As Karta's component factory, which rejects it.
        if not any(get(self.object, ("metadata", field)) for field in ("name", "generateName")):
            raise WorkloadError(f"{GVK.of(self.object)} needs metadata.name or metadata.generateName")

    @property
    def definition(self) -> Definition:
        """The definition. Pods lack what is in objects that `with_references` did not give."""
        return resolved(self.karta.definition, self.object, Known({}))

    @property
    def components(self) -> Mapping[str, Component]:
        """Every component by name, the root first and the others in the order of the definition."""
        return Named((component.name, Component(self, component)) for component in self.definition.components)

    @property
    def root(self) -> Component:
        """The component that is the workload object itself."""
        return Component(self, self.definition.root)

    def component(self, name: str) -> Component:
        """Return the component of that name. Raises ComponentNotFoundError."""
        definition = self.definition.component(name)
        if definition is None:
            hint = self._instance_named(name) or did_you_mean(str(name), self.components)
            raise ComponentNotFoundError(f'definition {self.karta.name} has no component "{name}"; {hint}')
        return Component(self, definition)

    def _instance_named(self, name: str) -> str:
        """Return how to read the instance of that name, "" without one."""
        with suppress(InterpretationError):
            for owner in self.definition.components:
                if name and name in instance_ids(owner, self.object):
                    return f'{name} is an instance of {owner.name}: component("{owner.name}").instances["{name}"]'
        return ""

    @property
    def status(self) -> StatusMatch:
        """Phase, conditions and all matching statuses."""
        with reading():
            return match_status(self.definition, self.object)

    def with_references(self, objects: Iterable[Object]) -> "Workload":
        """Return the workload with references looked up among the objects. Reading any other raises WorkloadError."""
        with reading():
            return replace(self, karta=Karta(resolved(self.karta.definition, self.object, known(objects))))

    def infer_component(self, pod: Object) -> str:
        """Return the name of the component that a pod of this workload belongs to. Raises ComponentNotFoundError.

        >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {}}
        >>> Workload(Karta.for_object(job), job).infer_component({"metadata": {"name": "sum-x7k2p"}})
        'job'
        """
        with reading():
            return attribution.component_of(self.definition, checked_pod(pod)).name

    def infer_instance(self, pod: Object) -> str:
        """Return the id of a pod's instance, "" for an unnamed one. Raises ComponentNotFoundError."""
        with reading():
            component = attribution.component_of(self.definition, checked_pod(pod))
            return attribution.instance_of(component, instance_ids(component, self.object), pod)

    def attribute(self, pods: Iterable[Object]) -> tuple[Attribution, ...]:
        """Return component, instance and replica of each pod.

        Raises one WorkloadError for all pods that belong nowhere.
        """
        with reading():
            return attribution.attribute_all(self.definition, self.object, checked_pods(pods))

    def effective_member(self, pod: Object) -> gang.EffectiveMember | None:
        """Return the rule of `podGroups` that applies to a pod, or None if the pod is not in a group."""
        component = self.infer_component(pod)
        with reading():
            return gang.effective_member(self.definition, component, pod)

    def pod_groups(self, pods: Iterable[Object] = ()) -> tuple[gang.PodGroup, ...]:
        """Return the groups of pods that are placed together or not at all. See docs/library.md for their minimums."""
        with reading():
            return gang.pod_groups(self.definition, self.object, checked_pods(pods))

    def minimum_members(self, component: str, instance: str | None = None) -> int:
        """Return how many pods of a component and of all components below it have to start together.

        For each instance its minimum counts. If that is unset or 0, its replicas count, and without replicas one pod.
        Pods that the object does not describe do not count. With ``instance``, only that instance of the component
        itself counts. Raises ComponentNotFoundError.
        """
        definition, rules = self.definition, self.component(component).definition
        with reading():
            _check_ids(rules, [] if instance is None else [instance], instance_ids(rules, self.object))
            if not pod_sets(definition, self.object):  # raises if all pods are in objects that are absent
                return 0
            members = 0
            for pods, scale, *_ in scale_locations(definition, self.object):
                is_other = pods.component == component and instance not in (None, pods.instance)
                if rules in definition.lineage(pods.component) and not is_other:
                    members += scale.minimum or scale.effective
            return members

    def suspend(self) -> "Workload":
        """Return the workload after the suspend actions of all components, the root's last. Raises as each of them."""
        return self.replaced(
            apply_actions((*self.definition.components[1:], self.definition.root), "suspend", self.object)
        )

    def resume(self) -> "Workload":
        """Return the workload after the resume actions of all components, the root's last. Raises as each of them."""
        return self.replaced(
            apply_actions((*self.definition.components[1:], self.definition.root), "resume", self.object)
        )

    def suspend_patches(self) -> list[Patch]:
        """Return the JSON Patch that suspends the workload, for a Karmada OverridePolicy. Empty without a change.

        >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {}}
        >>> Workload(Karta.for_object(job), job).suspend_patches()
        [{'op': 'add', 'path': '/spec/suspend', 'value': True}]
        """
        return diff(self.object, self.suspend().object)

    def set_components(self, counts: Mapping[str, int]) -> "Workload":
        """Return the workload with these counts in InterpretComponent. All other components keep their counts.

        Raises ComponentNotFoundError, PathNotWritableError and WriteVerificationError.
        """
        if not isinstance(counts, Mapping):
            raise WorkloadError(f'give a count for each component, {{"worker": 8}}, not {type(counts).__name__}')
        # Not at the top: a program that only reads workloads loads no operations.
        from karta_interpreter.engine.operations.revise_components import set_components  # noqa: PLC0415 - see above

        with reading():
            return self.replaced(set_components(self.definition, self.object, counts))

    def verify(
        self,
        pods: Iterable[Object],
        *,
        owners: Iterable[Object] = (),
        crd: Object | None = None,
        now: float | None = None,
    ) -> "tuple[Judgement, ...]":
        """Compare the answers about the object with its pods in a member cluster, as ``karta-interpreter verify``.

        The pods must be known to be the workload's. ``owners`` are the objects between them. ``crd`` is the CRD of the
        kind, whose differences are named as well. ``now`` is the time at which all were read, in seconds since 1970, by
        default the present time.
        """
        # Not at the top: a program that only reads workloads loads no operations.
        from karta_interpreter.engine.verification import Evidence, judge_crd, verify  # noqa: PLC0415 - see above

        gvk, names = self.karta.gvk, ("spec", "names", "kind")
        if crd and get(checked_object(crd, "a CRD", "CustomResourceDefinition"), names) != gvk.kind:
            raise WorkloadError(f"the CRD is of the kind {get(crd, names)}, but the Karta is for {gvk}")
        # A number so large is in milliseconds.
        if type(now) not in (int, float, type(None)) or (now or 0) > _MOST_SECONDS:
            raise WorkloadError(f"now is a time in seconds since 1970, as time.time(), not {now!r}")
        pods, owners = tuple(checked_pods(pods)), tuple(checked_objects(owners, "owners"))
        evidence = Evidence(self.object, pods, owners, now=time.time() if now is None else now)
        judgements = verify(self.definition, evidence, crd)
        if crd:
            judgements = (*judgements, *judge_crd(self.definition, crd))
        return tuple(judgements)

    def replaced(self, obj: Object) -> "Workload":
        """Return the workload with another version of its object, or itself for the same version."""
        return self if obj is self.object else replace(self, object=obj)

    def __repr__(self) -> str:
        names = (get(self.object, ("metadata", field)) for field in ("namespace", "name"))
        return f"Workload({self.karta.gvk} {'/'.join(name for name in names if isinstance(name, str))})"
