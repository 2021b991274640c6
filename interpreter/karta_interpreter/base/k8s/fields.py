"""Typed reading of the fields of a Kubernetes object: absent and null are empty, another type is an error.

Every function takes the object's own place, so that an error can name the field: ``spec.containers[0].env``.
"""

import re
from typing import Final, NoReturn

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.values import JSON, Object, Path, field_path, type_name

# All callers share it, because no value is ever changed.
_NOTHING: Object = {}
_ONLY_OBJECTS = frozenset({dict})

# Names of fields that count pods wherever they stand, in lower case.
COUNTS: Final = r".*(?:replicas?|(?:node|pod|replica|worker)count|instances|nodes|workers|members|parallelism|hosts)"
# The name of a label or an annotation (`IsQualifiedName`): a DNS subdomain of 253 characters at most, and a name of 63.
QUALIFIED_NAME: Final = re.compile(
    r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII
)
CORE_KINDS: Final = (
    *("ConfigMap", "Endpoints", "Event", "LimitRange", "List", "Namespace", "Node", "PersistentVolume"),
    *("PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret", "Service"),
    "ServiceAccount",
)
# The kinds of Kubernetes without a namespace. Their groups are the core group, and those that end with .k8s.io.
CLUSTER_KINDS: Final = (
    *("APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "ClusterTrustBundle"),
    *("ComponentStatus", "CSIDriver", "CSINode", "CustomResourceDefinition", "DeviceClass", "DeviceTaintRule"),
    *("FlowSchema", "GatewayClass", "IngressClass", "IPAddress", "MutatingAdmissionPolicy"),
    *("MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "Namespace", "Node", "PersistentVolume"),
    *("PriorityClass", "PriorityLevelConfiguration", "ResourceSlice", "RuntimeClass", "ServiceCIDR", "StorageClass"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"),
    *("VolumeAttachment", "VolumeAttributesClass", "VolumeSnapshotClass", "VolumeSnapshotContent"),
)
_BUILT_IN: Final = re.compile(r"v\w+|[a-z.]+\.k8s\.io/.*")


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    """Return whether a kind is one of Kubernetes that has no namespace.

    >>> is_cluster_scoped("v1", "Node"), is_cluster_scoped("example.io/v1", "Node")
    (True, False)
    """
    return kind in CLUSTER_KINDS and bool(_BUILT_IN.fullmatch(api_version))


def object_field(parent: Object, name: str, path: Path) -> Object:
    """Return the object in a field, or an empty object if there is none.

    >>> object_field({"spec": None}, "spec", ())
    {}
    """
    value = parent.get(name)
    if value is None:
        return _NOTHING
    if not isinstance(value, dict):
        refuse(value, "an object", (*path, name))
    return value


def objects_field(parent: Object, name: str, path: Path) -> list[Object]:
    """Return the objects in a list field. A null element counts as an empty object.

    >>> objects_field({"containers": [{"name": "web"}]}, "containers", ("spec",))
    [{'name': 'web'}]
    """
    value = parent.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        refuse(value, "a list", (*path, name))
    # Most lists: without a loop in Python, and without a copy.
    if _ONLY_OBJECTS.issuperset(map(type, value)):
        return value
    for index, element in enumerate(value):
        if not isinstance(element, dict) and element is not None:
            refuse(element, "an object", (*path, name, index))
    return [element or _NOTHING for element in value]


def text_field(parent: Object, name: str, path: Path) -> str:
    """Return the string in a field, or an empty string if there is none.

    >>> text_field({}, "serviceAccountName", ("spec",))
    ''
    """
    value = parent.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse(value, "a string", (*path, name))
    return value


def refuse(value: JSON, needed: str, path: Path) -> NoReturn:
    """Raise the InterpretationError for a value of the wrong type.

    >>> refuse([], "an object", ("spec",))
    Traceback (most recent call last):
    karta_interpreter.base.errors.InterpretationError: spec needs an object, not a list
    """
    raise InterpretationError(f"{field_path(path)} needs {needed}, not {type_name(value)}")


def namespace(obj: Object) -> str:
    """Return the object's namespace, or ``""`` if it has none."""
    return _text_at(obj, "namespace") or ""


def name(obj: Object) -> str:
    """Return the object's name, or ``""`` if it has none."""
    return _text_at(obj, "name") or ""


def full_name(metadata: JSON) -> str:
    """Return the namespace, if any, and the name, or its beginning, in an object's metadata or in a reference to one.

    >>> full_name({"namespace": "default", "name": "web"}), full_name({"name": "web"}), full_name(None)
    ('default/web', 'web', '')
    """
    names = get(metadata, ("namespace",)), get(metadata, ("name",)) or get(metadata, ("generateName",))
    return "/".join(name for name in names if isinstance(name, str) and name)


def generation(obj: Object) -> int | None:
    """Return ``metadata.generation``, or None if it is absent or not a number."""
    value = get(obj, ("metadata", "generation"))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def label(obj: Object, name: str) -> str | None:
    """Return the value of a label."""
    return _text_at(obj, "labels", name)


def annotation(obj: Object, name: str) -> str | None:
    """Return the value of an annotation."""
    return _text_at(obj, "annotations", name)


def _text_at(obj: Object, *path: str) -> str | None:
    value = get(obj, ("metadata", *path))
    return value if isinstance(value, str) else None
