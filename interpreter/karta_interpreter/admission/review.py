"""``AdmissionReview`` (``admission.k8s.io/v1``): the request half read, the response half written."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import orjson

from karta_interpreter.errors import RequestError
from karta_interpreter.findings import Finding, Severity, count, format_path
from karta_interpreter.k8s.values import JSON, Object, type_name

_VERSION = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
# Not 403, 409 or AlreadyExists: clients try those again, or take them for success.
_INVALID = {"status": "Failure", "reason": "Invalid", "code": 422}


class Action(StrEnum):
    """What a user does to an object; Kubernetes calls it the operation of the request."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True)
class Review:
    """One question: may this be done?

    ``group`` and ``kind`` are those of ``object``, which is None when something is deleted; ``old`` is what is
    stored now, None when something is created.
    """

    uid: str
    action: Action
    group: str
    kind: str
    subresource: str = ""
    object: Object | None = None
    old: Object | None = None


def read(body: bytes) -> Review:
    """Read a review; raises RequestError when it is none, which the API server takes for a failed webhook.

    >>> read(b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}')
    Traceback (most recent call last):
    karta_interpreter.errors.RequestError: request must be an object, but is null
    """
    try:
        review = _object(orjson.loads(body), "the body")
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the body is not JSON: {error}") from error
    for field, known in _VERSION.items():
        if review.get(field) != known:
            raise RequestError(f'{field} must be "{known}"; register the webhook with admissionReviewVersions [v1]')
    request = _object(review.get("request"), "request")
    kind = _object(request.get("kind"), "request.kind")
    old = request.get("oldObject")
    obj = request.get("object")
    return Review(
        uid=_text(request, "uid"),
        action=_action(request),
        group=_text(kind, "group", default=""),
        kind=_text(kind, "kind"),
        subresource=_text(request, "subResource", default=""),
        object=None if obj is None else _object(obj, "request.object"),
        old=None if old is None else _object(old, "request.oldObject"),
    )


def _object(value: JSON, where: str) -> Object:
    if isinstance(value, dict):
        return value
    raise RequestError(f"{where} must be an object, but is {type_name(value)}")


def _action(request: Object) -> Action:
    name = _text(request, "operation")
    try:
        return Action(name)
    except ValueError as error:
        raise RequestError(f'request.operation "{name[:64]}" is not one of {", ".join(Action)}') from error


def _text(parent: Object, field: str, *, default: str | None = None) -> str:
    value: JSON = parent.get(field, default)
    if isinstance(value, str) and (value or default is not None):
        return value
    raise RequestError(f"request: {field} must be a string that is not empty, but is {type_name(value)}")


def allow(uid: str, *, warnings: tuple[str, ...] = (), patch: Sequence[Object] = ()) -> bytes:
    """The answer that lets it be done; ``patch`` changes the object on its way in."""
    change: Object = {}
    if patch:
        change = {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(list(patch))).decode()}
    return _encode({"uid": uid, "allowed": True}, warnings, change)


def refuse(uid: str, message: str, *, warnings: tuple[str, ...] = ()) -> bytes:
    """The answer that does not let it be done, with the reason that the user reads."""
    status = {**_INVALID, "message": message}
    return _encode({"uid": uid, "allowed": False, "status": status}, warnings, {})


def _encode(response: Object, warnings: tuple[str, ...], change: Object) -> bytes:
    shown = {"warnings": warnings} if warnings else {}
    return orjson.dumps({**_VERSION, "response": {**response, **shown, **change}})


_MAX_WARNING = 120
"""Characters that Kubernetes recommends for a warning (``k8s.io/api/admission/v1``)."""
_MAX_WARNINGS = 30
"""Their sum stays below the 4096 characters that an API server passes on."""
_MAX_MESSAGE = 32_768


def refusal(kind: str, name: str, findings: Iterable[Finding]) -> str:
    """Why an object is not stored: one line that sums up, and one for each error.

    A message that would be too long for an answer names as many as fit.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    lines = [f'{kind} "{name}" cannot be used: {count(len(errors), "error")}']
    length = len(lines[0])
    for number, finding in enumerate(errors):
        hint = f" ({finding.hint})" if finding.hint else ""
        line = _placed(format_path(finding.path), f"{finding.message}{hint} [{finding.rule}]")
        line = f"  {_one_line(line)}"
        length += len(line) + 1
        if length > _MAX_MESSAGE:
            return "\n".join([*lines, f"  and {len(errors) - number} more; karta-interpreter validate shows them all"])
        lines.append(line)
    return "\n".join(lines)


def warnings_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The findings as warnings, each on one line and no longer than Kubernetes wants it."""
    shown = tuple(_warning(finding) for finding in findings[:_MAX_WARNINGS])
    if len(findings) <= _MAX_WARNINGS:
        return shown
    more = len(findings) - _MAX_WARNINGS
    return (*shown, f"{more} more warnings; karta-interpreter validate shows them all")


def _warning(finding: Finding) -> str:
    """As much of a finding as there is room for: first its hint goes, then the outer part of its path, then words."""
    lines = list(_ever_shorter(finding))
    cut = lines[-1][: _MAX_WARNING - 1]
    return next((line for line in lines if len(line) <= _MAX_WARNING), f"{cut.rpartition(' ')[0] or cut}…")


def _ever_shorter(finding: Finding) -> Iterator[str]:
    path, message = finding.path, _one_line(finding.message)
    if finding.hint:
        yield _placed(format_path(path), f"{message} ({_one_line(finding.hint)})")
    yield _placed(format_path(path), message)
    for start, step in enumerate(path):
        if start and isinstance(step, str):
            yield _placed(f"…{format_path(path[start:])}", message)


def _placed(where: str, text: str) -> str:
    return f"{where}: {text}" if where else text


def _one_line(text: str) -> str:
    """Return the text on one line and fit for UTF-8, which has no half surrogate pairs."""
    return " ".join(text.split()).encode(errors="replace").decode()
