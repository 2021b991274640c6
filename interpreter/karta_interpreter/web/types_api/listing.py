"""Filters, sorts and cuts the list of types into pages, as the query of a request asks."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Self

import orjson
from msgspec import Struct

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.sources import cluster, files
from karta_interpreter.web.types_api.models import ApiError, Choices, ProblemError
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
    f"({'|'.join(field for field in FIELDS if field != 'source')})({_OPERATOR})([A-Za-z0-9.-]*)"
    f"|(source)({_OPERATOR})((?:[^,|&;\"'= ][^,|&;\"']*)?)"
)
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
# A field, an operator, and the value to compare with, in lower case.
_Test = tuple[Callable[[Row], str], Callable[[str, str], bool], str]


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
        known = {
            "categoryId": choices.categories,
            "priorityId": choices.priorities,
            "source": {source.lower(): source for source in (API, files.ORIGIN, cluster.ORIGIN, *sources)},
        }
        errors: list[ProblemError] = []
        tests: list[_Test] = []
        parameters: dict[str, str] = {}
        for name, text in query:
            if name == "filterBy":
                tests += _tests(text, known, errors)
            elif name not in PARAMETERS:
                hint = f"write filterBy={name}=={text[:100]}" if name in FIELDS else did_you_mean(name, PARAMETERS)
                errors.append(ProblemError(parameter=name, detail="there is no such parameter", hint=hint))
            elif name in parameters:
                errors.append(ProblemError(parameter=name, detail="it is given more than once"))
            elif needed := _needed(text, PARAMETERS[name]):
                detail = f'"{text[:100]}" is not {needed}'
                errors.append(ProblemError(parameter=name, detail=detail, hint=_hint(name, text)))
            else:
                parameters[name] = text
        if len(tests) > MOST_CONDITIONS:
            errors.append(
                ProblemError(
                    parameter="filterBy", detail=f"there are {len(tests)} conditions, the most is {MOST_CONDITIONS}"
                )
            )
        if errors:
            raise ApiError(400, "the query cannot be read", errors=errors)
        if parameters.get("externalTypesOnly") == "true":
            tests.append((FIELDS["source"], OPERATORS["=="], API))
        return cls(
            tuple(tests),
            parameters.get("sortBy", "name"),
            parameters.get("sortOrder") == "desc",
            int(parameters.get("offset", 0)),
            int(parameters.get("limit", DEFAULT_LIMIT)),
        )

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


def _hint(parameter: str, text: str) -> str | None:
    """Return what to write instead of a text that a parameter does not take."""
    if parameter == "sortBy":
        for field in FIELDS:
            if field in text:
                return f"write sortBy={field}&sortOrder=desc, or asc"
    if PARAMETERS[parameter]["type"] == "integer":
        return None
    return did_you_mean(text[:100], PARAMETERS[parameter].get("enum", ["true", "false"]))


PARAMETERS: Final[Mapping[str, Object]] = {
    "filterBy": {
        "description": "Conditions FIELD OPERATOR VALUE with commas between them: all have to hold; may be repeated. "
        f"At most {MOST_CONDITIONS} together.",
        "type": "array",
        "maxItems": MOST_CONDITIONS,
        "items": {"type": "string", "pattern": f"^({_CONDITION})$"},
        "examples": [["name=@Ray", "source==api"]],
    },
    "sortBy": {"description": "The field to sort by.", "type": "string", "enum": [*FIELDS], "default": "name"},
    "sortOrder": {"description": "Its direction.", "type": "string", "enum": ["asc", "desc"], "default": "asc"},
    "offset": {
        "description": "How many types to pass over.", "type": "integer", "minimum": 0, "maximum": 999_999_999,
        "default": 0,
    },
    "limit": {
        "description": "The most types of a page. It may have fewer: it ends before it would have more than 1 MiB.",
        "type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT,
    },
    "externalTypesOnly": {
        "description": "Whether to list only the types of this API.", "type": "boolean", "default": False
    },
}  # fmt: skip
"""The JSON Schema of each parameter of the query."""


def _needed(text: str, schema: Object) -> str:
    """Return what the text of a parameter must be, or "" if the text is valid."""
    if schema["type"] == "integer":
        fits = _NUMBER.fullmatch(text) and schema["minimum"] <= int(text) <= schema["maximum"]
        return "" if fits else f"a number from {schema['minimum']} to {schema['maximum']}"
    choices = schema.get("enum", ["true", "false"])
    return "" if text in choices else f"one of {', '.join(choices)}"


def _tests(text: str, known: Mapping[str, Mapping[str, object]], errors: list[ProblemError]) -> Iterable[_Test]:
    """Yield a test for each condition of a filter. All tests have to hold."""
    for condition in text.split(","):
        match = re.fullmatch(_CONDITION, condition)
        if match is None:
            detail = f'"{condition[:100]}" is not a condition: write FIELD OPERATOR VALUE, as name==RayCluster'
            named = re.match(rf"(\w{{1,100}})({_OPERATOR})", condition)
            if named and named[1] not in FIELDS:
                detail = f'there is no field "{named[1]}": {did_you_mean(named[1], FIELDS)}'
            errors.append(
                ProblemError(
                    parameter="filterBy",
                    detail=detail,
                    hint=f"without spaces or quotes; fields are {', '.join(FIELDS)}; operators {' '.join(OPERATORS)}; "
                    "values have letters, digits, - and .; a comma joins conditions",
                )
            )
            continue
        field, operator, value = match.groups()[:3] if match[1] else match.groups()[3:]
        values = {} if "." in value else known.get(field, {})  # any file may be a source
        if operator in {"==", "!="} and values and value and value.lower() not in values:
            hint = did_you_mean(value, values)
            errors.append(ProblemError(parameter="filterBy", detail=f'there is no {field} "{value[:100]}"', hint=hint))
        yield FIELDS[field], OPERATORS[operator], value.lower()
