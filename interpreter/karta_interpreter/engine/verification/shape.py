"""The shape of objects in a folder that anybody may have written: what every API server makes sure of."""

from typing import Any, Final

from karta_interpreter.base.k8s.shape import TIMES, Shape

_FIELDS: Final[dict[Any, Shape]] = {}
_FIELDS[...] = (_FIELDS,)
_TEXTS: Final[Shape] = {...: str}
_WRITER: Final[Shape] = {"manager": (str,), "time": str, "fieldsV1": (_FIELDS,)}
_OWNER: Final[Shape] = {"uid": str, "kind": str, "apiVersion": str, "controller": bool}
_METADATA: Final[Shape] = {
    **dict.fromkeys(("name", "namespace", "uid", *TIMES), str),
    "generation": int,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "ownerReferences": [_OWNER],
    "managedFields": [_WRITER],
}
_OBJECT: Final[Shape] = {"apiVersion": (str,), "kind": (str,), "metadata": _METADATA, "spec": {}, "status": {}}
_STATES: Final[Shape] = {...: {"reason": str, "exitCode": int}}
_CONTAINER: Final[Shape] = {"name": str, "image": str, "resources": {"requests": {}, "limits": {}}}
_STATUS: Final[Shape] = {"name": str, "state": _STATES, "lastState": _STATES}
_CONDITION: Final[Shape] = {"type": str, "status": str, "lastTransitionTime": str}
_POD: Final[Shape] = {
    "metadata": _METADATA,
    "spec": {"containers": [_CONTAINER], "initContainers": [_CONTAINER]},
    "status": {
        "phase": str,
        "conditions": [_CONDITION],
        "containerStatuses": [_STATUS],
        "initContainerStatuses": [_STATUS],
    },
}
EVIDENCE: Final[Shape] = {"object": (_OBJECT,), "pods": [_POD], "owners": [_OBJECT], "made": {...: bool}}
