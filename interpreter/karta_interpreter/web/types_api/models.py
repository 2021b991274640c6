"""The bodies of requests and answers (the source of the OpenAPI document), errors, and the choices of the settings."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from karta_interpreter.base.errors import InterpreterError, SettingsError
from karta_interpreter.base.findings import Finding, count
from karta_interpreter.base.k8s import GVK, json_pointer
from karta_interpreter.base.k8s.request_path import WORD_OF_KIND

MOST_ERRORS: Final = 50  # and findings, of an answer, which has the count of all
_LONGEST: Final = 1000
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"

KindName = Annotated[
    str,
    StringConstraints(pattern=rf"^{WORD_OF_KIND}$"),
    Field(description="The kind, as in the objects of the type.", examples=["RayCluster"]),
]
Group = Annotated[
    str,
    StringConstraints(pattern=rf"^({_LABEL}(\.{_LABEL})*)?$", max_length=180),
    Field(description="The API group; empty for core kinds.", examples=["ray.io"]),
]
Text = Annotated[str, AfterValidator(lambda text: text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")]
"""A text that may quote a client, cut at 1,000 characters."""
Pointer = Annotated[
    str, AfterValidator(lambda text: text if len(text) <= _LONGEST else text[:_LONGEST].rpartition("/")[0])
]
"""A JSON Pointer of at most 1,000 characters. A longer one is cut to an object around the place."""
Manifest = dict[str, Any]
"""A Karta or ResourceInterface as JSON. `karta_interpreter.definitions.karta` judges it, and finds more than a schema.
"""


class Model(BaseModel):
    """A JSON object without unknown fields. Its values have the right type without conversion."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)


class TypeFields(Model):
    """The fields of a workload type that are not its Kartas."""

    category_id: str = Field(description="One of the ids of /workload-categories.")
    priority_id: str = Field(description="One of the ids of /workload-priorities.")
    name: KindName
    group: Group


class WorkloadTypeInput(TypeFields):
    """A workload type as a client registers it."""

    model_config = ConfigDict(populate_by_name=False)
    resource_interfaces: list[Manifest] = Field(
        min_length=1,
        max_length=16,
        description="A Karta or ResourceInterface for each version of the kind; the API gives each its name.",
    )


class FindingOutput(Model):
    """Something that is wrong, or looks wrong; a type with an error is not stored."""

    severity: Literal["error", "warning"]
    rule: str = Field(description="The rule that found it, such as expression-syntax.")
    pointer: Pointer = Field(description="Where: a JSON Pointer (RFC 6901) into the body of the request.")
    detail: Text
    hint: Text = ""

    @classmethod
    def of(cls, index: int, finding: Finding) -> Self:
        """Return the output about a finding in the Karta at an index of a type."""
        return cls(
            severity=finding.severity.value,
            rule=finding.rule,
            pointer=json_pointer(("resourceInterfaces", index, *finding.path)),
            detail=finding.message,
            hint=finding.hint,
        )


class WorkloadType(Model):
    """A workload type as it is served."""

    id: str = Field(description="Follows from group and name alone.")
    name: str
    group: str
    category_id: str | None
    category_name: str | None
    priority_id: str | None
    priority_name: str | None
    source: str = Field(description="Where the Kartas come from: api, cluster, catalogue, or the name of a file.")
    owner: str | None = Field(description="Who changes this type instead of this API; null for types of this API.")
    versions: list[str]
    resource_interfaces: list[Manifest] = Field(description="Each Karta, in the order of their own versions.")
    findings: list[FindingOutput] = Field(description="The first 50, with pointers into this object.")
    findings_total: int = Field(description="How many findings there are.")


class WorkloadTypes(Model):
    """A page of the list of types."""

    types: list[WorkloadType]
    total: int = Field(description="How many types there are on all pages.")
    offset: int
    limit: int = Field(description="That of the request, or the number of types here where more would be too large.")
    next_offset: int | None = Field(description="The offset of the next page; null on the last one.")


class Category(Model):
    """A category of workload types."""

    id: str
    name: str


class Categories(Model):
    """All categories."""

    categories: list[Category]


class Priority(Category):
    """A priority of workload types."""

    value: int = Field(description="The greater, the more urgent.")


class Priorities(Model):
    """All priorities, the lowest first."""

    priorities: list[Priority]


class Validation(Model):
    """The answer about a type that can be stored: its warnings."""

    findings: list[FindingOutput] = Field(description="The first 50.")
    findings_total: int = Field(description="How many findings there are.")


class Judged(TypeFields, Validation):
    """A child process's view of a `WorkloadTypeInput`. ``kinds`` has the kinds that each Karta describes."""

    kinds: list[tuple[GVK, ...]]
    errors_total: int


class ProblemError(Model):
    """One thing that is wrong with a request."""

    pointer: Pointer | None = Field(None, description="A JSON Pointer (RFC 6901) into the body of the request.")
    parameter: Text | None = Field(None, description="The parameter of the query, or the header.")
    detail: Text
    rule: str | None = None
    severity: Literal["error", "warning"] | None = None
    hint: Text | None = None


class ProblemDetails(Model):
    """Problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: Text
    owner: str | None = Field(None, description="Who owns the type, where that is the problem.")
    errors: list[ProblemError] | None = Field(None, description="What is wrong, the first 50 in one answer.")
    errors_total: int | None = Field(None, description="How many errors and warnings there are.")


CATALOGUE: Final = "the catalogue"
CONTENT_TYPE: Final = "application/problem+json"
PROBLEMS: Final = {
    400: ("invalid-request", "Bad Request", "The body is not JSON, or the query or a header cannot be read."),
    401: ("unauthenticated", "Unauthorized", "There is no bearer token, or it is not known."),
    403: ("forbidden", "Forbidden", "The user of the token may not do this."),
    404: ("not-found", "Not Found", "There is no workload type with this id."),
    405: ("method-not-allowed", "Method Not Allowed", ""),
    409: ("conflict", "Conflict", "The type has another owner, or is registered with another content."),
    412: ("changed-meanwhile", "Precondition Failed", "The type has changed since the client read it."),
    413: ("too-large", "Content Too Large", "The body is too large."),
    415: ("unsupported-media-type", "Unsupported Media Type", "The body is not application/json, or is compressed."),
    422: (
        "invalid-workload-type",
        "Unprocessable Content",
        "The body is JSON, but something in it is wrong; `errors` has all of it.",
    ),
    429: ("too-many-requests", "Too Many Requests", "There were too many requests."),
    500: ("internal-error", "Internal Server Error", ""),
    503: ("unavailable", "Service Unavailable", "The place where types are stored, or the API server, cannot be used."),
}
"""The type of each error by its HTTP status, its title, and its text in the description, "" if that omits it.

The titles are the phrases of RFC 9110. Those of Python depend on its version.
"""


class ApiError(InterpreterError):
    """An error that a client gets, with its causes and its headers.

    The client gets the first of the ``errors``, and the ``total``, by default the number of the errors.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[ProblemError] = (),
        total: int = 0,
        owner: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.headers = status, headers or {}
        kind, title, _ = PROBLEMS[status]
        self.problem = ProblemDetails(
            type=f"urn:karta-interpreter:problem:{kind}",
            title=title,
            status=status,
            detail=detail,
            owner=owner,
            errors=list(errors[:MOST_ERRORS]) or None,
            errors_total=max(total, len(errors)) or None,
        )


UNKNOWN: Final = "the Kartas of the cluster have not been read yet"
"""Why nothing is said of types after the start of the program."""


def unavailable(detail: str, seconds: int = 5) -> ApiError:
    """Return the error for a request that may succeed after some seconds."""
    return ApiError(503, detail, headers={"Retry-After": str(seconds)})


def owned(owner: str, what: str) -> ApiError:
    """Return the error for a type that this API must not change."""
    advice = (
        "POST registers a type that takes precedence, and the option --without leaves the kind out"
        if owner == CATALOGUE
        else "change it there, or delete it there first"
    )
    return ApiError(409, f"{what} is owned by {owner}: {advice}", owner=owner)


def invalid(findings: Sequence[FindingOutput], errors: int, total: int) -> ApiError:
    """Return the error for a type with so many ``errors`` among the ``total`` of its findings. These are the first."""
    named = [ProblemError(**finding.model_dump() | {"hint": finding.hint or None}) for finding in findings]
    return ApiError(422, f"the workload type cannot be stored: {count(errors, 'error')}", errors=named, total=total)


_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?")


class Choices(Struct, frozen=True, eq=False):
    """Categories and priorities by id. An id is the name in lower case, so that it can be the value of a label."""

    categories: Mapping[str, Category]
    priorities: Mapping[str, Priority]

    @classmethod
    def of(cls, categories: Sequence[str], priorities: Sequence[str]) -> Self:
        """Read the settings. Raises SettingsError.

        >>> Choices.of(["Train"], ["high=125", "low=40"]).priorities["low"].value
        40
        """
        named = {name.lower(): Category(id=_id(name), name=name) for name in categories}
        valued = []
        for text in priorities:
            name, _, value = text.partition("=")
            if not re.fullmatch(r"-?[0-9]{1,9}", value):
                raise SettingsError(f'--types-priority "{text}": write NAME=VALUE, with a whole number')
            valued.append(Priority(id=_id(name), name=name, value=int(value)))
        sorted_by_value = sorted(valued, key=lambda value: (value.value, value.id))
        if not named or not valued:
            raise SettingsError("the workload types API needs a category and a priority")
        if len(named) < len(categories) or len({priority.id for priority in valued}) < len(valued):
            raise SettingsError("each of --types-category and --types-priority needs a name of its own")
        return cls(named, {priority.id: priority for priority in sorted_by_value})


def _id(name: str) -> str:
    if not _NAME.fullmatch(name):
        rule = "write letters, digits and - that begin and end with a letter or a digit"
        raise SettingsError(f'"{name}" is not a name of a category or priority: {rule}')
    return name.lower()
