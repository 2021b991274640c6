"""What Kubernetes itself defines: types of objects, quantities, pod templates, JSON Patch, manifests.

Nothing in here knows of Karta or of Karmada's protocol. Values are plain JSON, and no function changes a value that it
is given.
"""

from karta_interpreter.base.k8s.edit import get, remove, set_value
from karta_interpreter.base.k8s.fields import annotation, generation, label, namespace
from karta_interpreter.base.k8s.patch import changes, diff, patched
from karta_interpreter.base.k8s.values import (
    GVK,
    JSON,
    MAX_DEPTH,
    MOST_REPLICAS,
    NOTHING,
    Object,
    Path,
    field_path,
    json_pointer,
    objects_in,
    parts_of,
    pointer_step,
    type_name,
)

__all__ = [
    "GVK",
    "JSON",
    "MAX_DEPTH",
    "MOST_REPLICAS",
    "NOTHING",
    "Object",
    "Path",
    "annotation",
    "changes",
    "diff",
    "field_path",
    "generation",
    "get",
    "json_pointer",
    "label",
    "namespace",
    "objects_in",
    "parts_of",
    "patched",
    "pointer_step",
    "remove",
    "set_value",
    "type_name",
]
