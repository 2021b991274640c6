"""Workload types as Kartas: the labels that join the Kartas of a type, their content, their owner, their storage."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Self
from uuid import UUID, uuid5

import orjson
from msgspec import Struct

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, label, objects_in
from karta_interpreter.definitions.karta import gvk_of, karta_type

_PREFIX: Final = "types.karta-interpreter.io/"
ID: Final = f"{_PREFIX}id"
CATEGORY: Final = f"{_PREFIX}category"
PRIORITY: Final = f"{_PREFIX}priority"
REVISION: Final = f"{_PREFIX}revision"
"""The label with the hash of the whole type: every change of a type changes each of its Kartas."""

# Labels that the admission of Kartas adds.
_STAMPED: Final = "run.ai/karta-"
_TRACKING: Final = "argocd.argoproj.io/tracking-id"
_INSTANCE: Final = "argocd.argoproj.io/instance"
_FLUX: Final = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_HELM: Final = "meta.helm.sh/release-name"
_HELM_NAMESPACE: Final = "meta.helm.sh/release-namespace"
_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
# Made up once. Another one would give every type another id, and orphan those that are stored.
_NAMESPACE: Final = UUID("12afb701-5d72-409b-9e0a-63ffc3b5900f")
_LABELS: Final = ("metadata", "labels")
_ANNOTATIONS: Final = ("metadata", "annotations")


def type_id(group: str, kind: str) -> str:
    """Return the id of a workload type.

    >>> type_id("ray.io", "RayCluster")
    '899584b3-4d59-5683-9ffd-eb1d42953e0a'
    """
    return str(uuid5(_NAMESPACE, f"{kind}.{group}"))


class Record(NamedTuple):
    """A Karta at the storage of types: of a type of this API, or of another owner. ``source`` names its place."""

    gvk: GVK
    manifest: Object
    source: str
    findings: tuple[Finding, ...] = ()


def is_ours(manifest: Object) -> bool:
    """Return whether this API stored a Karta. Copies under another name, or for another kind, also have its labels."""
    gvk, name = gvk_of(manifest), edit.get(manifest, ("metadata", "name"))
    return gvk is not None and label(manifest, ID) == type_id(gvk.group, gvk.kind) and name in names_of(gvk)


class StoredType(Struct, frozen=True):
    """A workload type as it is stored: the Karta of each version, in the order of the versions."""

    group: str
    kind: str
    kartas: Mapping[str, Object]

    @classmethod
    def new(cls, group: str, kind: str, category: str, priority: str, kartas: Iterable[Object]) -> Self:
        """Return the type of Kartas that were judged, with the labels and names that they are stored with."""
        contents = {gvk.version: content(karta) for karta in kartas if (gvk := gvk_of(karta))}
        contents = dict(sorted(contents.items()))
        labels = {ID: type_id(group, kind), CATEGORY: category, PRIORITY: priority}
        labels[REVISION] = _hash([labels, contents])[:32]  # the value of a label has 63 characters at most
        named = {}
        for version, karta in contents.items():
            metadata = karta["metadata"]
            own = {"name": names_of(GVK(group, version, kind))[0], "labels": {**metadata.get("labels", {}), **labels}}
            named[version] = {**karta, "metadata": {**metadata, **own}}
        return cls(group, kind, named)

    @classmethod
    def of(cls, group: str, kind: str, kartas: Iterable[Object]) -> Self | None:
        """Return the type of those Kartas that this API has stored, None without any."""
        by_version = {gvk.version: karta for karta in kartas if is_ours(karta) and (gvk := gvk_of(karta))}
        return cls(group, kind, dict(sorted(by_version.items()))) if by_version else None

    @property
    def id(self) -> str:
        """The id."""
        return type_id(self.group, self.kind)

    @property
    def etag(self) -> str:
        """A hash of the content."""
        return etag_of(self._label(CATEGORY), self._label(PRIORITY), self.kartas.values())

    @property
    def revisions(self) -> set[str]:
        """The revisions of the Kartas: more than one after a change that was cut off."""
        return {label(karta, REVISION) or "" for karta in self.kartas.values()}

    def equals(self, other: "StoredType") -> bool:
        """Return whether this stored type is the one that ``other`` asks for.

        An API server may add to the content. The revision is the revision of the request.
        """
        return self.kartas.keys() == other.kartas.keys() and (
            self.revisions == other.revisions or self.etag == other.etag
        )

    def _label(self, name: str) -> str | None:
        return next((value for karta in self.kartas.values() if (value := label(karta, name))), None)


def content(manifest: Object) -> Object:
    """Return the part of a Karta that its author writes. A ResourceInterface becomes the equal Karta.

    Additions of an API server are left out, and so are the labels of this API, because fields of the type contain them.
    """
    labels = _fields(edit.get(manifest, _LABELS))
    user_labels = {name: value for name, value in labels.items() if not name.startswith((_PREFIX, _STAMPED))}
    annotations = _fields(edit.get(manifest, _ANNOTATIONS))
    name = edit.get(manifest, ("metadata", "name"))
    parts = {"name": name, "labels": user_labels, "annotations": annotations}
    return {
        **karta_type(),
        "metadata": {field: value for field, value in parts.items() if value},
        "spec": manifest.get("spec"),
    }


def etag_of(category: str | None, priority: str | None, kartas: Iterable[Object]) -> str:
    """Return the entity tag of a type with these Kartas."""
    return _hash([category, priority, [content(karta) for karta in kartas]])[:32]


def names_of(gvk: GVK) -> tuple[str, str]:
    """Return the name of the Karta of a version of a type, and the name to use if a kind in other case has the first.

    >>> names_of(GVK("ray.io", "v1", "RayCluster"))
    ('raycluster-v1.ray.io', 'raycluster-v1-fa679f22.ray.io')
    """
    name, group = f"{gvk.kind}-{gvk.version}".lower(), f".{gvk.group}".lower() if gvk.group else ""
    return f"{name}{group}", f"{name}-{_hash(gvk.kind)[:8]}{group}"


def _fields(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}


def _hash(value: JSON) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def controller_of(obj: Object) -> str | None:
    """Return the tool or object that reverts changes of an object by others, or None if nothing names one."""
    labels, annotations = (
        {name: text for name, text in _fields(edit.get(obj, path)).items() if isinstance(text, str)}
        for path in (_LABELS, _ANNOTATIONS)
    )
    if application := annotations.get(_TRACKING, "").partition(":")[0] or labels.get(_INSTANCE):
        return f"the Argo CD application {application}"
    for kind, group in _FLUX.items():
        if name := labels.get(f"{group}/name"):
            return f"the Flux {kind} {_full(labels.get(f'{group}/namespace'), name)}"
    if release := annotations.get(_HELM):
        return f"the Helm release {_full(annotations.get(_HELM_NAMESPACE), release)}"
    references = edit.get(obj, ("metadata", "ownerReferences"))
    if isinstance(references, list) and references:
        return f"the {edit.get(references, (0, 'kind'))} {edit.get(references, (0, 'name'))}"
    return labels.get(_MANAGED_BY) or None


def writer_of(obj: Object) -> str:
    """Return the owner of a Karta that this API has not stored: a tool, or else the last field manager of its spec."""
    writers = [
        (str(entry.get("time", "")), str(entry.get("manager", "")))
        for entry in objects_in(edit.get(obj, ("metadata", "managedFields")))
        if edit.get(entry, ("fieldsV1", "f:spec")) is not None
    ]
    _, last_manager = max(writers, default=("", ""))
    return controller_of(obj) or last_manager or "another client of the API server"


def _full(namespace: str | None, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
