"""One component of a workload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from karta_interpreter.errors import ComponentNotFoundError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Component as ComponentDefinition
from karta_interpreter.karta.definition import Fragments, PodDefinition, PodSpec, PodTemplate
from karta_interpreter.karta.evaluation import UNNAMED, instance_ids
from karta_interpreter.karta.scale import Scale
from karta_interpreter.suggestion import did_you_mean
from karta_interpreter.workload import extraction, updates
from karta_interpreter.workload.document import named, reading
from karta_interpreter.workload.extraction import FragmentedPodSpec, Instance
from karta_interpreter.workload.pod_updates import PodChanges, update_pods
from karta_interpreter.workload.scaling import apply_actions, scale_to

if TYPE_CHECKING:
    from karta_interpreter.workload.workload import Workload

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a workload (`Component` of Karta's library).

    What is read is read anew each time, and raises WorkloadError where the definition has no answer for the
    object. Every change gives a new workload, the same one where nothing changes, and leaves alone what it is not
    about; nothing is written unless all of it reads back as it was given. Changes are given by instance id, ""
    for the only instance of a component without ids; instances that are not named stay as they are.
    """

    workload: "Workload"
    definition: ComponentDefinition

    @property
    def name(self) -> str:
        """The name, unique in the workload."""
        return self.definition.name

    @property
    def kind(self) -> GVK | None:
        """The type of the objects it stands for, None for a logical component."""
        return self.definition.gvk

    @property
    def owner(self) -> "Component | None":
        """The component it belongs to, None for the root."""
        owner = self.definition.owner
        return None if owner is None else self.workload.component(owner)

    @property
    def children(self) -> "tuple[Component, ...]":
        """The components that belong to it, in the order of the definition."""
        return self.workload.children_of(self.name)

    @property
    def has_pods(self) -> bool:
        """Whether the definition has a place for its pods; the object may still have none."""
        return self.definition.pods is not None

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """The id of each instance in the order of the object; one "" without `instanceIdPath`."""
        with reading():
            return instance_ids(self.definition, self.workload.object)

    @property
    def instances(self) -> Mapping[str, Instance]:
        """Everything about each instance, by id; one expression that fails makes all of it fail."""
        with reading():
            return extraction.extract_instances(self.definition, self.workload.object)

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The counts of each instance by id; empty without a scale definition."""
        return self._by_id(extraction.extract_scales) if self._has_scale else {}

    @property
    def pod_templates(self) -> Mapping[str, Object | None]:
        """The pod template of each instance by id; empty without `podTemplateSpecPath`."""
        return self._by_id(extraction.extract_pod_templates) if isinstance(self._pods, PodTemplate) else {}

    @property
    def pod_specs(self) -> Mapping[str, Object | None]:
        """The pod spec of each instance by id; empty without `podSpecPath`."""
        return self._by_id(extraction.extract_pod_specs) if isinstance(self._pods, PodSpec) else {}

    @property
    def pod_metadata(self) -> Mapping[str, Object | None]:
        """The metadata of each instance's pods by id; empty without `metadataPath`."""
        has_metadata = isinstance(self._pods, PodSpec) and self._pods.metadata is not None
        return self._by_id(extraction.extract_pod_metadata) if has_metadata else {}

    @property
    def fragmented_pod_specs(self) -> Mapping[str, FragmentedPodSpec]:
        """The pieces of each instance's pods by id; empty without `fragmentedPodSpecDefinition`."""
        return self._by_id(extraction.extract_fragments) if isinstance(self._pods, Fragments) else {}

    def update_pods(self, changes: Mapping[str, PodChanges]) -> "Workload":
        """Return the workload with changed pods, for each form in which a definition names them."""
        return self._updated(update_pods, changes)

    def update_pod_templates(self, templates: Mapping[str, Object | None]) -> "Workload":
        """The workload with new pod templates; see docs/library.md for what a new value replaces."""
        return self._updated(updates.update_pod_templates, templates)

    def update_pod_specs(self, specs: Mapping[str, Object | None]) -> "Workload":
        """The workload with new pod specs."""
        return self._updated(updates.update_pod_specs, specs)

    def update_pod_metadata(self, metadata: Mapping[str, Object | None]) -> "Workload":
        """The workload with new metadata of pods."""
        return self._updated(updates.update_pod_metadata, metadata)

    def update_fragmented_pod_specs(self, specs: Mapping[str, FragmentedPodSpec]) -> "Workload":
        """The workload with new pieces of pods; a piece that is None stays as it is, an empty one clears it."""
        return self._updated(updates.update_fragments, specs)

    def scale_to(self, replicas: Mapping[str, int]) -> "Workload":
        """The workload for which `replicasPath` gives these counts, all other instances keeping theirs."""
        return self._updated(scale_to, replicas)

    def suspend(self) -> "Workload":
        """The workload after this component's suspend actions, the same without any."""
        return self.workload.replaced(apply_actions([self.definition], "suspend", self.workload.object))

    def resume(self) -> "Workload":
        """The workload after this component's resume actions, the same without any."""
        return self.workload.replaced(apply_actions([self.definition], "resume", self.workload.object))

    @property
    def _has_scale(self) -> bool:
        return any((self.definition.replicas, self.definition.min_replicas, self.definition.max_replicas))

    @property
    def _pods(self) -> PodDefinition | None:
        return self.definition.pods

    def _by_id(
        self, extract: Callable[[ComponentDefinition, Object, tuple[str, ...]], list[Value]]
    ) -> dict[str, Value]:
        with reading():
            ids = instance_ids(self.definition, self.workload.object)
            values = extract(self.definition, self.workload.object, ids)
        return dict(zip(ids, values, strict=True)) if values else {}

    def _updated(
        self, update: Callable[[ComponentDefinition, Object, Mapping[str, Value]], Object], by_id: Mapping[str, Value]
    ) -> "Workload":
        ids = self.instance_ids
        for name in by_id:
            if name not in ids:
                message = f'there is no instance "{name}"; {_known(name, ids)}'
                raise ComponentNotFoundError(f"{named(self.definition)}: {message}")
        with reading():
            return self.workload.replaced(update(self.definition, self.workload.object, by_id))

    def __repr__(self) -> str:
        return f"Component({self.name} of {self.workload!r})"


def _known(name: str, ids: tuple[str, ...]) -> str:
    if ids == UNNAMED:
        return 'its only instance is called ""'
    return did_you_mean(name, ids) if ids else "the workload has none"
