"""Filters, sorts and cuts the list of types into pages, as the query of a request asks."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, Self

import orjson
from msgspec import Struct
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import JSON
from karta_interpreter.definitions.karta.schema import message_of
from karta_interpreter.definitions.sources import cluster, files
from karta_interpreter.web.types_api.models import ApiError, Choices, Model, ProblemError
from karta_interpreter.web.types_api.view import API, Row

DEFAULT_LIMIT: Final = 50
MOST: Final = 200
MOST_BYTES: Final = 2**20
"""A page ends before the type that would make it larger. It contains one type in any case."""
MOST_CONDITIONS: Final = 20
FIELDS: Final[Mapping[str, Callable[[Row], str]]] = {
    "name": lambda row: row.name,
    "group": lambda row: row.group,
    "categoryId": lambda row: row.category or "",
    "priorityId": lambda row: row.priority or "",
    "source": lambda row: row.source,
}
OPERATORS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "==": lambda value, operand: value == operand,
    "!=": lambda value, operand: value != operand,
    "=@": lambda value, operand: operand in value,
    "!@": lambda value, operand: operand not in value,
    "=^": lambda value, operand: value.startswith(operand),
    "=$": lambda value, operand: value.endswith(operand),
}
# Only what a value may have, which is a path for `source`: anything else is a slip that would find nothing.
_OPERATOR: Final = "|".join(map(re.escape, OPERATORS))
_CONDITION: Final = (
    f"({'|'.join(field for field in FIELDS if field != 'source')})({_OPERATOR})[A-Za-z0-9.-]*"
    f"|source({_OPERATOR})([^,|&;\"'= ][^,|&;\"']*)?"
)
# A field, an operator, and the value to compare with, in lower case.
_Test = tuple[Callable[[Row], str], Callable[[str, str], bool], str]


def _of_json(text: JSON) -> JSON:
    """Return the value of a text in JSON, or any other text itself, which the type of the parameter refuses."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


class ListParameters(Model):
    """The parameters of the list in the query of a request, and their schema in the OpenAPI document."""

    model_config = ConfigDict(populate_by_name=False)
    filter_by: list[Annotated[str, Field(pattern=f"^({_CONDITION})$")]] = Field(
        default_factory=list,
        max_length=MOST_CONDITIONS,
        description="Conditions FIELD OPERATOR VALUE with commas between them: all have to hold; may be repeated. "
        f"At most {MOST_CONDITIONS} together.",
        examples=[["name=@Ray", "source==api"]],
    )
    sort_by: Literal["name", "group", "categoryId", "priorityId", "source"] = Field(
        "name", description="The field to sort by."
    )
    sort_order: Literal["asc", "desc"] = Field("asc", description="Its direction.")
    offset: Annotated[int, BeforeValidator(_of_json)] = Field(
        0, ge=0, le=999_999_999, description="How many types to pass over."
    )
    limit: Annotated[int, BeforeValidator(_of_json)] = Field(
        DEFAULT_LIMIT,
        ge=1,
        le=MOST,
        description="The most types of a page. It may have fewer: it ends before it would have more than 1 MiB.",
    )
    external_types_only: Annotated[bool, BeforeValidator(_of_json)] = Field(
        False, description="Whether to list only the types of this API."
    )


class ListQuery(Struct, frozen=True):
    """A client's parameters of the list, read from the query. One error contains everything that is wrong with them."""

    tests: tuple[_Test, ...] = ()
    sort_by: str = "name"
    descending: bool = False
    offset: int = 0
    limit: int = DEFAULT_LIMIT

    @classmethod
    def of(cls, query: Iterable[tuple[str, str]], choices: Choices, sources: Iterable[str] = ()) -> Self:
        """Read the parameters of a query. ``sources`` are those that types have now. Raises ApiError."""
        errors: list[ProblemError] = []
        texts: dict[str, Any] = {}
        for name, text in query:
            if name == "filterBy":
                texts.setdefault(name, []).extend(text.split(","))
            elif name in texts:
                errors.append(ProblemError(parameter=name, detail="it is given more than once"))
            else:
                texts[name] = text
        parameters = ListParameters()
        try:
            parameters = ListParameters.model_validate(texts)
        except ValidationError as err:
            errors += map(_problem, err.errors(include_url=False))
        known = {
            "categoryId": choices.categories,
            "priorityId": choices.priorities,
            "source": {source.lower(): source for source in (API, files.ORIGIN, cluster.ORIGIN, *sources)},
        }
        tests = [*_tests(parameters.filter_by, known, errors)]
        if errors:
            raise ApiError(400, "the query cannot be read", errors=errors)
        if parameters.external_types_only:
            tests.append((FIELDS["source"], OPERATORS["=="], API))
        descending = parameters.sort_order == "desc"
        return cls(tuple(tests), parameters.sort_by, descending, parameters.offset, parameters.limit)

    def page(self, rows: Iterable[Row], encode: Callable[[Row], bytes]) -> bytes:
        """Return a `WorkloadTypes` as JSON: of the rows of the page as many as there is room for."""
        matching = [row for row in rows if all(test(field(row).lower(), value) for field, test, value in self.tests)]
        field = FIELDS[self.sort_by]
        # Also by name and group, so that pages do not overlap if the field is the same.
        matching.sort(key=lambda row: (field(row), row.name, row.group), reverse=self.descending)
        selected = matching[self.offset : self.offset + self.limit]
        types: list[orjson.Fragment] = []
        room = MOST_BYTES
        for row in selected:
            encoded = encode(row)
            room -= len(encoded)
            if types and room < 0:
                break
            types.append(orjson.Fragment(encoded))
        end = self.offset + len(types)
        page = {
            "types": types,
            "total": len(matching),
            "offset": self.offset,
            "limit": self.limit,
            "nextOffset": None,
        }
        if len(types) < len(selected):
            page["limit"] = len(types)
        if end < len(matching):
            page["nextOffset"] = end
        return orjson.dumps(page)


def _problem(problem: ErrorDetails) -> ProblemError:
    name, *condition = problem["loc"]
    if condition:
        return _problem_of_condition(problem["input"])
    detail, hint = f"{problem['msg']}, not {str(problem['input'])[:100]}", None
    if problem["type"] == "extra_forbidden":
        known = (str(field.alias) for field in ListParameters.model_fields.values())
        detail, hint = "there is no such parameter", did_you_mean(str(name), known)
    elif problem["type"] == "too_long":
        detail = message_of(problem)
    return ProblemError(parameter=str(name), detail=detail, hint=hint)


def _problem_of_condition(condition: str) -> ProblemError:
    detail = f'"{condition[:100]}" is not a condition: write FIELD OPERATOR VALUE, as name==RayCluster'
    named = re.match(rf"(\w{{1,100}})({_OPERATOR})", condition)
    if named and named[1] not in FIELDS:
        detail = f'there is no field "{named[1]}": {did_you_mean(named[1], FIELDS)}'
    return ProblemError(
        parameter="filterBy",
        detail=detail,
        hint=f"without spaces or quotes; fields are {', '.join(FIELDS)}; operators {' '.join(OPERATORS)}; "
        "values have letters, digits, - and .; a comma joins conditions",
    )


def _tests(
    conditions: Iterable[str], known: Mapping[str, Mapping[str, object]], errors: list[ProblemError]
) -> Iterable[_Test]:
    """Yield a test for each condition of a filter. All tests have to hold."""
    for field, operator, value in (re.split(f"({_OPERATOR})", condition, maxsplit=1) for condition in conditions):
        values = {} if "." in value else known.get(field, {})  # any file may be a source
        if operator in {"==", "!="} and values and value and value.lower() not in values:
            hint = did_you_mean(value, values)
            errors.append(ProblemError(parameter="filterBy", detail=f'there is no {field} "{value[:100]}"', hint=hint))
        yield FIELDS[field], OPERATORS[operator], value.lower()
