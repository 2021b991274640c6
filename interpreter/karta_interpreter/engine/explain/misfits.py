"""Warnings: parts of an object that the schema of its kind, or that of pods, does not allow."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from karta_interpreter.base.findings import Finding, Severity, almost
from karta_interpreter.base.k8s import Object, Path, field_path, get
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodSpec, PodTemplate
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.catalogue import POD_TEMPLATES, catalogue_schemas
from karta_interpreter.definitions.openapi.check.check import own_schema
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind, below, fields, schema_at
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import place_at, readings

_MOST: Final = 20


def misfit_warnings(definition: Definition, obj: Object, *, is_of_status: bool = False) -> Iterator[Fact]:
    """Yield what an object has, or only its status, that the schema of its kind, or that of pods, does not allow.

    A controller writes the status, and a newer one writes more fields: only those with typos are unknown.
    """
    pods, kind = catalogue_schemas()[POD_TEMPLATES], _schema(definition)
    written = {name: value for name, value in obj.items() if (name == "status") == is_of_status}
    found = [(kind, misfits(kind.schema, written))]
    found += [
        (pods, _of_pods(component, obj, kind.schema, below(pods.schema, "spec", "template")))
        for component in (() if is_of_status else definition.components)
    ]
    yield from (
        Fact(
            finding.rule,
            f"{finding.message_at_path} ({source.crd}){finding.hint and f': {finding.hint}'}",
            places=(place_at(finding.path, obj),),
            severity=Severity.WARNING,
        )
        for source, findings in found
        for finding in islice(findings, _MOST)
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


def _of_pods(component: ComponentRules, obj: Object, of_kind: Object, template: Object) -> Iterator[Finding]:
    """Yield the findings about pods where the schema of the kind is open."""
    schemas: dict[type, Object] = {PodTemplate: template, PodSpec: below(template, "spec")}
    if schema := schemas.get(type(component.pods)):
        for reading in readings(next(iter(component.pod_queries.values())), obj):
            path = reading.location.path if reading.location else ()
            part = schema_at(of_kind, path)
            is_open = part.get(OPEN) or not any(fields(part))
            if path and is_open and isinstance(pod := get(obj, path), dict):
                # A kind may have fields of its own beside those of a pod.
                yield from (each for each in misfits(schema, pod, path) if each.path[:-1] != path)
