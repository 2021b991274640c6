"""One instance of a component, with everything that its definition extracts."""

from dataclasses import dataclass

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.scale import Scale
from karta_interpreter.workload.fragments import FragmentedPodSpec


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a component (`ExtractedInstance` of Karta's library).

    ``id`` is "" where the definition has no `instanceIdPath`. Of the pod fields only those are set whose paths the
    definition has and for which the object has a value; ``scale`` is None where the definition has none, and where
    the object has no pods of the whole component. ``has_pods``: the object describes pods of
    this instance; ``replicas`` is how many units of it there are in the whole workload: its replicas, else its
    minimum, else 1, and 0 where the definition knows its pods and the object does not.
    """

    id: str
    has_pods: bool
    replicas: int
    scale: Scale | None = None
    pod_template: Object | None = None
    pod_spec: Object | None = None
    pod_metadata: Object | None = None
    fragmented_pod_spec: FragmentedPodSpec | None = None
