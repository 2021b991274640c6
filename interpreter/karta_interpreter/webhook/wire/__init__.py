"""Karmada's ``ResourceInterpreterContext`` on the wire: bytes to a `Request`, results to bytes.

This package is only about the bodies. HTTP is in `karta_interpreter.webhook.http`.

There are two channels of failure. A body that cannot be answered, because not even its uid can be read, is a
`RequestError` and becomes an HTTP error with a Kubernetes ``Status`` (`encode_status`). Everything else is
answered with its uid, if need be with ``successful: false`` and the reason (`encode_failure`), which Karmada
shows to users.
"""

from karta_interpreter.webhook.wire.fast_decoder import FastDecoder, NewQuestion, Question, count_types
from karta_interpreter.webhook.wire.request import Request, decode, request_of
from karta_interpreter.webhook.wire.response import (
    encode_failure,
    encode_results,
    encode_status,
    remark_of,
)

__all__ = [
    "FastDecoder",
    "NewQuestion",
    "Question",
    "Request",
    "count_types",
    "decode",
    "encode_failure",
    "encode_results",
    "encode_status",
    "remark_of",
    "request_of",
]
