"""Warnings: parts of an object that the schema of its kind, or that of pods, does not allow."""

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from karta_interpreter.base.findings import almost
from karta_interpreter.base.k8s import GVK, Object, Path, field_path, get, grouped
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.definitions.karta import Definition, catalogue_kinds
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.catalogue import POD_TEMPLATES, catalogue_schemas
from karta_interpreter.definitions.openapi.check.check import own_schema
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind, fields, schema_at
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import place_at

_MOST: Final = 20
_MOST_SCHEMAS: Final = 32
_PARTS: Final = {
    **dict.fromkeys(("metadata", "name", "namespace", "labels", "annotations"), "metadata"),
    "status": "status",
}


def misfit_warnings(definition: Definition, obj: Object, part: str = "spec") -> Iterator[Fact]:
    """Yield what a part of an object has that the schema of its kind, or that of pods, does not allow.

    The part ``status`` is the status, ``metadata`` that and the fields that belong into it, and ``spec`` all others.

    A controller writes the status, and a newer one writes more fields: only those with typos are unknown.
    """
    kind = catalogue_schemas().get(definition.gvk) or _as_read(definition.gvk, json.dumps(definition.manifest))
    written = {name: value for name, value in obj.items() if _PARTS.get(name, "spec") == part}
    with_pods = any(component.pods for component in definition.components)
    # That of the metadata is the same for all kinds. A CRD does not have it.
    pods = catalogue_schemas()[POD_TEMPLATES]
    metadata = schema_at(pods.schema, ("metadata",))
    schema = {**kind.schema, "properties": {**dict(fields(kind.schema)), "metadata": metadata}}
    findings = misfits(schema, written, pods.crd if part == "metadata" else kind.crd, with_pods=with_pods)
    # Which fields of open parts a controller reads, the catalogue's definition knows. Another one may have a typo.
    if definition.gvk in catalogue_schemas() and (file := catalogue_kinds().get(definition.gvk)):
        read = _as_read(definition.gvk, file.read_text(encoding="utf-8"))
        findings = chain(
            findings,
            (
                finding
                for finding in misfits(read.schema, written, kind.crd, is_read=True)
                if finding.rule == "field-unknown" and not any(fields(schema_at(kind.schema, finding.path[:-1])))
            ),
        )
    yield from (
        Fact(
            finding.rule,
            ": ".join(filter(None, (finding.message_at_path, finding.hint))),
            places=(place_at(finding.path, obj),),
        )
        for finding, *_ in grouped((finding.path, finding) for finding in islice(findings, _MOST)).values()
        if part != "status"
        or (finding.path in (("status", "status"), ("status", "raw")) and len(obj["status"]) == 1)
        or finding.rule != "field-unknown"
        or almost(str(finding.path[-1]), dict(fields(schema_at(kind.schema, finding.path[:-1]))))
    )


def required_field(definition: Definition, path: Path, obj: Object) -> str:
    """Return the words about the first field on a path that an object lacks and the kind requires, "" without one."""
    kind = catalogue_schemas().get(definition.gvk)
    lacking = next((path[:end] for end in range(1, len(path) + 1) if get(obj, path[:end]) is None), ())
    if kind and lacking and lacking[-1] in schema_at(kind.schema, lacking[:-1]).get("required", ()):
        return f"{field_path(lacking)} is required ({kind.crd})"
    return ""


@lru_cache(_MOST_SCHEMAS)
def _as_read(gvk: GVK, text: str) -> CustomKind:
    """Return an open schema of a kind with the types of what a definition reads."""
    karta, _ = read_karta(read_documents(text, "")[0].value)
    return CustomKind("as the definition reads it", gvk, {**(own_schema(karta) if karta else {}), OPEN: True})
