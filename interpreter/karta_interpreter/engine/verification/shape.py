"""The shape of objects in a folder that anybody may have written: what every API server makes sure of."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, TypeAlias

from karta_interpreter.base.k8s import JSON, get

_Shape: TypeAlias = Any
"""A type, the fields of an object (``...`` for any field), a list of one shape, or what must be there in a tuple."""

_FIELDS: Final[dict[Any, _Shape]] = {}
_FIELDS[...] = (_FIELDS,)
_TEXTS: Final[_Shape] = {...: str}
_TIMES: Final = ("creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime")
_WRITER: Final[_Shape] = {"manager": (str,), "time": str, "fieldsV1": (_FIELDS,)}
_OWNER: Final[_Shape] = {"uid": str, "kind": str, "apiVersion": str, "controller": bool}
_METADATA: Final[_Shape] = {
    **dict.fromkeys(("name", "namespace", "uid", *_TIMES), str),
    "generation": int,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "ownerReferences": [_OWNER],
    "managedFields": [_WRITER],
}
_OBJECT: Final[_Shape] = {"apiVersion": (str,), "kind": (str,), "metadata": _METADATA, "spec": {}, "status": {}}
_STATES: Final[_Shape] = {...: {"reason": str, "exitCode": int}}
_CONTAINER: Final[_Shape] = {"name": str, "image": str, "resources": {"requests": {}, "limits": {}}}
_STATUS: Final[_Shape] = {"name": str, "state": _STATES, "lastState": _STATES}
_CONDITION: Final[_Shape] = {"type": str, "status": str, "lastTransitionTime": str}
_POD: Final[_Shape] = {
    "metadata": _METADATA,
    "spec": {"containers": [_CONTAINER], "initContainers": [_CONTAINER]},
    "status": {
        "phase": str,
        "conditions": [_CONDITION],
        "containerStatuses": [_STATUS],
        "initContainerStatuses": [_STATUS],
    },
}
_EVIDENCE: Final[_Shape] = {"object": (_OBJECT,), "pods": [_POD], "owners": [_OBJECT], "made": {...: bool}}


def check_evidence(value: JSON) -> None:
    """Raise ValueError, with the place, for what no API server gives."""
    pending: list[tuple[str, JSON, _Shape]] = [("workload", value, (_EVIDENCE,))]
    while pending:
        place, value, shape = pending.pop()
        if isinstance(shape, tuple):
            if value is None:
                raise ValueError(f"{place} is missing")
            (shape,) = shape
        is_object, is_list = isinstance(shape, dict), isinstance(shape, list)
        if value is not None and not isinstance(value, dict if is_object else list if is_list else shape):
            raise ValueError(f"{place} has another type than Kubernetes gives it")
        if isinstance(value, str) and place.endswith(_TIMES) and datetime.fromisoformat(value).tzinfo is None:
            raise ValueError(f"{place} has no time zone")
        if isinstance(shape, dict):
            fields: dict[Any, _Shape] = shape
            names: Iterable[str] = value or () if ... in fields else fields
            pending += [(f"{place}.{name}", get(value, (name,)), fields.get(name, fields.get(...))) for name in names]
        elif isinstance(shape, list):
            pending += [(f"{place}[{index}]", element, shape[0]) for index, element in enumerate(value or ())]
