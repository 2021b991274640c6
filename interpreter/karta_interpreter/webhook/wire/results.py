"""The results in a response: the reverse of `response`."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

import orjson

from karta_interpreter.base.errors import InterpretationError, RecordingError
from karta_interpreter.base.k8s import patched
from karta_interpreter.base.k8s.shape import Shape, check_shape
from karta_interpreter.engine.operations import Call, Results, by_operation

_Response: TypeAlias = Mapping[str, Any]
_MALFORMED: Final = (AttributeError, InterpretationError, LookupError, TypeError, ValueError)


_REQUIREMENTS: Final[Shape] = {"resourceRequest": {}, "nodeClaim": {}, "namespace": str, "priorityClassName": str}
_SHAPE: Final[Shape] = {
    "replicas": int,
    "replicaRequirements": _REQUIREMENTS,
    "rawStatus": {},
    "healthy": bool,
    "patch": str,
    "components": [{"name": (str,), "replicas": (int,), "replicaRequirements": _REQUIREMENTS}],
    "dependencies": [{"apiVersion": (str,), "kind": (str,), "namespace": str, "name": str}],
}


def results_of(call: Call, response: _Response) -> Results:
    """Return the results in the response to a successful call. Raises RecordingError if there are none."""
    try:
        check_shape("response", response, _SHAPE)
        return _RESULTS[call.operation](call, response)
    except _MALFORMED as error:
        raise RecordingError(f"an answer to {call.operation} cannot be read") from error


def _patched(name: str) -> Callable[[Call, _Response], Results]:
    def read(call: Call, response: _Response) -> Results:
        steps = orjson.loads(base64.b64decode(response["patch"])) if response.get("patch") else []
        changed = patched(call.object, steps)
        orjson.dumps(changed)  # another server may nest deeper than anything here reads
        return cast("Results", {name: changed})

    return read


_RESULTS: Final[Mapping[str, Callable[[Call, _Response], Results]]] = by_operation(
    interpret_replica=lambda _, response: {
        "replica": response["replicas"],
        "requires": response.get("replicaRequirements"),
    },
    interpret_component=lambda _, response: {"components": response.get("components")},
    revise_replica=_patched("revised"),
    revise_components=_patched("revised"),
    retain=_patched("retained"),
    aggregate_status=_patched("aggregatedStatus"),
    interpret_status=lambda _, response: {"status": {**response["rawStatus"]}},
    interpret_health=lambda _, response: {"healthy": response["healthy"]},
    interpret_dependency=lambda _, response: {"dependencies": [*response["dependencies"]]},
)
