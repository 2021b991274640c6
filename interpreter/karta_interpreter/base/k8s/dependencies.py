"""The objects that a pod cannot start without.

Follows ``GetDependenciesFromPodTemplate`` of Karmada (``pkg/util/helper/pod.go``, ``pkg/util/lifted/visitpod.go``).
It does not know the claims of Dynamic Resource Allocation, groups of pods or the older name of
``serviceAccountName``. On a control plane only built-in kinds have both names: an API server does not complete the pod
templates of custom resources.
"""

import json
from typing import Final, NamedTuple

from karta_interpreter.base.k8s.fields import object_field, objects_field, text_field
from karta_interpreter.base.k8s.values import GVK, Object, Path, remembered

_SPEC: Path = ("spec",)
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_CLAIMS = {"ResourceClaim": "resourceClaimName", "ResourceClaimTemplate": "resourceClaimTemplateName"}
_Found = tuple[str, str]  # kind and name

# NVIDIA's driver for Dynamic Resource Allocation makes its template of claims in the member
# (api/nvidia.com/resource/v1beta1/computedomain.go).
COMPUTE_DOMAIN: Final = GVK("resource.nvidia.com", "v1beta1", "ComputeDomain")
_VERSIONS: Final = ("v1", "v1beta2", "v1beta1")  # an API server has one of them at least since Kubernetes 1.32
CLAIMS: Final = tuple(GVK("resource.k8s.io", version, "ResourceClaim") for version in _VERSIONS)
CLAIM_TEMPLATES: Final = tuple(GVK("resource.k8s.io", version, "ResourceClaimTemplate") for version in _VERSIONS)
DEVICE_CLASSES: Final = tuple(GVK("resource.k8s.io", version, "DeviceClass") for version in _VERSIONS)
"""The kinds of claims, their templates and classes of devices, in each version that has them, the newest first."""
OF_CLASSES: Final = "auto"
"""Instead of a class with its resource: devices count as what the DeviceClasses of the control plane say."""

SELECTOR_FIELDS: Final = frozenset({"matchLabels", "matchExpressions"})


class Dependency(NamedTuple):
    """An object that another object needs. The namespace of a cluster-scoped object is empty.

    With a label selector instead of a name, all objects of the kind that it matches. The selector is JSON with sorted
    keys: equal ones are equal texts.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    label_selector: str = ""

    def to_json(self) -> Object:
        """Return Karmada's DependentObjectReference.

        >>> Dependency("v1", "Secret", "", "key").to_json()
        {'apiVersion': 'v1', 'kind': 'Secret', 'name': 'key'}
        """
        api_version, kind, namespace, name, selector = self
        if selector:
            objects = {"labelSelector": json.loads(selector)}
            within = {"namespace": namespace} if namespace else {}
            return {"apiVersion": api_version, "kind": kind, **within, **objects}
        if namespace:
            return {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name}
        return {"apiVersion": api_version, "kind": kind, "name": name}


def objects_text(dependency: Object) -> str:
    """Return the name in a DependentObjectReference, or its label selector.

    >>> objects_text({"name": "key"}), objects_text({"labelSelector": {"matchLabels": {"app": "web"}}})
    ('key', '{"matchLabels": {"app": "web"}}')
    """
    return dependency.get("name") or json.dumps(dependency.get("labelSelector"), sort_keys=True, ensure_ascii=False)


def pod_dependencies(template: Object, namespace: str) -> tuple[Dependency, ...]:
    """Return the objects that a pod template names, each once, sorted. All are in the pod's namespace.

    Raises InterpretationError naming the field that has the wrong type.

    >>> [found.name for found in pod_dependencies({"spec": {"imagePullSecrets": [{"name": "pull"}]}}, "team")]
    ['pull']
    """
    named = _named(object_field(template, "spec", ()))
    return tuple([Dependency("v1", kind, namespace, name) for kind, name in named])


@remembered
def _named(spec: Object) -> tuple[_Found, ...]:
    # Karmada leaves out `default`, which every namespace has.
    # The newer name counts if both are set (Convert_v1_PodSpec_To_core_PodSpec in Kubernetes' pkg/apis/core/v1).
    account = text_field(spec, "serviceAccountName", _SPEC) or text_field(spec, "serviceAccount", _SPEC)
    names = [("ServiceAccount", "" if account == "default" else account)]
    names += [
        ("Secret", text_field(reference, "name", ("spec", "imagePullSecrets", index)))
        for index, reference in enumerate(objects_field(spec, "imagePullSecrets", _SPEC))
    ]
    for group in _CONTAINERS:
        if group in spec:
            names += _of_containers(spec, group)
    if "volumes" in spec:
        names += _of_volumes(spec)
    # Sorted before repetitions go: a list that is almost in order is sorted in a fraction of the time of a set.
    return tuple([dependency for dependency in dict.fromkeys(sorted(names)) if dependency[1]])


def claim_dependencies(template: Object, namespace: str) -> tuple[Dependency, ...]:
    """Return the claims of devices that a pod template names, the templates of claims, and the group of the pods.

    The API version of claims is v1, the only one that API servers serve unasked (since Kubernetes 1.34). That of groups
    is the one of Kubernetes 1.37 (``PodSchedulingGroup`` in ``core/v1``).

    >>> [found.kind for found in claim_dependencies({"spec": {"resourceClaims": [{"resourceClaimName": "gpu"}]}}, "ml")]
    ['ResourceClaim']
    """
    spec = object_field(template, "spec", ())
    claims = [
        Dependency("resource.k8s.io/v1", kind, namespace, text_field(claim, field, ("spec", "resourceClaims", index)))
        for index, claim in enumerate(objects_field(spec, "resourceClaims", _SPEC))
        for kind, field in _CLAIMS.items()
    ]
    group = text_field(object_field(spec, "schedulingGroup", _SPEC), "podGroupName", ("spec", "schedulingGroup"))
    dependencies = (*claims, Dependency("scheduling.k8s.io/v1beta1", "PodGroup", namespace, group))
    return tuple(dependency for dependency in dependencies if dependency.name)


DEPENDENCIES_READ: Final = (
    "serviceAccountName",
    "serviceAccount",
    "imagePullSecrets",
    "volumes",
    "resourceClaims",
    "schedulingGroup",
    *(f"{group}[].{sources}" for group in _CONTAINERS for sources in ("envFrom", "env[].valueFrom")),
)
"""The paths in the spec of a pod that `pod_dependencies` and `claim_dependencies` read.

Their tests fail if one is missing.
"""


def _of_containers(spec: Object, group: str) -> list[_Found]:
    names: list[_Found] = []
    for index, container in enumerate(objects_field(spec, group, _SPEC)):
        path = ("spec", group, index)
        if "envFrom" in container:
            for number, source in enumerate(objects_field(container, "envFrom", path)):
                names += _referenced(source, "configMapRef", "secretRef", (*path, "envFrom", number))
        if "env" in container:
            for number, variable in enumerate(objects_field(container, "env", path)):
                if "valueFrom" in variable:
                    variable_path = (*path, "env", number)
                    source = object_field(variable, "valueFrom", variable_path)
                    names += _referenced(source, "configMapKeyRef", "secretKeyRef", (*variable_path, "valueFrom"))
    return names


def _referenced(source: Object, config_map: str, secret: str, path: Path) -> list[_Found]:
    """Return the references of a source of variables. It has at most one of the two fields."""
    return [("ConfigMap", _name_in(source, config_map, path)), ("Secret", _name_in(source, secret, path))]


def _of_volumes(spec: Object) -> list[_Found]:
    names: list[_Found] = []
    for index, volume in enumerate(objects_field(spec, "volumes", _SPEC)):
        path = ("spec", "volumes", index)
        for kind, sources in _SOURCES.items():
            if sources.keys().isdisjoint(volume):
                continue  # before looking for each of many sources: a volume has one
            if source := next((source for source in sources if volume.get(source) is not None), None):
                names += _of_source(kind, source, object_field(volume, source, path), (*path, source))
    return names


def _of_source(kind: str, source: str, value: Object, path: Path) -> list[_Found]:
    field = _SOURCES[kind][source]
    if source == "projected":
        projections = enumerate(objects_field(value, "sources", path))
        return [(kind, _name_in(projection, field, (*path, "sources", index))) for index, projection in projections]
    return [(kind, _name_in(value, field, path) if field.endswith("Ref") else text_field(value, field, path))]


def _name_in(parent: Object, field: str, path: Path) -> str:
    reference = object_field(parent, field, path)
    return text_field(reference, "name", (*path, field)) if reference else ""


# By kind: the sources of volumes, and the field of each that names the object or refers to it. A volume has one
# source. Where it has several, Karmada looks at the first one in this order for each kind.
_SOURCES: Final = {
    "Secret": {
        "azureFile": "secretName",
        "cephfs": "secretRef",
        "cinder": "secretRef",
        "flexVolume": "secretRef",
        "projected": "secret",
        "rbd": "secretRef",
        "secret": "secretName",
        "scaleIO": "secretRef",
        "iscsi": "secretRef",
        "storageos": "secretRef",
        "csi": "nodePublishSecretRef",
    },
    "ConfigMap": {"projected": "configMap", "configMap": "name"},
    "PersistentVolumeClaim": {"persistentVolumeClaim": "claimName"},
}

DEPENDENCY_NAMES: Final = (
    "serviceAccountName",
    "serviceAccount",
    "imagePullSecrets[].name",
    *(f"resourceClaims[].{field}" for field in _CLAIMS.values()),
    "schedulingGroup.podGroupName",
    *(f"{group}[].envFrom[].{source}.name" for group in _CONTAINERS for source in ("configMapRef", "secretRef")),
    *(
        f"{group}[].env[].valueFrom.{source}.name"
        for group in _CONTAINERS
        for source in ("configMapKeyRef", "secretKeyRef")
    ),
    *(
        f"volumes[].projected.sources[].{field}.name"
        if source == "projected"
        else f"volumes[].{source}.{field}{'.name' * field.endswith('Ref')}"
        for sources in _SOURCES.values()
        for source, field in sources.items()
    ),
)
"""The paths in the spec of a pod that contain the names of its dependencies."""
