"""The OpenAPI schemas of the catalogue's kinds, of the releases that its definitions were written from."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from karta_interpreter.base.k8s import GVK, NewObject, Object
from karta_interpreter.definitions.openapi.schema import (
    CustomKind,
    Entries,
    SchemaPath,
    entries,
    fields,
    is_pod_spec,
    is_pod_template,
)

SCHEMAS: Final = Path(__file__).with_name("schemas.json")
POD_TEMPLATES: Final = GVK("apps", "v1", "Deployment")
"""The kind with the schema of a pod template, below ``spec.template``."""

_SPEC: Final = SchemaPath(("spec",))


@cache
def catalogue_schemas() -> Mapping[GVK, CustomKind]:
    """Return the schemas by their kinds, with the release in place of the CRD's name.

    A part that several schemas have is one object.

    >>> kind = catalogue_schemas()[GVK("batch", "v1", "Job")]
    >>> kind.crd, kind.schema["properties"]["spec"]["properties"]["parallelism"]
    ('Kubernetes 1.34', {'type': 'integer'})
    """
    record = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    nodes: list[NewObject] = []
    for node in record["nodes"]:  # the parts of a node stand before it
        node |= {name: nodes[node[name]] for name in ("items", "additionalProperties") if name in node}
        if "properties" in node:
            node["properties"] = {name: nodes[index] for name, index in node["properties"].items()}
        nodes.append(node)
    kinds = ((GVK.parse(*name.split()), kind) for name, kind in record["kinds"].items())
    return {gvk: CustomKind(kind["release"], gvk, nodes[kind["schema"]], kind["scale"]) for gvk, kind in kinds}


def added_fields(known: Object, served: Object, path: SchemaPath = _SPEC) -> Iterator[SchemaPath]:
    """Yield the fields below a part that a served schema has and the known one has not.

    What the known schema leaves open, and the fields of pods, which follow the release of Kubernetes, are not compared.

    >>> known = {"properties": {"groups": {"items": {"properties": {"name": {}}}}}}
    >>> served = {"properties": {"groups": {"items": {"properties": {"name": {}, "size": {}}}}, "surge": {}}}
    >>> [field.jq for field in added_fields(known, served)]
    ['.spec.groups[].size', '.spec.surge']
    """
    if is_pod_spec(served) or is_pod_template(served):
        return
    described = dict(fields(known))
    for name, part in fields(served):
        if name in described:
            yield from added_fields(described[name], part, path / name)
        elif described:
            yield path / name
    for container in ("items", "additionalProperties"):
        known_entries, served_entries = entries(known, container), entries(served, container)
        if known_entries is not None and served_entries is not None:
            step = Entries(is_map=container == "additionalProperties")
            yield from added_fields(known_entries, served_entries, path / step)
