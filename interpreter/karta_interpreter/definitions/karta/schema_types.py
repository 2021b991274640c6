"""How the parts of a Karta are written down: closed camelCase objects, lists, and jq expressions.

Expressions have a type of their own, so that every one of them can be found without naming its field again. The
descriptions of fields, and the rules for the API server alone, go into the schemas that `schema_export` writes.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from karta_interpreter.base.k8s.values import JSON, Path
from karta_interpreter.definitions.karta.expression_text import Expression

STRUCTURE: Final[Path] = ("spec", "structureDefinition")
"""Where a Karta describes the workload; below are the parts of it that other rooms name."""

REFERENCES: Final[Path] = (*STRUCTURE, "references")
ROOT: Final[Path] = (*STRUCTURE, "rootComponent")
ROOT_KIND: Final[Path] = (*ROOT, "kind")
ROOT_STATUS: Final[Path] = (*ROOT, "statusDefinition")


Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], Field(strict=False)]
"""A JSON list; strict reading would ask for a tuple."""

AtLeastOne = Annotated[Many[Item], Field(min_length=1)]


def described(text: str, default: Any = ..., *, alias: str | None = None, **schema: JSON) -> Any:  # noqa: ANN401 - as pydantic's Field
    """A field with its description; ``alias`` is its name in a Karta, where that is not its own in camelCase.

    ``schema`` has constraints that the API server enforces; in definitions from elsewhere a violation is a finding.
    """
    return Field(default, alias=alias, description=text, json_schema_extra=schema or None)


def optional(text: str, *, alias: str | None = None, **schema: JSON) -> Any:  # noqa: ANN401 - as pydantic's Field
    """A field that is None when it is absent."""
    return described(text, None, alias=alias, **schema)


def yields(what: str) -> Any:  # noqa: ANN401 - as pydantic's Field
    """An optional expression about the workload."""
    return optional(f"jq on the workload that yields {what}.")


AS_SET: Final[Mapping[str, JSON]] = {"x-kubernetes-list-type": "set"}


def keyed_by(field: str) -> dict[str, JSON]:
    """A list of entries that differ in a field: the API server merges them by it and rejects a second one."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [field]}


class Schema(BaseModel):
    """Base of every part of a Karta: camelCase outside, closed, frozen, and strict about types."""

    # Only the outermost part needs a validator, and a program that imports the library may never read a Karta.
    model_config = ConfigDict(alias_generator=to_camel, defer_build=True, extra="forbid", frozen=True, strict=True)

    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: JSON) -> JSON:
        """An explicit null is an absent field, as for the API server."""
        if not isinstance(data, Mapping):
            return data
        return {key: value for key, value in data.items() if value is not None or key in cls.nullable}


def expressions(part: object, at: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Every jq expression below a part of a Karta, with its path."""
    if isinstance(part, Expression):
        yield at, part
    elif isinstance(part, Schema):
        for name, field in type(part).model_fields.items():
            yield from expressions(getattr(part, name), (*at, str(field.alias)))
    elif isinstance(part, tuple | dict):
        for key, item in part.items() if isinstance(part, dict) else enumerate(part):
            yield from expressions(item, (*at, key))
