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
from karta_interpreter.base.k8s.edit import get, remove, set_value
from karta_interpreter.base.k8s.fields import COUNT_NAME, COUNTS, annotation, generation, label, name, namespace
from karta_interpreter.base.k8s.patch import changes, diff, patched
from karta_interpreter.base.k8s.projection import MOST_VALUES, UNREAD, Projection, Read, count_values, reader
from karta_interpreter.base.k8s.quantity import Quantity, parse_duration
from karta_interpreter.base.k8s.requirements import (
    CONTAINER_LISTS,
    REQUIREMENTS_READ,
    Counting,
    PodRequirements,
    implausible,
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
    pointer_step,
    type_name,
)

__all__ = [
    "COMPUTE_DOMAIN",
    "CONTAINER_LISTS",
    "COUNTS",
    "COUNT_NAME",
    "DEPENDENCIES_READ",
    "DEPENDENCY_NAMES",
    "GVK",
    "JSON",
    "MAX_DEPTH",
    "MOST_REPLICAS",
    "MOST_VALUES",
    "NOTHING",
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
    "changes",
    "claim_dependencies",
    "count_values",
    "diff",
    "field_path",
    "generation",
    "get",
    "grouped",
    "implausible",
    "json_pointer",
    "label",
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
    "pointer_step",
    "reader",
    "remove",
    "set_value",
    "type_name",
]
