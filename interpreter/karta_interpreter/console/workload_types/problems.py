"""Errors of this API as problem details (RFC 9457)."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from karta_interpreter.console.workload_types.models import FindingOutput, Problem, ProblemError
from karta_interpreter.errors import InterpreterError

CONTENT_TYPE: Final = "application/problem+json"
_NAMES: Final = {
    400: "invalid-request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    409: "conflict",
    412: "changed-meanwhile",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid-workload-type",
    429: "too-many-requests",
    500: "internal-error",
    503: "unavailable",
}
STATUSES: Final = tuple(_NAMES)


class ApiError(InterpreterError):
    """An error that a client gets, with everything that is wrong and the headers that go with it."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[ProblemError] = (),
        owner: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}
        self.owner = owner
        self.errors = tuple(errors)

    def problem(self) -> Problem:
        """The body of the answer."""
        return Problem(
            type=f"urn:karta-interpreter:problem:{_NAMES[self.status]}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=str(self),
            owner=self.owner,
            errors=list(self.errors) or None,
        )


def owned(owner: str, what: str) -> ApiError:
    """The error for a type that this API must not change."""
    return ApiError(409, f"{what} is owned by {owner}: change it there, or delete it there first", owner=owner)


def invalid(findings: Sequence[FindingOutput], what: str = "the workload type cannot be stored") -> ApiError:
    """The error for a body with errors among its findings; each of them is named."""
    errors = [ProblemError(**each.model_dump() | {"hint": each.hint or None}) for each in findings]
    count = sum(each.severity == "error" for each in findings)
    return ApiError(422, f"{what}: {count} error{'s' if count != 1 else ''}", errors=errors)
