"""Warnings: parts of an object that the schema of its kind, or that of pods, does not allow."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodSpec, PodTemplate
from karta_interpreter.definitions.openapi.catalogue import POD_TEMPLATES, catalogue_schemas
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.definitions.openapi.schema import below, fields, schema_at
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import readings

_MOST: Final = 20


def misfit_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield what an object has that the schema of its kind, or that of pods, does not allow.

    The status is left out, since a controller writes it.
    """
    pods, kind = catalogue_schemas()[POD_TEMPLATES], catalogue_schemas().get(definition.gvk)
    written = {name: value for name, value in obj.items() if name != "status"}
    found = [(kind, misfits(kind.schema, written))] if kind else []
    found += [
        (pods, _of_pods(component, obj, kind.schema if kind else {}, below(pods.schema, "spec", "template")))
        for component in definition.components
    ]
    yield from (
        Fact(
            finding.rule,
            f"{finding.message_at_path} ({source.crd}){finding.hint and f': {finding.hint}'}",
            severity=Severity.WARNING,
        )
        for source, findings in found
        for finding in islice(findings, _MOST)
    )


def _of_pods(component: ComponentRules, obj: Object, of_kind: Object, template: Object) -> Iterator[Finding]:
    """Yield the findings about pods where the schema of the kind is open."""
    schemas: dict[type, Object] = {PodTemplate: template, PodSpec: below(template, "spec")}
    if schema := schemas.get(type(component.pods)):
        for reading in readings(next(iter(component.pod_queries.values())), obj):
            path = reading.location.path if reading.location else ()
            if path and reading.places[0].exists and not any(fields(schema_at(of_kind, path))):
                # A kind may have fields of its own beside those of a pod.
                yield from (each for each in misfits(schema, reading.value, path) if each.path[:-1] != path)
