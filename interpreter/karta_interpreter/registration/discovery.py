"""How an API server serves a kind, as far as that decides what to register for it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object

CRD = "CustomResourceDefinition"


@dataclass(frozen=True, slots=True)
class Served:
    """What is known of a kind.

    ``observes_generation``: its status has ``observedGeneration``; None when the schema leaves it open.
    """

    served: bool = True
    status_subresource: bool = True
    observes_generation: bool | None = None
    namespaced: bool = True


_APPS = [GVK("apps", "v1", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")]
_OTHERS = [GVK("", "v1", "Pod"), GVK("batch", "v1", "CronJob"), GVK("batch", "v1", "Job")]
BUILT_IN: Mapping[GVK, Served] = MappingProxyType(
    dict.fromkeys(_APPS, Served(observes_generation=True)) | dict.fromkeys(_OTHERS, Served(observes_generation=False))
)
"""The workloads of Kubernetes itself, for which there is no CRD."""


def served_kinds(crds: Iterable[Object]) -> dict[GVK, Served]:
    """Read what CustomResourceDefinitions (``apiextensions.k8s.io/v1``) define for each version of their kinds."""
    return {gvk: served for crd in crds for gvk, served in _versions(crd)}


def find_served(kinds: Mapping[GVK, Served] | None, gvk: GVK) -> Served | None:
    """What is known of a kind, None when nothing is.

    A version that a CRD does not have is not served; a kind without a CRD may get one, or be aggregated.
    """
    known = BUILT_IN.get(gvk)
    if known is not None or kinds is None:
        return known
    if gvk not in kinds and _other_versions(kinds, gvk):
        return Served(served=False)
    return kinds.get(gvk)


def served_versions(kinds: Mapping[GVK, Served], gvk: GVK) -> list[str]:
    """The versions in which a kind is served, sorted."""
    return sorted(other.version for other in _other_versions(kinds, gvk) if kinds[other].served)


def _other_versions(kinds: Mapping[GVK, Served], gvk: GVK) -> list[GVK]:
    return [other for other in kinds if (other.group, other.kind) == (gvk.group, gvk.kind)]


def _versions(crd: Object) -> Iterator[tuple[GVK, Served]]:
    spec = crd.get("spec")
    group, kind, versions = (edit.get(spec, path) for path in (("group",), ("names", "kind"), ("versions",)))
    for version in versions if isinstance(versions, list) else ():
        name = edit.get(version, ("name",))
        if isinstance(group, str) and isinstance(kind, str) and isinstance(name, str):
            yield (
                GVK(group, name, kind),
                Served(
                    served=edit.get(version, ("served",)) is True,
                    status_subresource=isinstance(edit.get(version, ("subresources", "status")), dict),
                    observes_generation=_observes_generation(edit.get(version, ("schema", "openAPIV3Schema"))),
                    namespaced=edit.get(spec, ("scope",)) != "Cluster",
                ),
            )


def _observes_generation(schema: JSON) -> bool | None:
    """Whether the schema of a whole object has the field, None where objects may have more than the schema has."""
    if edit.get(schema, ("properties", "status", "properties", "observedGeneration")) is not None:
        return True
    levels = (schema, edit.get(schema, ("properties", "status")))
    is_open = any(edit.get(level, ("x-kubernetes-preserve-unknown-fields",)) is True for level in levels)
    return None if is_open or schema is None else False
