"""Karmada's questions: the request half of a ``ResourceInterpreterContext``, from bytes to a `Call`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import orjson

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.base.k8s import GVK, JSON, MOST_REPLICAS, Object, type_name
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.engine.operations import SLOTS, Call, Operation, StatusItem, TargetComponent
from karta_interpreter.webhook.wire.deep_items import cut_items

KIND = "ResourceInterpreterContext"
SLOW: Final = 0.5
"""Karmada writes calls that take at least this many seconds to its own log (``customized.go``)."""

OPERATIONS = {operation.value: operation for operation in Operation}
# Kubernetes allows 253 characters in the longest of its names. Longer text ends up in no log and no message.
_MAX_LENGTH = 256
_FIELDS: Final = {"observed": "observedObject", "items": "aggregatedStatus"}
_KIND_TEXT: Final = '{"group": "apps", "version": "v1", "kind": "Deployment"}'


class Request(msgspec.Struct, frozen=True):
    """One request with a uid that could be read.

    ``problem`` is the reason why it cannot be answered. Without a problem there is a ``call``. The other fields hold
    the readable parts of the request, for logs and metrics.
    """

    uid: str
    gvk: GVK | None = None
    namespace: str = ""
    name: str = ""
    operation_name: str = ""
    call: Call | None = None
    problem: InterpretationError | None = None


def context_of(uid: str, operation: Operation, obj: Object, **fields: JSON) -> Object:
    """Return Karmada's request for an operation on an object. ``fields`` are further fields of the request.

    The metadata of the object only has its name and namespace.
    """
    kind = GVK.of(obj)._asdict()
    request = {"uid": uid, "kind": kind, **obj["metadata"], "operation": str(operation), "object": obj, **fields}
    return {"apiVersion": API_VERSION, "kind": KIND, "request": request}


def decode(body: bytes) -> Request:
    """Read a request. Raises RequestError if the body has no readable uid.

    Any other error becomes the ``problem`` of the request. Unknown fields are left alone: a later Karmada may send new
    ones. ``replicas``, which Karmada always sends, is read for ReviseReplica only.

    >>> request = decode(b'{"request": {"uid": "1", "kind": {"version": "v1", "kind": "Pod"}, "operation": "Retain"}}')
    >>> print(request.gvk, "-", request.problem)
    v1, Kind=Pod - request.object must be an object, but is missing
    """
    return request_of(parsed(body))


def parsed(body: bytes) -> JSON:
    """Return the JSON of a body. Raises RequestError, and MemoryError in a child process without memory."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if not body.strip():
            raise RequestError("the body is empty") from error
        if "depth" in error.msg and len(shorter := cut_items(body)) < len(body):
            return parsed(shorter)
        if "memory" not in error.msg:
            raise RequestError(f"the body is not JSON: {error}") from error
        if error.pos == 0:  # the memory of a child process
            raise MemoryError from error
        # orjson has room for all JSON of that length, but not for many lists that do not end.
        raise RequestError("the body is not JSON: its lists and objects do not end") from error


def request_of(context: JSON) -> Request:
    """Read the JSON of a request as `decode` reads its text. Raises RequestError."""
    if not isinstance(context, dict):
        raise RequestError(f"the body must be an object, but is {type_name(context)}")
    request = context.get("request")
    if not isinstance(request, dict):
        raise RequestError(f"request must be an object, but {_found(context, 'request')}")
    texts = _uid(request), _text(request, "namespace"), _text(request, "name"), _text(request, "operation")
    gvk = None
    try:
        for field, understood in (("apiVersion", API_VERSION), ("kind", KIND)):
            # Karmada's own framework checks neither. A given value has to be right: a later version would be misread.
            if context.get(field, understood) != understood:
                raise _problem(f'{field} must be "{understood}", but {_found(context, field)}')
        gvk = _gvk(request)
        return Request(texts[0], gvk, *texts[1:], call=call_of(request, gvk))
    except InterpretationError as problem:
        # Without its traceback: the frames have the body, and would keep it until garbage is collected.
        return Request(texts[0], gvk, *texts[1:], problem=InterpretationError(str(problem), code=problem.code))


def _uid(request: Object) -> str:
    uid = request.get("uid")
    if not isinstance(uid, str) or not 0 < len(uid) <= _MAX_LENGTH:
        raise RequestError(
            f"request.uid must be a string of 1 to {_MAX_LENGTH} characters, but {_found(request, 'uid')}"
        )
    return uid


def _gvk(request: Object) -> GVK:
    kind = request.get("kind")
    if not isinstance(kind, dict):
        raise _problem(f"request.kind must be an object, as {_KIND_TEXT}, but {_found(request, 'kind')}")
    gvk = GVK(*(kind.get(field, "") for field in GVK._fields))
    for field, text in gvk._asdict().items():
        if not isinstance(text, str) or len(text) > _MAX_LENGTH:
            raise _problem(f"request.kind.{field} must be a short string, but {_found(kind, field)}")
    if not gvk.version or not gvk.kind:
        raise _problem(f"request.kind must have a version and a kind, as {_KIND_TEXT}")
    return gvk


def call_of(request: Object, gvk: GVK) -> Call:
    """Read the question about an object of that kind. Raises InterpretationError."""
    operation = OPERATIONS.get(_text(request, "operation"))
    if operation is None:
        operations = ", ".join(OPERATIONS)
        raise _problem(f"request.operation {_found(request, 'operation')}; it must be one of {operations}")
    return call_about(_object(request, "object", gvk), operation, request, gvk)


def call_about(obj: Object, operation: Operation, request: Object, gvk: GVK, *, is_bounded: bool = False) -> Call:
    """Return the question about an object of that kind, with what the operation reads of the request in addition.

    Raises InterpretationError.
    """
    more = SLOTS[operation].more
    if more == "items":
        return Call(operation, obj, items=_items(request, is_bounded=is_bounded))
    return Call(operation, obj, **{more: _MORE[more](request, gvk)}) if more else Call(operation, obj)


def _object(request: Object, field: str, gvk: GVK) -> Object:
    obj = request.get(field)
    if not isinstance(obj, dict):
        raise _problem(f"request.{field} must be an object, but {_found(request, field)}")
    for name, expected in (("kind", gvk.kind), ("apiVersion", gvk.api_version)):
        if obj.get(name) != expected:
            message = f'request.{field}.{name} must be "{expected}" as in request.kind, but {_found(obj, name)}'
            raise _problem(message)
    return obj


def _replicas(request: Object) -> int:
    replicas = request.get("replicas")
    # Not `isinstance`: to Python, true is 1.
    if type(replicas) is not int or not 0 <= replicas <= MOST_REPLICAS:
        raise _problem(
            f"request.replicas must be an integer from 0 to {MOST_REPLICAS}, but {_found(request, 'replicas')}"
        )
    return replicas


def _items(request: Object, *, is_bounded: bool) -> tuple[StatusItem, ...]:
    items = [] if request.get("aggregatedStatus") is None else request["aggregatedStatus"]
    if not isinstance(items, list):
        raise _problem(f"request.aggregatedStatus must be a list, but is {type_name(items)}")
    read = tuple(
        [
            StatusItem.of(item, f"request.aggregatedStatus[{index}]", is_bounded=is_bounded)
            for index, item in enumerate(items)
        ]
    )
    # Karmada's own cases have items without one, but its requests do not.
    for index in (index for index, item in enumerate(read) if not item.cluster):
        raise _problem(f"request.aggregatedStatus[{index}] has no clusterName, the cluster that reports the status")
    return read


_MORE: Final[Mapping[str, Callable[[Object, GVK], Any]]] = {
    "replicas": lambda request, _: _replicas(request),
    "observed": lambda request, gvk: _object(request, "observedObject", gvk),
    "components": lambda request, _: TargetComponent.several(request.get("components"), "request.components"),
}
"""The readers of the request fields other than the object and the items, by the fields of a call."""


def _text(request: Object, field: str) -> str:
    return value[:_MAX_LENGTH] if isinstance(value := request.get(field), str) else ""


def _found(parent: Object, field: str) -> str:
    """Return a short text about the value that is there instead of the right one."""
    value = parent.get(field)
    shown = f'"{value[:64]}"' if isinstance(value, str) else value if type(value) is int else type_name(value)
    return f"is {shown}" if field in parent else "is missing"


def _problem(message: str) -> InterpretationError:
    return InterpretationError(message, code=400)
