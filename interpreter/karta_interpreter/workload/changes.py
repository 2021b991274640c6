"""Changes to pods, independent of the form in which a definition names the pods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from karta_interpreter.k8s.values import JSON, Object


@dataclass(frozen=True, slots=True, kw_only=True)
class PodChanges:
    """What to change in the pods of an instance; None leaves a thing as it is, an empty text or list clears it.

    ``labels``, ``annotations`` and ``node_selector`` are added to what is there, and a value None removes its key.
    ``containers`` has a change for each container by its name, merged as RFC 7386 has it.
    """

    scheduler_name: str | None = None
    priority_class_name: str | None = None
    labels: Mapping[str, str | None] | None = None
    annotations: Mapping[str, str | None] | None = None
    node_selector: Mapping[str, str | None] | None = None
    tolerations: Sequence[JSON] | None = None
    pod_affinity: Object | None = None
    node_affinity: Object | None = None
    resource_claims: Sequence[JSON] | None = None
    containers: Mapping[str, Object] | None = None

    @property
    def said(self) -> Mapping[str, JSON]:
        """What is to be changed, by the name of its field.

        >>> PodChanges(scheduler_name="kai", tolerations=[]).said
        {'scheduler_name': 'kai', 'tolerations': []}
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}
