"""What an API server answers, read from its bytes."""

import orjson

from karta_interpreter.k8s.values import Object
from karta_interpreter.sources.api_errors import Request, expired, unreadable


def read_object(request: Request, content: bytes) -> Object:
    """The JSON object that answers a request; raises ClusterError for anything else."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise unreadable(request, "the answer is not JSON") from error
    if not isinstance(value, dict):
        raise unreadable(request, "the answer is not a JSON object")
    return value


def read_event(request: Request, line: bytes) -> tuple[str, Object]:
    """Type and object of one line of a watch; raises ClusterError for an event of type ERROR, with its code."""
    event = read_object(request, line)
    kind, obj = event.get("type"), event.get("object")
    if not isinstance(kind, str) or not isinstance(obj, dict):
        raise unreadable(request, "a watch event has no type or no object")
    if kind == "ERROR":
        raise expired(request, obj)
    return kind, obj
