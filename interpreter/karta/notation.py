"""How the parts of a Karta are written down: closed camelCase objects, lists, and jq expressions.

Fields that hold an expression are marked, so that every one of them can be found without naming them again.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from interpreter.k8s.values import JSON, Path


class ReadFrom(StrEnum):
    """What a jq expression of a definition is asked about."""

    WORKLOAD = "workload"
    POD = "pod"


Expression = Annotated[str, ReadFrom.WORKLOAD]
OptionalExpression = Annotated[str | None, ReadFrom.WORKLOAD]
PodExpression = Annotated[str, ReadFrom.POD]
OptionalPodExpression = Annotated[str | None, ReadFrom.POD]

Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], Field(strict=False)]
"""A JSON list; strict reading would ask for a tuple."""

PodExpressions = Annotated[Many[str], ReadFrom.POD]
AtLeastOne = Annotated[Many[Item], Field(min_length=1)]


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
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        read_from = next((mark for mark in field.metadata if isinstance(mark, ReadFrom)), None)
        yield from _expressions_of(value, read_from, (*at, to_camel(name)))


def _expressions_of(value: object, read_from: ReadFrom | None, at: Path) -> Iterator[tuple[Path, str, ReadFrom]]:
    if isinstance(value, Schema):
        yield from expressions(value, at)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _expressions_of(item, read_from, (*at, index))
    elif isinstance(value, str) and read_from is not None:
        yield at, value, read_from
