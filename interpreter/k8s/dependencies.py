"""The objects that a pod cannot start without.

Follows ``GetDependenciesFromPodTemplate`` of Karmada (``pkg/util/helper/pod.go``, ``pkg/util/lifted/visitpod.go``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from interpreter.k8s.fields import object_field, objects_field, text_field
from interpreter.k8s.values import Object, Path

_SPEC: Path = ("spec",)
_Found = tuple[str, str]  # kind and name


@dataclass(frozen=True, slots=True, order=True)
class Dependency:
    """An object that another one needs; its namespace is empty where it has none."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def to_json(self) -> dict[str, str]:
        """Karmada's DependentObjectReference.

        >>> Dependency("v1", "Secret", "", "key").to_json()
        {'apiVersion': 'v1', 'kind': 'Secret', 'name': 'key'}
        """
        wire = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
        }
        return {key: value for key, value in wire.items() if value}


def pod_dependencies(template: Object, namespace: str) -> tuple[Dependency, ...]:
    """The objects that a pod template names, each once, sorted; all are in the pod's namespace.

    Raises InterpretationError naming the field that has the wrong type.

    >>> [found.name for found in pod_dependencies({"spec": {"imagePullSecrets": [{"name": "pull"}]}}, "team")]
    ['pull']
    """
    spec = object_field(template, "spec", ())
    found = {*_account(spec), *_pull_secrets(spec), *_of_containers(spec), *_of_volumes(spec)}
    return tuple(Dependency("v1", kind, namespace, name) for kind, name in sorted(found) if name)


def _account(spec: Object) -> Iterator[_Found]:
    name = text_field(spec, "serviceAccountName", _SPEC)
    if name != "default":
        yield "ServiceAccount", name


def _pull_secrets(spec: Object) -> Iterator[_Found]:
    for index, reference in enumerate(objects_field(spec, "imagePullSecrets", _SPEC)):
        yield "Secret", text_field(reference, "name", ("spec", "imagePullSecrets", index))


def _of_containers(spec: Object) -> Iterator[_Found]:
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(objects_field(spec, group, _SPEC)):
            place = ("spec", group, index)
            for number, source in enumerate(objects_field(container, "envFrom", place)):
                here = (*place, "envFrom", number)
                yield "ConfigMap", _name_in(source, "configMapRef", here)
                yield "Secret", _name_in(source, "secretRef", here)
            for number, variable in enumerate(objects_field(container, "env", place)):
                here = (*place, "env", number)
                source = object_field(variable, "valueFrom", here)
                yield "ConfigMap", _name_in(source, "configMapKeyRef", (*here, "valueFrom"))
                yield "Secret", _name_in(source, "secretKeyRef", (*here, "valueFrom"))


def _of_volumes(spec: Object) -> Iterator[_Found]:
    for index, volume in enumerate(objects_field(spec, "volumes", _SPEC)):
        place = ("spec", "volumes", index)
        for sources in (_SECRET_SOURCES, _CONFIG_MAP_SOURCES, _CLAIM_SOURCES):
            source = next((name for name in sources if volume.get(name) is not None), None)
            if source is not None:
                yield from sources[source](object_field(volume, source, place), (*place, source))


_Reader = Callable[[Object, Path], Iterator[_Found]]


def _named(kind: str, field: str) -> _Reader:
    def read(source: Object, place: Path) -> Iterator[_Found]:
        yield kind, text_field(source, field, place)

    return read


def _referenced(field: str) -> _Reader:
    def read(source: Object, place: Path) -> Iterator[_Found]:
        yield "Secret", _name_in(source, field, place)

    return read


def _projected(kind: str, field: str) -> _Reader:
    def read(source: Object, place: Path) -> Iterator[_Found]:
        for index, part in enumerate(objects_field(source, "sources", place)):
            yield kind, _name_in(part, field, (*place, "sources", index))

    return read


def _name_in(parent: Object, field: str, place: Path) -> str:
    return text_field(object_field(parent, field, place), "name", (*place, field))


# A volume has one source. Where it has several, Karmada looks at the first one in this order for each kind.
_SECRET_SOURCES: dict[str, _Reader] = {
    "azureFile": _named("Secret", "secretName"),
    "cephfs": _referenced("secretRef"),
    "cinder": _referenced("secretRef"),
    "flexVolume": _referenced("secretRef"),
    "projected": _projected("Secret", "secret"),
    "rbd": _referenced("secretRef"),
    "secret": _named("Secret", "secretName"),
    "scaleIO": _referenced("secretRef"),
    "iscsi": _referenced("secretRef"),
    "storageos": _referenced("secretRef"),
    "csi": _referenced("nodePublishSecretRef"),
}
_CONFIG_MAP_SOURCES: dict[str, _Reader] = {
    "projected": _projected("ConfigMap", "configMap"),
    "configMap": _named("ConfigMap", "name"),
}
_CLAIM_SOURCES: dict[str, _Reader] = {
    "persistentVolumeClaim": _named("PersistentVolumeClaim", "claimName"),
}
