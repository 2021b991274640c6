"""What a CustomResourceDefinition says about one version of its kind."""

from dataclasses import dataclass
from typing import Self

from karta_interpreter.errors import DefinitionError
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind, the OpenAPI schema of its objects, and the path of its scale subresource (empty without one)."""

    crd: str
    gvk: GVK
    schema: Object
    scale_path: str = ""

    @classmethod
    def of(cls, crd: Object, version: str | None = None) -> Self:
        """One version of a CRD, of ``apiextensions.k8s.io/v1``; the stored one when none is named.

        Raises DefinitionError when there is no such version, or no schema in it.
        """
        name, spec = get(crd, ("metadata", "name")) or "without a name", get(crd, ("spec",))
        group, kind = get(spec, ("group",)), get(spec, ("names", "kind"))
        if not (isinstance(group, str) and isinstance(kind, str) and group and kind):
            raise DefinitionError(f"CRD {name}: spec.group and spec.names.kind have to be there")
        found = _version(spec, version)
        if found is None:
            asked = "stored version" if version is None else f"version {version}"
            raise DefinitionError(f"CRD {name} has no {asked}; it has {', '.join(_names(spec)) or 'none'}")
        schema = get(found, ("schema", "openAPIV3Schema"))
        if not isinstance(schema, dict):
            raise DefinitionError(
                f"CRD {name}: its version {found['name']} has no schema.openAPIV3Schema to draft from"
            )
        scale = get(found, ("subresources", "scale", "specReplicasPath"), "")
        return cls(str(name), GVK(group, found["name"], kind), schema, scale if isinstance(scale, str) else "")


def _versions(spec: JSON) -> list[JSON]:
    versions = get(spec, ("versions",))
    found = versions if isinstance(versions, list) else []
    return [version for version in found if isinstance(get(version, ("name",)), str)]


def _version(spec: JSON, name: str | None) -> JSON:
    for version in _versions(spec):
        if version.get("storage") is True if name is None else version["name"] == name:
            return version
    return None


def _names(spec: JSON) -> list[str]:
    return [version["name"] for version in _versions(spec)]
