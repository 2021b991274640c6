"""``AdmissionReview`` on the wire (``admission.k8s.io/v1``): the request half read, the response half written."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import orjson

from karta_interpreter.errors import RequestError
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
    review = _parse(body)
    request = review.get("request")
    if not isinstance(request, dict):
        raise RequestError(f"request must be an object, but is {type_name(request)}")
    kind = request.get("kind")
    if not isinstance(kind, dict):
        raise RequestError(f"request.kind must be an object, but is {type_name(kind)}")
    return Review(
        uid=_text(request, "uid"),
        action=_action(request),
        group=_text(kind, "group", default=""),
        kind=_text(kind, "kind"),
        subresource=_text(request, "subResource", default=""),
        object=_object(request, "object"),
        old=_object(request, "oldObject"),
    )


def allow(uid: str, *, warnings: tuple[str, ...] = (), patch: Sequence[Object] = ()) -> bytes:
    """The answer that lets it be done; ``patch`` changes the object on its way in."""
    response: dict[str, JSON] = {"uid": uid, "allowed": True}
    if warnings:
        response["warnings"] = warnings
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(list(patch))).decode()
    return _encode(response)


def refuse(uid: str, message: str, *, warnings: tuple[str, ...] = ()) -> bytes:
    """The answer that does not let it be done, with the reason that the user reads."""
    response: dict[str, JSON] = {"uid": uid, "allowed": False, "status": {**_INVALID, "message": message}}
    if warnings:
        response["warnings"] = warnings
    return _encode(response)


def _encode(response: Object) -> bytes:
    return orjson.dumps({**_VERSION, "response": response})


def _parse(body: bytes) -> Object:
    try:
        review = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the body is not JSON: {error}") from error
    if not isinstance(review, dict):
        raise RequestError(f"the body must be an object, but is {type_name(review)}")
    for field, understood in _VERSION.items():
        if review.get(field) != understood:
            raise RequestError(
                f'{field} must be "{understood}"; register the webhook with admissionReviewVersions [v1]'
            )
    return review


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


def _object(request: Object, field: str) -> Object | None:
    value: JSON = request.get(field)
    if value is None or isinstance(value, dict):
        return value
    raise RequestError(f"request.{field} must be an object, but is {type_name(value)}")
