"""Warnings: parts of an object that the schema of its kind, or that of pods, does not allow."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from karta_interpreter.base.k8s import Object, Path, field_path, get
from karta_interpreter.definitions.karta import Definition, PodSpec, PodTemplate
from karta_interpreter.definitions.openapi.catalogue import POD_TEMPLATES, catalogue_schemas
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind, schema_at
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import place_at, pod_queries, readings

_MOST: Final = 20
_PARTS: Final = ("metadata", "status")
_TEMPLATE: Final = ("spec", "template")


def misfit_warnings(definition: Definition, obj: Object, part: str = "spec") -> Iterator[Fact]:
    """Yield what a part of an object has that the schema of its kind, or that of pods, does not allow.

    The part is ``status``, ``metadata`` or, as ``spec``, everything else. Without a schema of the kind only the
    metadata and the pods that expressions read are compared.

    A controller writes the status, and a newer one writes more fields, so only types are compared there.
    """
    pods = catalogue_schemas()[POD_TEMPLATES]
    kind = catalogue_schemas().get(definition.gvk) or CustomKind("", definition.gvk, {OPEN: True})
    written = {name: value for name, value in obj.items() if name == part or (part == "spec" and name not in _PARTS)}
    # That of the metadata is the same for all kinds. A CRD does not have it.
    metadata = schema_at(pods.schema, ("metadata",))
    schema = {**kind.schema, "properties": {**kind.schema.get("properties", {}), "metadata": metadata}}
    release = pods.crd if part == "metadata" else kind.crd
    found = misfits(schema, written, release, _pods_read(definition, obj, pods) if part == "spec" else {})
    for finding in islice(found, _MOST):
        if part != "status" or finding.rule != "field-unknown":
            note = ": ".join(filter(None, (finding.message_at_path, finding.hint)))
            yield Fact(finding.rule, note, places=(place_at(finding.path, obj),))


def _pods_read(definition: Definition, obj: Object, pods: CustomKind) -> Mapping[Path, CustomKind]:
    """Return the places that expressions read as a pod template or a pod spec, each with its schema."""
    template = schema_at(pods.schema, _TEMPLATE)
    # A kind may have fields of its own beside those of a pod spec.
    spec = {**schema_at(template, ("spec",)), OPEN: True}
    schemas = {PodTemplate: template, PodSpec: spec}
    places: dict[Path, CustomKind] = {}
    for component in definition.components:
        if component.pods is None or type(component.pods) not in schemas:
            continue
        query = next(iter(pod_queries(component).values()))
        for reading in readings(query, obj):
            # A whole object, such as a Pod in an AppWrapper, has the schema of its kind.
            if reading.location and get(reading.value, ("kind",)) is None:
                places[reading.location.path] = CustomKind(pods.crd, pods.gvk, schemas[type(component.pods)])
    return places


def required_field(definition: Definition, path: Path, obj: Object) -> str:
    """Return the words about the first field on a path that an object lacks and its kind requires, "" without one."""
    kind = catalogue_schemas().get(definition.gvk)
    if kind is None:
        return ""
    for end in range(1, len(path) + 1):
        if get(obj, path[:end]) is None:
            is_required = path[end - 1] in schema_at(kind.schema, path[: end - 1]).get("required", ())
            return f"{field_path(path[:end])} is required ({kind.crd})" if is_required else ""
    return ""
