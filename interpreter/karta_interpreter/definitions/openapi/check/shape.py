"""The possible values in the OpenAPI schema of a CRD, and the knowledge at a place of an expression."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct, field

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.definitions.openapi.schema import OPEN, POD_FIELDS, listed_texts, step_text

Shapes: TypeAlias = "tuple[Shape, ...]"
"""The shapes that an expression may yield, none if it yields nothing."""

_NUMBERS: Final = ("integer", "number")

_TEXT: Final[Object] = {"type": "string"}
_TEXTS: Final[Object] = {"type": "object", "additionalProperties": _TEXT}
_METADATA: Final[Object] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink"), _TEXT),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TEXT),
        **{name: {"type": "integer"} for name in ("generation", "deletionGracePeriodSeconds")},
        **dict.fromkeys(("labels", "annotations"), _TEXTS),
        **{name: {"type": "array"} for name in ("finalizers", "ownerReferences", "managedFields")},
    },
}
# The fields of every object of Kubernetes, which the schema of a CRD does not describe.
_EMBEDDED: Final[Mapping[str, JSON]] = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}


class Shape(Struct, frozen=True):
    """The schema of a value, and its jq path in the object ("" for a value that an expression makes)."""

    schema: Object = field(default_factory=dict)
    at: str = ""
    is_sure: bool = False
    """Whether the schema requires every field on the way."""
    inner: "Shapes | None" = None
    """The shapes of the elements of a value that an expression makes."""
    members: "Mapping[str, Shapes] | None" = None
    """The shapes of the fields of such a value."""
    place: str = ""
    """``$`` and the path from the root of the schema, "" outside of it. All keys of a map count as one."""

    @property
    def types(self) -> frozenset[str]:
        """The JSON types that the value may have in addition to null, empty if any is possible."""
        if self.schema.get("x-kubernetes-int-or-string"):
            return frozenset({"integer", "string"})
        named = self.schema.get("type")
        if isinstance(named, str):
            return frozenset(_NUMBERS if named == "number" else {named})  # in JSON Schema an integer is a number
        # A structural schema has a type. Parts of a schema made by hand may lack it.
        return frozenset({"object"} if self.schema.get("properties") else ())

    @property
    def is_known(self) -> bool:
        """Whether anything is known about the value."""
        return bool(self.types)

    @property
    def values(self) -> list[str]:
        """The texts that the schema lists, empty if it does not list any."""
        return listed_texts(self.schema)

    @property
    def noun(self) -> str:
        """The type in words.

        >>> Shape({"type": "array"}).noun, Shape({"x-kubernetes-int-or-string": True}).noun
        ('a list', 'an integer or a string')
        """
        return " or ".join(_NOUNS.get(type_name, type_name) for type_name in sorted(self.types)) or "anything"

    @property
    def fields(self) -> list[str]:
        """The names of the fields that the schema describes."""
        properties = self.schema.get("properties")
        return [*properties] if isinstance(properties, dict) else [*(self.members or ())]

    def field(self, name: str) -> "Shapes | None":
        """Return the shapes of a field, None if an object of this shape cannot have it.

        >>> shape = Shape({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {}}}}})
        >>> [spec] = shape.field("spec")
        >>> spec.at, spec.fields, spec.field("b")
        ('.spec', ['a'], None)
        """
        if self.members is not None:
            return self.members.get(name, ())
        step = step_text(name)
        if name in _EMBEDDED and (self.at == "." or self.schema.get("x-kubernetes-embedded-resource")):
            return self._below(step, _EMBEDDED[name])
        properties, more = self.schema.get("properties"), self.schema.get("additionalProperties")
        if isinstance(properties, dict) and name in properties:
            return self._below(step, properties[name])
        if isinstance(more, dict):
            return self._below(step, more, "[]")
        return self._below(step, {}) if self._is_open else None

    def each(self) -> "Shapes":
        """Return the shapes of the elements of a list, or of the values of an object."""
        if self.inner is not None:
            return self.inner
        if self.members is not None:
            return tuple(shape for shapes in self.members.values() for shape in shapes)
        listed = [("[]", self.schema[name]) for name in ("items", "additionalProperties") if name in self.schema]
        properties = self.schema.get("properties")
        if not listed and isinstance(properties, dict) and not self._is_open:
            listed = [(step_text(name), schema) for name, schema in properties.items()]
        return tuple(shape for entry, schema in listed or [("[]", {})] for shape in self._below("[]", schema, entry))

    def _below(self, step: str, schema: JSON, entry: str = "") -> "Shapes":
        at = f"{'' if self.at == '.' else self.at}{step}"
        required = self.schema.get("required")
        name = step[1:] if step.startswith(".") else step[2:-2]  # as in ["example.com/name"]
        # CRDs seldom require spec, and no workload is without one.
        is_required = step in ("[]", ".spec") or (isinstance(required, list) and name in required)
        return (
            Shape(
                schema if isinstance(schema, dict) else {},
                at if at.startswith(".") else f".{at}",
                self.is_sure and is_required,
                place=self.place and f"{self.place}{entry or step}",
            ),
        )

    @property
    def _is_open(self) -> bool:
        """Whether the API server keeps fields that the schema does not describe."""
        more = self.schema.get("additionalProperties")
        return bool(self.schema.get(OPEN) or more) or not self.schema.get("properties")


_NOUNS: Final = {
    "array": "a list",
    "object": "an object",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "a boolean",
    "null": "null",
}

ANY: Final = Shape()
TEXT: Final = Shape(_TEXT)
NUMBER: Final = Shape({"type": "number"})
BOOLEAN: Final = Shape({"type": "boolean"})
NULL: Final = Shape({"type": "null"})
POD: Final = Shape(
    {
        "type": "object",
        "properties": {**_EMBEDDED, "spec": {"properties": {name: {} for name in POD_FIELDS}}, "status": {}},
    },
    ".",
)


def list_of(shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a list that an expression makes."""
    return Shape({"type": "array"}, inner=tuple(shapes))


def object_of(members: Mapping[str, Shapes]) -> Shape:
    """Return the shape of an object that an expression makes."""
    return Shape({"type": "object"}, members=members)


def literal(value: JSON) -> Shape:
    """Return the shape of a known value."""
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int() | float():
            return Shape({"type": "integer"}) if isinstance(value, int) or value.is_integer() else NUMBER
        case str():
            return Shape({"type": "string", "enum": [value]})
    return Shape({"type": "array" if isinstance(value, list) else "object"})


def unique(parts: Iterable[Shapes]) -> Shapes:
    """Return the shapes of several parts, each once."""
    distinct: list[Shape] = []
    for shape in (shape for shapes in parts for shape in shapes):
        if shape not in distinct:
            distinct.append(shape)
    return tuple(distinct)


WRONG_TYPE: Final = "crd-wrong-type"


class TypeScope(Struct, frozen=True):
    """The scope at a place of an expression: variables, own functions, whether errors are caught, and the schema."""

    found: dict[Finding, None] = field(default_factory=dict)
    """The contradictions to the schema, each once and without the path of the expression."""
    visited: list[Shape] = field(default_factory=list)
    """The fields and elements on the way, including the schema's."""
    variables: Mapping[str, Shapes] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    is_tried: bool = False
    schema: str = "the CRD"

    def add(self, contradiction: Finding) -> None:
        """Add a contradiction. A wrong type does not count if the expression catches errors."""
        if not (self.is_tried and contradiction.rule == WRONG_TYPE):
            self.found[contradiction] = None
