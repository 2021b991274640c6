"""``python -m tests.proofs.drift.schemas``: writes the schemas of the catalogue's kinds that the package carries.

They come from the releases that the definitions were written from. A schema has the fields of all of them. Dynamo's
were written from its types in Go: its releases cannot be had.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from docs.tools.upstreams import upstreams, written_from
from karta_interpreter.base.k8s import GVK, JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.catalogue import SCHEMAS, catalogue_schemas
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind
from tests.catalogue.entries import entries
from tests.proofs.drift.comparison import crd_of
from tests.proofs.drift.sources import sources_of
from tests.proofs.rig.toolchain import module_folder

_FLAGS: Final = (
    *("x-kubernetes-int-or-string", OPEN, "x-kubernetes-embedded-resource"),
    *("x-kubernetes-list-map-keys", "enum"),
)
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def main() -> int:
    """Write the schemas, and return the exit code. A kind keeps its schema if one of its releases cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.drift.schemas", description=__doc__)
    parser.add_argument("--from", type=Path, dest="folder", metavar="FOLDER", help="checkouts: OWNER+NAME or NAME")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if something would change")
    options = parser.parse_args()
    before, nodes, kinds = catalogue_schemas(), dict[str, int](), dict[str, JSON]()
    for definition in (entry.definition for entry in entries() if entry.definition):
        gvk, found = definition.gvk, _schemas(definition, options.folder)
        if found is None:
            sys.stdout.write(f"kept: {gvk}\n")
            found = [before[gvk]] if gvk in before else []
        for first, *others in [found] if found else []:
            schema = reduce(united, (other.schema for other in others), first.schema)
            release = definition.annotations.written_from.partition(",")[0]
            kinds[f"{gvk.api_version} {gvk.kind}"] = {
                "release": release,
                "scale": first.scale_path,
                "schema": interned(schema, nodes),
            }
    lines = ",\n".join(nodes)
    text = f'{{"nodes": [\n{lines}\n],\n"kinds": {json.dumps(kinds, indent=1)}}}\n'
    if options.check:
        return int(text != SCHEMAS.read_text(encoding="utf-8"))
    SCHEMAS.write_text(text, encoding="utf-8")
    return 0


def _schemas(definition: Definition, folder: Path | None) -> list[CustomKind] | None:
    """Return the schemas of a kind in the releases that its definition names, None if one of these cannot be had."""
    gvk, found = definition.gvk, list[CustomKind]()
    for project, release in written_from(definition):
        upstream, version = upstreams()[project], upstreams()[project].releases[release]
        sources = sources_of(upstream, folder)
        if project == "Kubernetes":
            found.append(_built_in(gvk, module_folder(upstream.module, version)))
        elif upstream.crds and not any(source.has(version) for source in sources):
            return None
        elif upstream.crds and (crd := crd_of(upstream, sources, version, gvk)):
            kind = CustomKind.of(crd, gvk.version)
            found.append(replace(kind, schema=pruned(kind.schema)))
    return found


def _built_in(gvk: GVK, source: Path) -> CustomKind:
    group = f"apis__{gvk.group}__{gvk.version}" if gvk.group else f"api__{gvk.version}"
    document = json.loads((source / f"api/openapi-spec/v3/{group}_openapi.json").read_text())["components"]["schemas"]
    own = {"group": gvk.group, "kind": gvk.kind, "version": gvk.version}
    name = next(name for name, schema in document.items() if own in schema.get("x-kubernetes-group-version-kind", ()))
    return CustomKind("", gvk, pruned(_resolved(document, name)))


def _resolved(document: Mapping[str, Object], name: str) -> Object:
    if name == _QUANTITY:
        return {}  # the API server reads texts and all numbers

    def with_parts(schema: Object) -> Object:
        reference = schema.get("$ref") or next((each["$ref"] for each in schema.get("allOf", ())), None)
        if reference:
            return _resolved(document, reference.rpartition("/")[2])
        if schema.get("format") == "int-or-string":
            return {"x-kubernetes-int-or-string": True}
        parts = {name: with_parts(schema[name]) for name in ("items", "additionalProperties") if name in schema}
        fields = {name: with_parts(field) for name, field in schema.get("properties", {}).items()}
        return {**schema, **parts, **({"properties": fields} if fields else {})}

    return with_parts(document[name])


def pruned(schema: Object) -> Object:
    """Return what says which values a schema allows, without descriptions, defaults and limits."""
    kept = {key: value for key in ("type", *_FLAGS) if (value := schema.get(key))}
    if schema.get("x-kubernetes-list-type") == "set":
        kept["x-kubernetes-list-type"] = "set"
    for name in ("anyOf", "oneOf", "allOf"):
        if any("enum" in part for part in schema.get(name, ())):
            kept[name] = [{key: part[key] for key in ("type", "enum") if key in part} for part in schema[name]]
    kept |= {
        name: pruned(schema[name]) for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)
    }
    defaulted = {name for name, field in schema.get("properties", {}).items() if "default" in field}
    if required := [name for name in schema.get("required", ()) if name not in defaulted]:
        kept["required"] = required
    if schema.get("properties"):
        kept["properties"] = {name: pruned(field) for name, field in schema["properties"].items()}
    return kept


def united(schema: Object, other: Object) -> Object:
    """Return a schema that allows what one of two allows, as far as their fields, types and texts go."""
    both = {key: value for key, value in schema.items() if other.get(key) == value}
    if schema.get(OPEN) or other.get(OPEN):
        both[OPEN] = True
    if "enum" in schema and "enum" in other:
        both["enum"] = list(dict.fromkeys([*schema["enum"], *other["enum"]]))
    if required := [name for name in schema.get("required", ()) if name in other.get("required", ())]:
        both["required"] = required
    for key in ("items", "additionalProperties"):
        parts = [each[key] for each in (schema, other) if key in each]
        if parts[1:] or (parts and OPEN not in both):  # else one of them allows anything there
            both[key] = reduce(united, parts)
    if "properties" in schema or "properties" in other:
        first, second = schema.get("properties", {}), other.get("properties", {})
        both["properties"] = {
            name: united(first[name], second[name]) if name in first and name in second else field
            for name, field in {**first, **second}.items()
        }
    return both


def interned(schema: Object, nodes: dict[str, int]) -> int:
    """Return the index of a schema among the nodes, in which the index of a part stands in place of it."""
    node = dict(schema)
    for name in ("items", "additionalProperties"):
        if name in node:
            node[name] = interned(node[name], nodes)
    if "properties" in node:
        node["properties"] = {name: interned(field, nodes) for name, field in sorted(node["properties"].items())}
    return nodes.setdefault(json.dumps(node, sort_keys=True, separators=(",", ":")), len(nodes))


if __name__ == "__main__":
    sys.exit(main())
