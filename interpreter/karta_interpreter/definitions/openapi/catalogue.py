"""The OpenAPI schemas of the catalogue's kinds, of the releases that its definitions were written from."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from karta_interpreter.base.k8s import GVK, JSON
from karta_interpreter.definitions.openapi.schema import CustomKind

SCHEMAS: Final = Path(__file__).with_name("schemas.json")
POD_TEMPLATES: Final = GVK("apps", "v1", "Deployment")
"""The kind with the schema of a pod template, below ``spec.template``."""


@cache
def catalogue_schemas() -> Mapping[GVK, CustomKind]:
    """Return the schemas by their kinds, with the release in place of the CRD's name.

    A part that several schemas have is one object.

    >>> kind = catalogue_schemas()[GVK("batch", "v1", "Job")]
    >>> kind.crd, kind.schema["properties"]["spec"]["properties"]["parallelism"]
    ('Kubernetes 1.34', {'type': 'integer'})
    """
    record = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    nodes: list[dict[str, JSON]] = []
    for node in record["nodes"]:  # the parts of a node stand before it
        node |= {name: nodes[node[name]] for name in ("items", "additionalProperties") if name in node}
        if "properties" in node:
            node["properties"] = {name: nodes[index] for name, index in node["properties"].items()}
        nodes.append(node)
    kinds = ((GVK.parse(*name.split()), kind) for name, kind in record["kinds"].items())
    return {gvk: CustomKind(kind["release"], gvk, nodes[kind["schema"]], kind["scale"]) for gvk, kind in kinds}
