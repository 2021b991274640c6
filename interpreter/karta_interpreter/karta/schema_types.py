"""How the parts of a Karta are written down: closed camelCase objects, lists, and jq expressions.

Fields that hold an expression are marked, so that every one of them can be found without naming them again. A field's
docstring, and its rules for the API server alone, go into the schemas that `schema_export` writes.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from karta_interpreter.k8s.values import JSON, Path


class ReadFrom(StrEnum):
    """The input of a jq expression of a definition."""

    WORKLOAD = "workload"
    POD = "pod"


Expression = Annotated[str, ReadFrom.WORKLOAD]
OptionalExpression = Annotated[str | None, ReadFrom.WORKLOAD]
PodExpression = Annotated[str, ReadFrom.POD]
OptionalPodExpression = Annotated[str | None, ReadFrom.POD]

Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], Field(strict=False)]
"""A JSON list; strict reading would ask for a tuple."""

AtLeastOne = Annotated[Many[Item], Field(min_length=1)]


def for_api_server(**schema: JSON) -> FieldInfo:
    """Constraints that the API server enforces on a field; in definitions from elsewhere a violation is a finding.

    Names have underscores where OpenAPI has dashes.
    """
    field: FieldInfo = Field(json_schema_extra={name.replace("_", "-"): value for name, value in schema.items()})
    return field


def keyed_by(field: str) -> FieldInfo:
    """A list of entries that differ in a field: the API server merges them by it and refuses a second one."""
    return for_api_server(x_kubernetes_list_type="map", x_kubernetes_list_map_keys=[field])


def rules(*rules: tuple[str, str]) -> ConfigDict:
    """Rules of the API server for an object, each in CEL and with the message when it is broken."""
    return ConfigDict(
        json_schema_extra={"x-kubernetes-validations": [{"rule": rule, "message": said} for rule, said in rules]}
    )


PodExpressions = Annotated[Many[str], ReadFrom.POD, for_api_server(x_kubernetes_list_type="set")]


class Schema(BaseModel):
    """Base of every part of a Karta: camelCase outside, closed, frozen, and strict about types."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)

    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: JSON) -> JSON:
        """An explicit null is an absent field, as the API server has it."""
        if not isinstance(data, Mapping):
            return data
        return {key: value for key, value in data.items() if value is not None or key in cls.nullable}


def expressions(part: Schema, at: Path = ()) -> Iterator[tuple[Path, str, ReadFrom]]:
    """Every jq expression below a part of a Karta: its path, its text and what it is asked about."""
    for name, spelled, read_from in _fields(type(part)):
        value = getattr(part, name)
        if value is not None:
            yield from _expressions_of(value, read_from, (*at, spelled))


@cache
def _fields(part: type[Schema]) -> tuple[tuple[str, str, ReadFrom | None], ...]:
    """The fields of a part: name in Python, name in a Karta, and what an expression in it is asked about."""
    return tuple(
        (name, to_camel(name), next((mark for mark in field.metadata if isinstance(mark, ReadFrom)), None))
        for name, field in part.model_fields.items()
    )


def _expressions_of(value: object, read_from: ReadFrom | None, at: Path) -> Iterator[tuple[Path, str, ReadFrom]]:
    if isinstance(value, Schema):
        yield from expressions(value, at)
    elif isinstance(value, tuple | dict):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _expressions_of(item, read_from, (*at, key))
    elif isinstance(value, str) and read_from is not None:
        yield at, value, read_from
