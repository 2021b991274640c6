"""What Karmada does with an answer, written a second time: its decoder, its checks and its patching.

After ``customized.go``, ``request/resourceinterpretercontext.go`` and ``validation/validation.go``; nothing here
comes from the package that is tested.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Any

import jsonpatch

QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
PATCHING = {"ReviseReplica", "ReviseComponents", "Retain", "AggregateStatus"}


class RejectedError(Exception):
    """Karmada would not take the answer."""


def receive(body: bytes, *, uid: str, operation: str, obj: Any = None) -> Any:
    """Return what Karmada goes on with: the patched object for a patching operation, else the answer's fields."""
    response = envelope(body)
    check(response.get("uid") == uid, f"expected response.uid {uid!r}, got {response.get('uid')!r}")
    if not boolean(response.get("successful", False), "successful"):
        check(isinstance(response.get("status"), dict), "require response.status when successful is false")
        status = response["status"]
        raise RejectedError(f"webhook call failed, get status code: {status['code']}, msg: {status['message']}")
    fields = READERS[operation](response)
    return patched(obj, fields) if operation in PATCHING else fields


def envelope(body: bytes) -> dict[str, Any]:
    check(bool(body), "0-length response")
    context = json.loads(body)
    for field, value in (("apiVersion", "config.karmada.io/v1alpha1"), ("kind", "ResourceInterpreterContext")):
        check(context.get(field, value) == value, f"conversion of {field}")
    check(isinstance(context.get("response"), dict), "webhook response was absent")
    return dict(context["response"])


def read_replica(response: dict[str, Any]) -> Any:
    int32(response.get("replicas"), "replicas")
    requirements(response.get("replicaRequirements"), {"namespace"})
    return response["replicas"], response.get("replicaRequirements")


def read_components(response: dict[str, Any]) -> Any:
    names = set()
    for component in response.get("components") or []:
        text(component["name"], "name")
        check(0 < len(component["name"]) <= 32, "maxLength of the ResourceBinding's CRD")
        check(component["name"] not in names, "validating.go of ResourceBinding: duplicate name")
        names.add(component["name"])
        int32(component["replicas"], "replicas")
        requirements(component.get("replicaRequirements"), set())
        check(set(component) <= {"name", "replicas", "replicaRequirements"}, f"unknown field in {component}")
    return response.get("components")


def read_dependencies(response: dict[str, Any]) -> Any:
    for dependency in response.get("dependencies") or []:
        for field in ("apiVersion", "kind", "namespace", "name"):
            text(dependency.get(field, ""), field)
        check(bool(dependency.get("apiVersion") and dependency.get("kind")), "dependency missing kind")
        named = dependency.get("name") or dependency.get("labelSelector") is not None
        check(bool(named), "dependency can not leave name and labelSelector all empty")
    return response.get("dependencies")


def read_patch(response: dict[str, Any]) -> Any:
    patch: Any = response.get("patch")
    patch_type = response.get("patchType")
    if patch is None and patch_type is None:
        return []
    check(bool(patch), "webhook returned empty response.patch")
    check(patch_type == "JSONPatch", "webhook returned nil response.patchType")
    try:
        return json.loads(base64.b64decode(patch, validate=True))
    except binascii.Error as error:
        raise RejectedError("illegal base64 data") from error


def read_status(response: dict[str, Any]) -> Any:
    check(isinstance(response.get("rawStatus"), dict), "nil rawStatus, or no object for the Work's CRD")
    return response["rawStatus"]


def read_health(response: dict[str, Any]) -> Any:
    return boolean(response.get("healthy"), "healthy")


READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "InterpretReplica": read_replica,
    "InterpretComponent": read_components,
    "ReviseReplica": read_patch,
    "ReviseComponents": read_patch,
    "Retain": read_patch,
    "AggregateStatus": read_patch,
    "InterpretStatus": read_status,
    "InterpretHealth": read_health,
    "InterpretDependency": read_dependencies,
}


def requirements(value: Any, extra: set[str]) -> None:
    if value is None:
        return
    known = {"nodeClaim", "resourceRequest", "priorityClassName"} | extra
    check(set(value) <= known, f"unknown field in {value}")
    for name, quantity in (value.get("resourceRequest") or {}).items():
        check(bool(QUANTITY.fullmatch(str(quantity))), f"quantity of {name} must match the regular expression")
    claim = value.get("nodeClaim") or {}
    check(set(claim) <= {"hardNodeAffinity", "nodeSelector", "tolerations"}, f"unknown field in {claim}")
    for label in (claim.get("nodeSelector") or {}).values():
        text(label, "nodeSelector")


def patched(obj: Any, patch: Any) -> Any:
    """Apply a patch; another library than the one that made it, and as strict as Karmada's."""
    try:
        result = jsonpatch.JsonPatch(patch).apply(obj)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        raise RejectedError(f"operation does not apply: {error}") from error
    check(bool(result.get("kind")), "Object 'Kind' is missing")
    return result


def int32(value: Any, field: str) -> None:
    check(type(value) is int and -(2**31) <= value < 2**31, f"cannot unmarshal {field} of type int32")


def text(value: Any, field: str) -> None:
    check(isinstance(value, str), f"cannot unmarshal {field} of type string")


def boolean(value: Any, field: str) -> bool:
    check(isinstance(value, bool), f"cannot unmarshal {field} of type bool")
    return bool(value)


def check(holds: bool, complaint: str) -> None:
    if not holds:
        raise RejectedError(complaint)
