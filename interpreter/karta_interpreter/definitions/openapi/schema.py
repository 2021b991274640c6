"""The OpenAPI schema of one version in a CustomResourceDefinition: the shapes of its parts, and the paths to them."""

import json
import re
from collections.abc import Iterator
from itertools import chain, dropwhile
from typing import Final, Self

from msgspec import Struct

from karta_interpreter.base.findings import DefinitionError
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, get, objects_in

OPEN: Final = "x-kubernetes-preserve-unknown-fields"


class CustomKind(Struct, frozen=True):
    """A kind, the OpenAPI schema of its objects, and the path of its scale subresource (empty without one)."""

    crd: str
    gvk: GVK
    schema: Object
    scale_path: str = ""

    @classmethod
    def of(cls, crd: Object, version: str | None = None) -> Self:
        """Return one version of a CRD, by default the stored one. Raise DefinitionError without it or its schema."""
        name, spec = get(crd, ("metadata", "name")) or "without a name", get(crd, ("spec",))
        group, kind = get(spec, ("group",)), get(spec, ("names", "kind"))
        if not (isinstance(group, str) and isinstance(kind, str) and group and kind):
            raise DefinitionError(f"CRD {name}: spec.group and spec.names.kind have to be there")
        listed = get(spec, ("versions",))
        versions = list[Object]()
        if type(listed) is list:
            versions = [entry for entry in listed if isinstance(get(entry, ("name",)), str)]
        if version is None:
            matching = [entry for entry in versions if entry.get("storage") is True]
        else:
            matching = [entry for entry in versions if entry["name"] == version]
        if not matching:
            version_text = "stored version" if version is None else f"version {version}"
            names = ", ".join(entry["name"] for entry in versions)
            others = f"it has {names}" if names else "apiextensions.k8s.io/v1 has a list spec.versions"
            raise DefinitionError(f"CRD {name} has no {version_text}; {others}")
        entry = matching[0]
        schema = get(entry, ("schema", "openAPIV3Schema"))
        if not isinstance(schema, dict):
            raise DefinitionError(
                f"CRD {name}: its version {entry['name']} has no schema.openAPIV3Schema to draft from"
            )
        scale = get(entry, ("subresources", "scale", "specReplicasPath"), "")
        return cls(str(name), GVK(group, entry["name"], kind), schema, scale if isinstance(scale, str) else "")

    @property
    def name(self) -> str:
        """The name of the root component."""
        return self.gvk.kind.lower()


# Fields that identify the entries of a list, the most specific first.
_KEYS = ("name", "groupName", "id", "role", "replicaType", "component", "serviceName", "type")


def fields(schema: Object) -> Iterator[tuple[str, Object]]:
    """Yield the fields of an object, each with its schema."""
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from ((name, field) for name, field in properties.items() if isinstance(field, dict))


def below(schema: Object, *names: str) -> Object:
    """Return the schema of a field, or of a field below it, empty for an unknown field."""
    for name in names:
        schema = dict(fields(schema)).get(name, {})
    return schema


def entries(schema: Object, container: str) -> Object | None:
    """Return the schema of the entries of a list (``items``) or a map (``additionalProperties``), None for neither."""
    inner = schema.get(container)
    return inner if isinstance(inner, dict) else None


def schema_at(schema: Object, path: Path) -> Object:
    """Return the schema of the part at the path of an object, empty for an unknown or open one."""
    for step in path:
        container = "items" if isinstance(step, int) else "additionalProperties"
        schema = dict(fields(schema)).get(str(step)) or entries(schema, container) or {}
    return schema


def is_pod_template(schema: Object) -> bool:
    """Return whether a schema has a pod spec in ``spec``, and otherwise only fields of a template or a Pod."""
    names = dict(fields(schema)).keys()
    return is_pod_spec(below(schema, "spec")) and names <= {"metadata", "spec", "apiVersion", "kind", "status"}


def is_pod_spec(schema: Object) -> bool:
    """Return whether a schema has a list of containers, each with a name and an image."""
    return has_entries(schema, "containers", "name", "image")


# The fields of a pod spec.
POD_FIELDS: Final = (
    *("activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "containers", "dnsConfig", "dnsPolicy"),
    *("enableServiceLinks", "ephemeralContainers", "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers"),
    *("hostname", "hostnameOverride", "imagePullSecrets", "initContainers", "nodeName", "nodeSelector", "os"),
    *("overhead", "preemptionPolicy", "priority", "priorityClassName", "readinessGates", "resourceClaims"),
    *("resources", "restartPolicy", "runtimeClassName", "schedulerName", "schedulingGates", "schedulingGroup"),
    *("securityContext", "serviceAccount", "serviceAccountName", "setHostnameAsFQDN", "shareProcessNamespace"),
    *("subdomain", "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "volumes"),
    "workloadRef",
)
# An object with all of these is a container.
_OF_CONTAINER: Final = {"name", "image", "command", "env", "resources", "volumeMounts"}


def is_container(schema: Object) -> bool:
    """Return whether a schema has the fields of a container."""
    return dict(fields(schema)).keys() >= _OF_CONTAINER


def has_entries(schema: Object, field: str, *names: str) -> bool:
    """Return whether a field has a list of objects with these fields."""
    return {*names} <= dict(fields(entries(below(schema, field), "items") or {})).keys()


def is_text(schema: Object) -> bool:
    """Return whether a schema is a string."""
    return schema.get("type") == "string"


def listed_texts(schema: Object) -> list[str]:
    """Return the texts that a schema lists, none if it does not list any.

    >>> listed_texts({"anyOf": [{"enum": ["a", "b"]}, {"enum": ["c"]}], "allOf": [{"enum": ["b", "c", "d"]}]})
    ['b', 'c']
    """
    return [text for text in _texts(schema) or () if text]


def _texts(schema: Object) -> list[str] | None:
    """Return all texts that a schema allows, None if it allows any."""
    if schema.get("type") not in (None, "string"):
        return []
    limits: list[JSON] = [schema.get("enum"), *map(_texts, objects_in(schema.get("allOf")))]
    for name in ("anyOf", "oneOf"):
        branches = [*map(_texts, objects_in(schema.get(name)))]
        listed = [texts for texts in branches if texts is not None]
        if listed and len(listed) == len(branches):
            limits += [list(chain(*listed))]
    lists = [limit for limit in limits if isinstance(limit, list)]
    if not lists:
        return None
    return [text for text in lists[0] if isinstance(text, str) and all(text in texts for texts in lists)]


def key_of(schema: Object, items: Object) -> str | None:
    """Return the field that identifies the entries of a list: the key of the list, else a field named like a key."""
    keys = schema.get("x-kubernetes-list-map-keys")
    texts = [name for name, field in fields(items) if is_text(field)]
    if isinstance(keys, list) and len(keys) == 1 and keys[0] in texts:
        return str(keys[0])
    return next((name for name in _KEYS if name in texts), None)


_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Entries(Struct, frozen=True):
    """A step to each entry of a map, or of a list with entries that differ in ``key`` (None for one without names)."""

    is_map: bool = False
    key: str | None = None


Step = str | Entries


class SchemaPath(Struct, frozen=True):
    """The steps from an object to a part of it."""

    steps: tuple[Step, ...] = ()

    def __truediv__(self, step: Step) -> "SchemaPath":
        return SchemaPath((*self.steps, step))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields on the way."""
        return tuple(step for step in self.steps if isinstance(step, str))

    @property
    def has_instances(self) -> bool:
        """Whether one object may have several of this part."""
        return any(isinstance(step, Entries) for step in self.steps)

    @property
    def to_first(self) -> "SchemaPath":
        """The path to an entry of the first list or map."""
        return SchemaPath(self.steps[: len(self.steps) - len(self.after_first.steps)])

    @property
    def after_first(self) -> "SchemaPath":
        """The rest of the path, relative to an entry of the first list or map."""
        return SchemaPath(tuple(dropwhile(lambda step: isinstance(step, str), self.steps))[1:])

    @property
    def jq(self) -> str:
        """The expression that reads the part.

        >>> SchemaPath(("spec", "groups", Entries(key="name"), "pod-template")).jq
        '.spec.groups[]["pod-template"]'
        >>> SchemaPath((Entries(), "pod-template")).jq
        '.[]["pod-template"]'
        """
        steps = "".join(map(step_text, self.steps))
        return steps if steps.startswith(".") else f".{steps}"  # a bracket without a dot before it would begin a list

    @property
    def ids(self) -> str:
        r"""The expression that reads the id of each instance. Ids of lists within lists are joined.

        >>> SchemaPath(("spec", "groups", Entries(key="name"), "template")).ids
        '.spec.groups[].name'
        >>> SchemaPath(("spec", "roles", Entries(is_map=True), "template")).ids
        '.spec.roles // {} | keys[]'
        >>> SchemaPath(("spec", "sets", Entries(key="id"), "roles", Entries(is_map=True))).ids
        '.spec.sets[] | "\\(.id)-\\(.roles // {} | keys[])"'
        """
        at, first = next((at, step) for at, step in enumerate(self.steps) if isinstance(step, Entries))
        prefix, after = SchemaPath(self.steps[:at]).jq, self.after_first
        empty = "{}" if first.is_map else "[]"
        if not after.has_instances:
            if first.key is None:
                return f"{prefix} // {empty} | keys[]" if first.is_map else f"{prefix} // {empty} | keys[] | tostring"
            return f"{prefix}[]{step_text(first.key)}"
        if first.key is None:
            return f'{prefix} // {empty} | to_entries[] | "\\(.key)-\\({SchemaPath(("value", *after.steps)).ids})"'
        return f'{prefix}[] | "\\({SchemaPath((first.key,)).jq})-\\({after.ids})"'


def step_text(step: Step) -> str:
    """Return a step as jq writes it behind another one.

    >>> step_text("size"), step_text("pod-size"), step_text(Entries())
    ('.size', '["pod-size"]', '[]')
    """
    if isinstance(step, Entries):
        return "[]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def parts_below(path: SchemaPath, schema: Object) -> Iterator[tuple[SchemaPath, Object]]:
    """Yield the fields of an object, or the entries of a list or a map, each with its path."""
    yield from ((path / name, field_schema) for name, field_schema in fields(schema))
    items = entries(schema, "items")
    if items is not None:
        yield path / Entries(key=key_of(schema, items)), items
    values = entries(schema, "additionalProperties")
    if values is not None:
        yield path / Entries(is_map=True), values
