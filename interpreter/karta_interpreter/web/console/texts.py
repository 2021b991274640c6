"""The texts of the page: Kubernetes objects with the place of each value, and CustomResourceDefinitions with fields."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, product
from typing import Final, TypeAlias

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError, InterpreterError, ManifestError
from karta_interpreter.base.findings import DefinitionError, Finding
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, field_path, manifest, parts_within
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
from karta_interpreter.engine.operations import StatusItem
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

Position: TypeAlias = list[int]
"""Line and column, from 1."""

# How many texts are kept, read: they stay the same while their user edits the Karta.
_TEXTS: Final = 2


class TextError(InterpreterError):
    """A text that contains nothing to ask about, with the place of the problem."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line, self.column = max(line, 1), max(column, 1)

    def to_json(self) -> Object:
        """Return message and place for the page."""
        return {"message": str(self), "line": self.line, "column": self.column}


class Marker(Struct, frozen=True):
    """A value of a text: ``at`` is its path in the document."""

    document: manifest.Document
    at: Path
    value: JSON

    def position(self, path: Path) -> Position:
        """Return the position of the value at a path, or of its nearest ancestor that exists."""
        return [*self.document.position((*self.at, *path))]


def read_object(text: str, kinds: Collection[GVK] = ()) -> Marker | None:
    """Return the object of a text, None if it is empty. Of several, take one of these ``kinds``. Raises TextError."""
    places = _objects(text, kinds=kinds)
    if len(places) > 1:
        fitting = [marker for marker in places if GVK.of(marker.value) in kinds]
        if len(fitting) != 1:
            has = f"{len(fitting) or 'none'} of them of the definition's kind"
            line, column = (fitting or places)[1].position(())
            raise TextError(f"contains {len(places)} objects, {has}; keep one", line, column)
        places = fitting
    return places[0] if places else None


def read_objects(text: str, named: str = "KIND NAME") -> list[Object]:
    """Return the objects of a text, ``named`` as for `kubectl get`. Raises TextError."""
    return [marker.value for marker in _objects(text, named)]


def read_cases(text: str) -> Iterator[tuple[Position, Case]]:
    """Yield the cases of a suite with their positions. Raises TextError for the first that cannot be read."""
    for marker in _documents(text):
        try:
            yield marker.position(()), read_case(marker.document, marker.value)
        except InterpretationError as error:
            raise TextError(str(error), *marker.position(error.path)) from error


def read_items(text: str) -> list[tuple[Marker, StatusItem]]:
    """Return the items of a text, one for each document or each element of a list. Raises TextError."""
    items, clusters = [], set[str]()
    for marker in _values(text):
        try:
            items.append((marker, StatusItem.written(marker.value, "the item", clusters)))
        except InterpretationError as error:
            raise TextError(str(error), *marker.position(())) from error
    return items


def _objects(text: str, named: str = "KIND NAME", kinds: Collection[GVK] = ()) -> list[Marker]:
    """Return the Kubernetes objects of a text. Raises TextError, also for an object of ``kinds`` within another."""
    places = list(_values(text))
    for marker in places:
        if len(places) == 1 and (within := next(_within(marker.value, kinds), ())):
            raise TextError(f"the object is in {field_path(within)}: paste that alone", *marker.position(within))
        try:
            GVK.of(marker.value if isinstance(marker.value, dict) else {})
        except InterpretationError as error:
            what = other_file(marker.value) if isinstance(marker.value, dict) else ""
            whole = f"{error}: paste the whole object, as `kubectl get {named} -o yaml` prints it"
            raise TextError(what or whole, *marker.position(())) from error
    return places


def _within(value: JSON, kinds: Collection[GVK]) -> Iterator[Path]:
    """Return the paths of the whole objects of these kinds in a value, () for the value itself."""
    objects = ((path, part) for path, part in parts_within(value) if isinstance(part, dict) and "metadata" in part)
    return (path for path, obj in objects if any(obj | gvk.type_meta == obj for gvk in kinds))


def _values(text: str) -> Iterator[Marker]:
    for marker in _documents(text):
        if isinstance(marker.value, list):
            yield from (
                Marker(marker.document, (*marker.at, index), element) for index, element in enumerate(marker.value)
            )
        else:
            yield marker


def _documents(text: str) -> Iterator[Marker]:
    try:
        objects = manifest.read_objects(text, "", *KINDS_OF_DEFINITIONS)
    except ManifestError as error:
        raise TextError(str(error), error.line, error.column) from error
    if not objects and "kind" in text:
        raise TextError("the list has no items")
    return (Marker(document, at, value) for document, at, value in objects)


_CRD: Final = "CustomResourceDefinition"
_MOST_PATHS: Final = 2000


@lru_cache(_TEXTS)
def read_crds(text: str) -> tuple[Object, ...]:
    """Return the CustomResourceDefinitions of a text. Raises TextError if it contains only other objects."""
    objects = read_objects(text, "crd NAME")
    crds = tuple(candidate for candidate in objects if candidate["kind"] == _CRD)
    if objects and not crds:
        raise TextError(
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
