"""Resources against the OpenAPI of a kube-apiserver: fields that it does not know, lacks or types otherwise."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "string": str,
}
_ALSO_NUMBERS = ("resource.Quantity", "intstr.IntOrString")


@dataclass(frozen=True)
class Document:
    definitions: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "Document":
        return cls(json.loads(path.read_text())["definitions"])

    def complaints(self, resource: dict[str, Any]) -> list[str]:
        group, _, version = resource["apiVersion"].rpartition("/")
        wanted = {"group": group, "version": version, "kind": resource["kind"]}
        for schema in self.definitions.values():
            if wanted in schema.get("x-kubernetes-group-version-kind", ()):
                return list(self._check(resource, schema, resource["kind"]))
        return [f"{wanted} is not a kind of Kubernetes"]

    def knows(self, resource: dict[str, Any]) -> bool:
        group = resource["apiVersion"].rpartition("/")[0]
        return "." not in group or group.endswith(".k8s.io")

    def _check(self, value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
        reference = schema.get("$ref", "").removeprefix("#/definitions/")
        if reference.endswith(_ALSO_NUMBERS) and isinstance(value, int | str):
            return
        schema = self.definitions[reference] if reference else schema
        kind = schema.get("type")
        if kind and (not isinstance(value, _TYPES[kind]) or (kind != "boolean" and isinstance(value, bool))):
            article = "an" if kind[0] in "aeio" else "a"
            yield f"{at}: {value!r} is not {article} {kind}"
        elif isinstance(value, dict):
            yield from self._check_object(value, schema, at)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._check(item, schema["items"], f"{at}[{index}]")
        elif "enum" in schema and value not in schema["enum"]:
            yield f"{at}: {value!r} is none of {schema['enum']}"

    def _check_object(self, value: dict[str, Any], schema: dict[str, Any], at: str) -> Iterator[str]:
        fields = schema.get("properties", {})
        others = schema.get("additionalProperties")
        yield from (f"{at}.{name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, item in value.items():
            if name in fields:
                yield from self._check(item, fields[name], f"{at}.{name}")
            elif others:
                yield from self._check(item, others, f"{at}.{name}")
            elif fields:
                yield f"{at}.{name} is unknown"
