"""Warnings: parts of an object that the schema of its kind, or that of pods, does not allow."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from karta_interpreter.base.findings import Severity, almost
from karta_interpreter.base.k8s import Object, Path, field_path, get
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.check.check import own_schema
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind, fields, schema_at
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import place_at

_MOST: Final = 20


def misfit_warnings(definition: Definition, obj: Object, *, is_of_status: bool = False) -> Iterator[Fact]:
    """Yield what an object has, or only its status, that the schema of its kind, or that of pods, does not allow.

    A controller writes the status, and a newer one writes more fields: only those with typos are unknown.
    """
    kind = _schema(definition)
    written = {name: value for name, value in obj.items() if (name == "status") == is_of_status}
    with_pods = any(component.pods for component in definition.components)
    yield from (
        Fact(
            finding.rule,
            ": ".join(filter(None, (finding.message_at_path, finding.hint))),
            places=(place_at(finding.path, obj),),
            severity=Severity.WARNING,
        )
        for finding in islice(misfits(kind.schema, written, kind.crd, with_pods=with_pods), _MOST)
        if not is_of_status
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


def _schema(definition: Definition) -> CustomKind:
    """Return the schema of a kind of the catalogue, else an open one with the types of what the definition reads."""
    if kind := catalogue_schemas().get(definition.gvk):
        return kind
    karta, _ = read_karta(definition.manifest)
    schema = {**(own_schema(karta) if karta else {}), OPEN: True}
    return CustomKind("as the definition reads it", definition.gvk, schema)
