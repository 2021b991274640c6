"""The Kubernetes ``Status`` object: the body of an HTTP error."""

from http import HTTPStatus

import orjson

_REASONS = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    408: "Timeout",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    500: "InternalError",
    503: "ServiceUnavailable",
}


def encode_status(status: int, message: str) -> bytes:
    """Return the body of an HTTP error; Karmada shows its message instead of a canned text.

    >>> encode_status(404, "no such path")
    b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no such path","reason":"NotFound","code":404}'
    """  # noqa: E501 - a body is one line
    reason = _REASONS.get(status) or HTTPStatus(status).phrase.replace(" ", "")
    return orjson.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": status,
        }
    )
