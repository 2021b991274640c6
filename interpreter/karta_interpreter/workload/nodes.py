"""What a workload's tree is made of: components, their instances and pods.

Each has `to_json`, in the names of Karta's own tools and without what is not there.
"""

from dataclasses import dataclass
from typing import NamedTuple

from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.requirements import PodRequirements
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.scale import Scale
from karta_interpreter.workload.extraction import SCHEMA_FIELDS, FragmentedPodSpec, Instance
from karta_interpreter.workload.selectors import pod_name

Wire = dict[str, JSON]


class PodNode(NamedTuple):
    """A pod that was recognised; ``replica`` is the one it is of, None where it is unknown."""

    pod: Object
    replica: str | None = None

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is true."""
        conditions = get(self.pod, ("status", "conditions"))
        ready = [each for each in conditions if get(each, ("type",)) == "Ready"] if isinstance(conditions, list) else []
        return any(get(each, ("status",)) == "True" for each in ready)

    def to_json(self) -> Wire:
        """Its name, where it is and how it is doing.

        >>> PodNode({"metadata": {"name": "web-0"}, "status": {"phase": "Pending"}}).to_json()
        {'name': 'web-0', 'phase': 'Pending', 'ready': False}
        """
        return _known(
            name=pod_name(self.pod),
            replicaKey=self.replica,
            phase=get(self.pod, ("status", "phase")),
            node=get(self.pod, ("spec", "nodeName")),
            ready=self.is_ready,
        )


@dataclass(frozen=True, slots=True)
class InstanceNode:
    """An instance, what each of its pods asks for, and those of the given pods that are of it."""

    instance: Instance
    requirements: PodRequirements | None = None
    pods: tuple[PodNode, ...] = ()

    def to_json(self) -> Wire:
        """Its key unless it is the only one, its counts, and everything that the definition extracts."""
        scale = self.instance.scale
        return _known(
            instanceKey=self.instance.id or None,
            replicas=self.instance.replicas,
            scale=None if scale is None else _scale(scale),
            extractedInstance=_extracted(self.instance),
            requirements=None if self.requirements is None else self.requirements.to_json(),
            pods=[pod.to_json() for pod in self.pods] or None,
        )


@dataclass(frozen=True, slots=True)
class ComponentNode:
    """A component with its instances, and the components that belong to it."""

    name: str
    kind: GVK | None
    has_pods: bool
    instances: tuple[InstanceNode, ...]
    children: "tuple[ComponentNode, ...]" = ()

    def to_json(self) -> Wire:
        """Its kind unless it is a logical one, its instances, and what belongs to it."""
        kind = self.kind
        return _known(
            name=self.name,
            kind=None if kind is None else {"group": kind.group, "version": kind.version, "kind": kind.kind},
            hasPodDefinition=self.has_pods,
            instances=[instance.to_json() for instance in self.instances],
            children=[child.to_json() for child in self.children] or None,
        )


def _scale(scale: Scale) -> Wire:
    return _known(replicas=scale.replicas, minReplicas=scale.minimum, maxReplicas=scale.maximum)


def _extracted(instance: Instance) -> Wire | None:
    pieces = instance.fragmented_pod_spec
    extracted = _known(
        podTemplateSpec=instance.pod_template,
        podSpec=instance.pod_spec,
        metadata=instance.pod_metadata,
        fragmentedPodSpec=None if pieces is None else _pieces(pieces),
    )
    return extracted or None


def _pieces(pieces: FragmentedPodSpec) -> Wire:
    names = {field.removesuffix("Path"): piece for field, piece in SCHEMA_FIELDS.items()}
    return _known(**{name: getattr(pieces, piece) for name, piece in names.items()})


def _known(**fields: JSON) -> Wire:
    return {name: value for name, value in fields.items() if value is not None}
