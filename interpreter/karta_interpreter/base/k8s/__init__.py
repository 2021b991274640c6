"""What Kubernetes itself defines: types of objects, quantities, pod templates, JSON Patch, manifests.

Nothing in here knows of Karta or of Karmada's protocol. Values are plain JSON, and no function changes a value that it
is given.
"""

from karta_interpreter.base.k8s.dependencies import (
    COMPUTE_DOMAIN,
    DEPENDENCIES_READ,
    DEPENDENCY_NAMES,
    SELECTOR_FIELDS,
    Dependency,
    claim_dependencies,
    objects_text,
    pod_dependencies,
)
from karta_interpreter.base.k8s.discovery import by_kind, listed_versions
from karta_interpreter.base.k8s.edit import get, remove, set_value
from karta_interpreter.base.k8s.fields import (
    CORE_KINDS,
    COUNTS,
    QUALIFIED_NAME,
    annotation,
    generation,
    is_cluster_scoped,
    label,
    name,
    namespace,
)
from karta_interpreter.base.k8s.patch import changes, diff, patched
from karta_interpreter.base.k8s.projection import MOST_VALUES, UNREAD, Projection, Read, count_values, reader
from karta_interpreter.base.k8s.quantity import QUANTITY, Quantity, parse_duration
from karta_interpreter.base.k8s.request_path import request_path
from karta_interpreter.base.k8s.requirements import (
    ADDED_LISTS,
    CONTAINER_LISTS,
    REQUIREMENTS_READ,
    Counting,
    PodRequirements,
    merge_requirements,
    pod_requirements,
)
from karta_interpreter.base.k8s.values import (
    GVK,
    JSON,
    MAX_DEPTH,
    MOST_REPLICAS,
    NOTHING,
    Object,
    Path,
    before_object,
    field_path,
    grouped,
    json_pointer,
    objects_in,
    parts_of,
    parts_within,
    type_name,
)

__all__ = [
    "ADDED_LISTS",
    "COMPUTE_DOMAIN",
    "CONTAINER_LISTS",
    "CORE_KINDS",
    "COUNTS",
    "DEPENDENCIES_READ",
    "DEPENDENCY_NAMES",
    "GVK",
    "JSON",
    "MAX_DEPTH",
    "MOST_REPLICAS",
    "MOST_VALUES",
    "NOTHING",
    "QUALIFIED_NAME",
    "QUANTITY",
    "REQUIREMENTS_READ",
    "SELECTOR_FIELDS",
    "UNREAD",
    "Counting",
    "Dependency",
    "Object",
    "Path",
    "PodRequirements",
    "Projection",
    "Quantity",
    "Read",
    "annotation",
    "before_object",
    "by_kind",
    "changes",
    "claim_dependencies",
    "count_values",
    "diff",
    "field_path",
    "generation",
    "get",
    "grouped",
    "is_cluster_scoped",
    "json_pointer",
    "label",
    "listed_versions",
    "merge_requirements",
    "name",
    "namespace",
    "objects_in",
    "objects_text",
    "parse_duration",
    "parts_of",
    "parts_within",
    "patched",
    "pod_dependencies",
    "pod_requirements",
    "reader",
    "remove",
    "request_path",
    "set_value",
    "type_name",
]
