"""The texts of the page: Kubernetes objects with the place of each value, and CustomResourceDefinitions with fields."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, product
from typing import Final

from karta_interpreter.base.errors import InterpretationError, ManifestError
from karta_interpreter.base.findings import DefinitionError, Finding
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, field_path, manifest, parts_within
from karta_interpreter.base.k8s.manifest import PlacedValue, elements_of
from karta_interpreter.definitions.karta.loading import KINDS_OF_DEFINITIONS
from karta_interpreter.definitions.karta.schema import other_file
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.schema import (
    CustomKind,
    SchemaPath,
    is_pod_spec,
    is_pod_template,
    parts_below,
)
from karta_interpreter.engine.suites import Case, read_case

# `PLACES` of the page.
EDITORS: Final = {
    "object": "in the tab Object",
    "references": "in the tab Looked up",
    "crd": "in the tab CRD",
    "suite": "it belongs in the tab Suite",
    "cases": "it belongs in the tab Karta",
    "CustomResourceDefinition": "move it to the tab CRD",
    "draft": "Add as a case, at an answer, writes one",
    **dict.fromkeys(
        ("overrides", "ResourceInterpreterCustomization"),
        "`interpret -f FILE --object OBJECT` answers by its scripts, which the page has no place for",
    ),
    "kubeconfig": "with --kubeconfig, at the start of the console",
}

# How many texts are kept, read: they stay the same while their user edits the Karta.
_TEXTS: Final = 2


def read_object(text: str, kinds: Collection[GVK] = ()) -> PlacedValue | None:
    """Return the object of a text, None if it is empty. Of several, take one of these ``kinds``.

    Raises ManifestError.
    """
    places = _objects(text, kinds=kinds)
    if len(places) > 1:
        fitting = [marker for marker in places if GVK.of(marker.value) in kinds]
        if len(fitting) != 1:
            has = f"{len(fitting) or 'none'} of them of the definition's kind"
            raise _error(f"contains {len(places)} objects, {has}; keep one", (fitting or places)[1].position())
        places = fitting
    return places[0] if places else None


def read_objects(text: str, named: str = "KIND NAME") -> list[Object]:
    """Return the objects of a text, ``named`` as for `kubectl get`. Raises ManifestError."""
    return [marker.value for marker in _objects(text, named)]


def read_cases(text: str) -> Iterator[tuple[tuple[int, int], Case]]:
    """Yield the cases of a suite with their positions. Raises ManifestError for the first that cannot be read."""
    for place in _documents(text):
        try:
            yield place.position(), read_case(place.document, place.value)
        except InterpretationError as error:
            raise _error(str(error), place.position(error.path)) from error


def _objects(text: str, named: str = "KIND NAME", kinds: Collection[GVK] = ()) -> list[PlacedValue]:
    """Return the Kubernetes objects of a text. Raises ManifestError, also for an object of ``kinds`` within another."""
    places = list(elements_of(_documents(text)))
    for place in places:
        if len(places) == 1 and (within := next(_within(place.value, kinds), ())):
            raise _error(f"the object is in {field_path(within)}: paste that alone", place.position(within))
        try:
            GVK.of(place.value if isinstance(place.value, dict) else {})
        except InterpretationError as error:
            what = other_file(place.value) if isinstance(place.value, dict) else ""
            whole = f"{error}: paste the whole object, as `kubectl get {named} -o yaml` prints it"
            raise _error(what or whole, place.position()) from error
    return places


def _within(value: JSON, kinds: Collection[GVK]) -> Iterator[Path]:
    """Return the paths of the whole objects of these kinds in a value, () for the value itself."""
    objects = ((path, part) for path, part in parts_within(value) if isinstance(part, dict) and "metadata" in part)
    return (path for path, obj in objects if any(obj | gvk.type_meta == obj for gvk in kinds))


def _documents(text: str) -> list[PlacedValue]:
    objects = manifest.read_objects(text, "", *KINDS_OF_DEFINITIONS)
    if not objects and "kind" in text:
        raise _error("the list has no items")
    return objects


def _error(message: str, position: tuple[int, int] = (1, 1)) -> ManifestError:
    line, column = position
    return ManifestError(message, line=line, column=column)


_CRD: Final = "CustomResourceDefinition"
_MOST_PATHS: Final = 2000


@lru_cache(_TEXTS)
def read_crds(text: str) -> tuple[Object, ...]:
    """Return the CustomResourceDefinitions of a text. Raises ManifestError if it contains only other objects."""
    objects = read_objects(text, "crd NAME")
    crds = tuple(candidate for candidate in objects if candidate["kind"] == _CRD)
    if objects and not crds:
        raise _error(
            f"there is no {_CRD} in it, only {objects[0]['kind']}; paste what `kubectl get crd NAME -o yaml` prints"
        )
    return crds


@lru_cache(_TEXTS)
def contradicted(karta: str, crd: str) -> Sequence[Finding]:
    """Return the contradictions between the CRDs of a text and the Kartas of another, or without CRDs within these."""
    return tuple(contradictions(karta, "", read_crds(crd) or None))


@lru_cache(_TEXTS)
def field_paths(crd: str, kinds: Sequence[GVK]) -> list[tuple[str, str]]:
    """Return jq paths and types of the fields that the first of these kinds has, or else the first one of the text."""
    kinds_in_text = []
    for definition, version in product(read_crds(crd), (None, *(gvk.version for gvk in kinds))):
        with suppress(DefinitionError):  # a finding about the Karta
            kinds_in_text.append(CustomKind.of(definition, version))
    fitting = [kind for kind in kinds_in_text if kind.gvk in kinds] or kinds_in_text
    return list(islice(_paths(SchemaPath(), fitting[0].schema), _MOST_PATHS)) if fitting else []


def _paths(path: SchemaPath, schema: Object) -> Iterator[tuple[str, str]]:
    """Yield the fields below a place, except fields in pods, which a definition does not have to name."""
    if is_pod_template(schema) or is_pod_spec(schema):
        return
    for below, property_schema in parts_below(path, schema):
        yield below.jq, str(property_schema.get("type", ""))
        yield from _paths(below, property_schema)
