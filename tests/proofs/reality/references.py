"""The objects that pods need to start: what their volumes mount and their containers read."""

from collections.abc import Iterator

from tests.proofs.rig.api import Object

_VOLUMES = (
    ("configMap", "name", "ConfigMap"),
    ("secret", "secretName", "Secret"),
    ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
)
_SOURCES = (("configMap", "ConfigMap"), ("secret", "Secret"))
_ENVIRONMENT = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))
_CLAIMS = (("resourceClaimName", "ResourceClaim"), ("resourceClaimTemplateName", "ResourceClaimTemplate"))
_VALUES = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))


_EVERYWHERE = ("ConfigMap", "kube-root-ca.crt")
"""A controller of each cluster makes it in each namespace."""


def references(spec: Object) -> set[tuple[str, str]]:
    return {*_references(spec)} - {_EVERYWHERE}


def _references(spec: Object) -> Iterator[tuple[str, str]]:
    yield from _mounted(spec)
    yield from _read(spec)
    for secret in spec.get("imagePullSecrets") or ():
        yield "Secret", secret["name"]
    account = spec.get("serviceAccountName") or "default"
    if account != "default":
        yield "ServiceAccount", account
    for claim in spec.get("resourceClaims") or ():
        yield from ((kind, claim[field]) for field, kind in _CLAIMS if claim.get(field))
    if group := (spec.get("schedulingGroup") or {}).get("podGroupName"):
        yield "PodGroup", group


def _mounted(spec: Object) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes") or ():
        for field, key, kind in _VOLUMES:
            if field in volume:
                yield kind, volume[field][key]
        for source in volume.get("projected", {}).get("sources") or ():
            yield from _named(source, _SOURCES)
        if "csi" in volume and "nodePublishSecretRef" in volume["csi"]:
            yield "Secret", volume["csi"]["nodePublishSecretRef"]["name"]


def _read(spec: Object) -> Iterator[tuple[str, str]]:
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        for source in container.get("envFrom") or ():
            yield from _named(source, _ENVIRONMENT)
        for variable in container.get("env") or ():
            yield from _named(variable.get("valueFrom") or {}, _VALUES)


def _named(source: Object, fields: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    for field, kind in fields:
        if field in source:
            yield kind, source[field]["name"]
