"""How the parts of a Karta are written down: closed camelCase objects, lists, and jq expressions.

Expressions have a separate type, so that every one can be found without naming its field again. The descriptions of
fields, and the rules only for the API server, go into the schemas that `schema_export` writes.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from karta_interpreter.base.k8s import JSON, NewObject, Path
from karta_interpreter.definitions.karta.expression_text import Expression

# What API servers accept as the name of an object without a namespace, as the value of a label, and as its name.
NAME: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
LABEL: Final = "([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
LONGEST_NAME: Final = 253
LONGEST_LABEL: Final = 63

Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], Field(strict=False)]
"""A JSON list. Strict reading would require a tuple."""

NonEmpty = Annotated[str, Field(min_length=1)]

AtLeastOne = Annotated[Many[Item], Field(min_length=1)]


def described(text: str, default: Any = ..., *, alias: str | None = None, **schema: JSON) -> Any:  # noqa: ANN401 - as pydantic's Field
    """Return a field with its description. ``alias`` is its name in a Karta if not its own name in camelCase.

    ``schema`` has constraints that the API server enforces. In other definitions a violation is a finding.
    """
    return Field(default, alias=alias, description=text, json_schema_extra=schema or None)


def optional(text: str, *, alias: str | None = None, **schema: JSON) -> Any:  # noqa: ANN401 - as pydantic's Field
    """Return a field that is None if it is absent."""
    return described(text, None, alias=alias, **schema)


def yields(what: str) -> Any:  # noqa: ANN401 - as pydantic's Field
    """Return a field for an optional expression about the workload."""
    return optional(f"jq on the workload that yields {what}.")


AS_SET: Final[Mapping[str, JSON]] = {"x-kubernetes-list-type": "set"}


def keyed_by(field: str) -> NewObject:
    """Return the rules of a list with a key field: the API server merges entries by it, and rejects duplicates."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [field]}


class Schema(BaseModel):
    """Base of every part of a Karta: camelCase outside, closed, frozen, and strict about types."""

    # Only the outermost part needs a validator, and a program with this library may never read a Karta.
    model_config = ConfigDict(alias_generator=to_camel, defer_build=True, extra="forbid", frozen=True, strict=True)

    nullable: ClassVar[frozenset[str]] = frozenset()
    exactly_one: ClassVar[tuple[str, ...]] = ()
    """The optional fields of which a part has one and no other."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: JSON) -> JSON:
        """Remove explicit nulls: as for the API server, they are absent fields."""
        if not isinstance(data, Mapping):
            return data
        return {key: value for key, value in data.items() if value is not None or key in cls.nullable}

    @model_validator(mode="after")
    def _with_exactly_one(self) -> Self:
        given = [name for name in self.exactly_one if getattr(self, name) is not None]
        if self.exactly_one and len(given) != 1:
            raise ValueError(f"needs either {' or '.join(self.exactly_one)}")
        return self


def one_of(*fields: str) -> ConfigDict:
    """Return the rule of `Schema.exactly_one` for API servers and editors."""
    return ConfigDict(json_schema_extra={"oneOf": [{"required": [field]} for field in fields]})


def expressions_of(node: object, at: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Yield every jq expression below a part of a Karta, with its path."""
    match node:
        case Expression():
            yield at, node
        case Schema():
            for name, field in type(node).model_fields.items():
                yield from expressions_of(getattr(node, name), (*at, str(field.alias)))
        case tuple() | dict():
            for key, item in node.items() if isinstance(node, dict) else enumerate(node):
                yield from expressions_of(item, (*at, key))
