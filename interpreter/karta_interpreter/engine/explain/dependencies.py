"""Explains dependencies: the pod template or expression that names each, with the places, and names without effect."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import (
    COMPUTE_DOMAIN,
    Object,
    Path,
    claim_dependencies,
    namespace,
    objects_text,
    parts_within,
    pod_dependencies,
    set_value,
)
from karta_interpreter.definitions.karta import (
    Definition,
    ExtraDependency,
    Fragments,
    PodSpec,
)
from karta_interpreter.engine.evaluation import pod_templates
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import (
    annotation_field,
    field_of,
    place_at,
    pod_queries,
    readings,
)
from karta_interpreter.engine.operations import (
    ELSEWHERE,
    Call,
    Options,
    Results,
    dependency_selector,
    left_out_text,
    named_objects,
    why_left_out,
)

_PROBE: Final = "karta-interpreter-probe"


def dependency_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield each dependency with the places that name it."""
    templates = [(*template, _needed(template[2])) for template in _templates(definition, call.object)]
    for index, dependency in enumerate(results.get("dependencies", ())):
        title, answer = f"{dependency['kind']} {objects_text(dependency)}", f"/dependencies/{index}"
        facts = list[Fact]()
        for name, field, template, base, needed in templates:
            paths = list(_naming(template, dependency)) if _key(dependency) in needed else []
            if not paths:
                continue
            note, places = f"{title}: {name}", list[Place]()
            if base is not None:
                places = [place_at((*base, *path), call.object) for path in paths]
                places = [place for place in places if place.exists]
                if not places:
                    note += f", by {annotation_field('added-containers')}"
            facts.append(Fact("dependency", note, dependency, answer, field=field, places=tuple(places)))
        facts += _extra(definition, call.object, dependency, title, answer)
        if not facts:
            why = "by values of parameters"
            if dependency["kind"] == COMPUTE_DOMAIN.kind:
                why = "makes a template of claims that pods name"
            facts.append(Fact("dependency", f"{title}: {why}", dependency, answer))
        yield from facts


def dependency_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the expressions about dependencies that fail, and the names that no object can have."""
    failures = list[str]()
    named = named_objects(definition, obj, failures)
    for failure in failures:
        yield Fact("dependency-failed", failure, field=annotation_field("dependencies"))
    for dependency in named:
        if why := why_left_out(namespace(obj), *dependency[:4]):
            rule = "dependency-elsewhere" if why == ELSEWHERE else "dependency-left-out"
            yield Fact(rule, left_out_text(dependency.to_json(), why))


def _extra(definition: Definition, obj: Object, dependency: Object, title: str, answer: str) -> Iterator[Fact]:
    field = annotation_field("dependencies")
    for extra in definition.annotations.dependencies:
        if not isinstance(extra, ExtraDependency):
            continue
        api_versions = {extra.api_version, *(gvk.api_version for gvk in extra.versions)}
        if extra.kind != dependency["kind"] or dependency["apiVersion"] not in api_versions:
            continue
        objects, text_of = objects_text(dependency), partial(dependency_selector, extra) if extra.by_labels else str
        named = [reading for reading in readings(extra.objects, obj) if text_of(reading.value) == objects]
        if named:
            places: tuple[Place, ...] = tuple(chain.from_iterable(reading.places for reading in named))
            note = f"{title}: {named[0].source}"
            if dependency["apiVersion"] != extra.api_version:
                note += f", in {dependency['apiVersion']}: the API server does not serve {extra.api_version}"
            yield Fact(
                "dependency", note, dependency, answer, field=field, expression=extra.objects.text, places=places
            )


def _templates(definition: Definition, obj: Object) -> Iterator[tuple[str, str, Object, Path | None]]:
    """Yield each pod template with its name, its field, and its place in the object (None without one)."""
    read = cache(lambda query: readings(query, obj))
    for component, position, template in pod_templates(definition, obj):
        field, query = next(iter(pod_queries(component).items()))
        path = None
        if not isinstance(component.pods, Fragments):
            for output in read(query)[position : position + 1]:
                path = output.location and output.location.path
        if path and isinstance(component.pods, PodSpec):
            path = path[:-1]
        yield f"pods of {component.name}", field_of(definition, component.name, field), template, path
    for more in definition.annotations.of_dependencies("pods"):
        for reading in readings(more, obj):
            if isinstance(reading.value, dict):
                at = reading.location
                yield "more pods", annotation_field("dependencies"), reading.value, at and at.path


def _needed(template: Object) -> set[tuple[str, str, str]]:
    with suppress(InterpretationError):
        dependencies = (*pod_dependencies(template, ""), *claim_dependencies(template, ""))
        return {(dependency.api_version, dependency.kind, dependency.name) for dependency in dependencies}
    return set()


def _key(dependency: Object) -> tuple[str, str, str]:
    return dependency["apiVersion"], dependency["kind"], objects_text(dependency)


def _naming(template: Object, dependency: Object) -> Iterator[Path]:
    """Yield the places in a template that name a dependency. Another name there means another dependency."""
    # Other fields may have the same text. Trying each of them finds those that count, without a list of names here.
    probe = _key({**dependency, "name": _PROBE})
    for path, value in parts_within(template):
        if value == dependency["name"] and probe in _needed(set_value(template, path, _PROBE)):
            yield path
