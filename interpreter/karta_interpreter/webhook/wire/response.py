"""The response half of a ``ResourceInterpreterContext``, from results to bytes.

Karmada reads other fields for each operation and rejects a whole answer over one wrong type
(``pkg/resourceinterpreter/customized/webhook/request/resourceinterpretercontext.go``). An answer that it would reject
is an `InterpretationError` here, so that users read the reason instead of a decoder's complaint.

All keys are sorted, as Go's ``encoding/json`` sorts the keys of a map: Karmada stores the bytes of ``rawStatus`` in a
Work and compares them with the API server's bytes. With another order each reflection of a status would update it.
"""

import base64
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, MOST_REPLICAS, NOTHING, NewObject, Object, diff, type_name
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.engine.operations import (
    DEFAULT_OPTIONS,
    Call,
    Operation,
    Options,
    Results,
    by_operation,
    unread_reports,
)
from karta_interpreter.webhook.wire.request import KIND, Request

_UNDIVIDED = (
    "Karmada has given the cluster no replicas: the workload is new to its scheduler, or finds no room. What runs "
    "there stays. With --empty-workload-propagation 0 is taken as the choice of the scheduler"
)
_CONTEXT = {"apiVersion": API_VERSION, "kind": KIND}
# The names of results precede those of the other fields in the alphabet.
_SUCCESS = (
    f'{{"apiVersion":"{API_VERSION}","kind":"{KIND}","response":{{%b"status":{{"code":200%b}},"successful":true,"uid":%b}}}}'
).encode()
_OK = b'"status":{"code":200'
# The limit for a component in the CRD of ResourceBinding. Its webhook also refuses names that are not unique.
_MAX_NAME_LENGTH = 32
_MAX_MESSAGE_LENGTH = 4096
# Karmada stores the requirements of replicas in a ResourceBinding, and etcd takes 1.5 MiB.
_MAX_SHARED_LENGTH = 2**20


def encode_results(request: Request, results: Results, options: Options = DEFAULT_OPTIONS) -> bytes:
    """Return the body that answers a request with a call. Equal inputs give equal bytes.

    Raises InterpretationError for results that Karmada would reject, and for those that end all pods of a workload
    that has not been divided yet.
    """
    call = request.call
    if call is None:
        raise ValueError("a request without a call has no results")
    answer = _FIELDS[call.operation](call, results)
    is_emptied = answer and call.operation is Operation.REVISE_REPLICA and call.replicas == 0
    if is_emptied and not options.empty_workload_propagation:
        raise InterpretationError(_UNDIVIDED)
    fields = _json(answer, "answer")[1:-1]
    separator = b"," if fields else b""
    remark = b',"message":' + orjson.dumps(_shown("; ".join(unread_reports(results)))) if "unread" in results else b""
    return _SUCCESS % (fields + separator, remark, orjson.dumps(request.uid))


def remark_of(body: bytes) -> str:
    """Return the message of the body of a successful answer, "" without one.

    >>> remark_of(b'{"response":{"status":{"code":200},"successful":true,"uid":"1"}}')
    ''
    """
    start = body.rfind(_OK)
    if body[start + len(_OK) : start + len(_OK) + 1] != b",":
        return ""
    message: str = orjson.loads(b"{" + body[start:-2] + b"}")["status"]["message"]
    return message


def encode_failure(uid: str, code: int, message: str) -> bytes:
    """Return the body with the reason why a request was not answered.

    >>> encode_failure("1", 404, "no definition")
    b'{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","response":{"status":\
{"code":404,"message":"no definition"},"successful":false,"uid":"1"}}'
    """
    response = {"uid": uid, "successful": False, "status": {"code": code, "message": _shown(message)}}
    return _json({**_CONTEXT, "response": response}, "answer")


def _shown(message: str) -> str:
    # A definition may contain half a surrogate pair, which has no UTF-8 form.
    text = message.encode(errors="replace").decode()
    return text if len(text) <= _MAX_MESSAGE_LENGTH else text[: _MAX_MESSAGE_LENGTH - 1] + "…"


def _json(value: JSON, what: str) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise InterpretationError(f"the {what} cannot be written as JSON: {error}") from error


def _replica(_: Call, results: Results) -> NewObject:
    fields: NewObject = {"replicas": _count(results["replica"], "replicas")}
    if (requirements := results["requires"]) is not None:
        _check_length(_shared(requirements))
        fields["replicaRequirements"] = requirements
    return fields


def _components(_: Call, results: Results) -> NewObject:
    components = results["components"]
    if components is None:
        return {}
    names = [component["name"] for component in components]
    if len(set(names)) < len(names):
        raise InterpretationError(f"component names must be unique, but are {', '.join(names)}")
    for component in components:
        name = component["name"]
        if not 0 < len(name) <= _MAX_NAME_LENGTH:
            raise InterpretationError(f'component name "{name}" must have 1 to {_MAX_NAME_LENGTH} characters')
        _count(component["replicas"], f"replicas of component {name}")
    _check_length([shared for component in components for shared in _shared(component.get("replicaRequirements"))])
    return {"components": components}


def _aggregated(call: Call, results: Results) -> NewObject:
    """Return a patch of the status alone: Karmada writes it through the subresource, which takes nothing else."""
    before, after = (obj.get("status", NOTHING) for obj in (call.object, results["aggregatedStatus"]))
    if after is before:
        return {}
    if after is NOTHING:
        return _patch([{"op": "remove", "path": "/status"}])
    # Karmada sends the whole status anyway, and finding its changes takes longer than writing it.
    return _patch([{"op": "add" if before is NOTHING else "replace", "path": "/status", "value": after}])


def _of_type(expected: type, value: JSON, rule: str) -> JSON:
    if not isinstance(value, expected):
        raise InterpretationError(f"{rule}, but is {type_name(value)}")
    return value


def _dependencies(_: Call, results: Results) -> NewObject:
    dependencies = results["dependencies"]
    _check_length([dependency.get("name") for dependency in dependencies])
    for dependency in dependencies:
        # pkg/util/interpreter/validation/validation.go
        named = dependency.get("name") or dependency.get("labelSelector") is not None
        if not (named and dependency.get("apiVersion") and dependency.get("kind")):
            shown = _json(dict(dependency), "dependency").decode()
            raise InterpretationError(f"a dependency needs an apiVersion, a kind and a name: {shown}")
    return {"dependencies": dependencies}


_FIELDS: Final[Mapping[str, Callable[[Call, Results], NewObject]]] = by_operation(
    interpret_replica=_replica,
    interpret_component=_components,
    revise_replica=lambda call, results: _patch(diff(call.object, results["revised"])),
    revise_components=lambda call, results: _patch(diff(call.object, results["revised"])),
    retain=lambda call, results: _patch(diff(call.object, results["retained"])),
    aggregate_status=_aggregated,
    # Karmada would take a list, but the Work that stores it would not.
    interpret_status=lambda _, results: {
        "rawStatus": _of_type(dict, results["status"], "the status must be an object")
    },
    interpret_health=lambda _, results: {"healthy": _of_type(bool, results["healthy"], "health must be true or false")},
    interpret_dependency=_dependencies,
)


def _patch(steps: list[NewObject]) -> NewObject:
    text = base64.b64encode(_json(steps, "patch")).decode("ascii")
    return {"patch": text, "patchType": "JSONPatch"} if steps else {}


def _shared(requirements: Object | None) -> list[JSON]:
    """Return the parts that a definition can take from anywhere in an object, as often as it likes."""
    fields = requirements or {}
    return [fields[name] for name in ("nodeClaim", "priorityClassName") if name in fields]


def _check_length(values: list[JSON]) -> None:
    """Refuse parts that are too long together.

    They may be one value that takes no memory until it is written: a thousand times the body of the request.
    """
    budget, pending = _MAX_SHARED_LENGTH, values
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            budget -= len(value)
        elif isinstance(value, dict):
            budget -= sum(map(len, value))
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        budget -= 1
        if budget < 0:
            raise InterpretationError(
                f"the answer has more than {_MAX_SHARED_LENGTH} characters of node claims or names"
            )


def _count(number: JSON, what: str) -> int:
    # An int32 in Go. In Python, true is 1.
    if type(number) is not int or not 0 <= number <= MOST_REPLICAS:
        raise InterpretationError(f"{what} must be an integer from 0 to {MOST_REPLICAS}, but is {number}")
    return number


_REASONS = {408: "Timeout", 413: "RequestEntityTooLarge", 500: "InternalError"}
"""Kubernetes reasons that differ from the HTTP phrases."""


def encode_status(status: int, message: str) -> bytes:
    """Return the body of an HTTP error. Karmada shows its message instead of a canned text.

    >>> encode_status(404, "no such path")
    b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no such path","reason":"NotFound","code":404}'
    """  # noqa: E501 - a body is one line
    reason = _REASONS.get(status) or HTTPStatus(status).phrase.replace(" ", "")
    answer = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return orjson.dumps(answer | {"message": message, "reason": reason, "code": status})
