"""The functions of ``require("kube")``, with the same results and errors as Karmada's (``luavm/kube.go``)."""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from operator import add
from typing import Final

from karta_interpreter.base.errors import LuaRunError, QuantityError
from karta_interpreter.base.k8s import (
    JSON,
    Counting,
    Object,
    Quantity,
    pod_dependencies,
    pod_requirements,
)
from karta_interpreter.languages.lua.empty_tables import without_nulls
from karta_interpreter.languages.lua.go_numbers import number_text
from karta_interpreter.languages.lua.gotypes.scalars import approximate, read_quantity
from karta_interpreter.languages.lua.gotypes.structs import decode, encode
from karta_interpreter.languages.lua.results import lua_type, read_table

# Messages are Karmada's, to the letter: they name `getPodRequirements` for `accuratePodRequirements`.
_ZERO = Quantity(0)
_KINDS = ("ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim")  # in Karmada's order


def _resource_add(*arguments: JSON) -> str:
    """Return the sum of quantities, written the way the first one that is not zero was."""
    quantities = [_quantity("resourceAdd", position, value) for position, value in enumerate(arguments, 1)]
    return str(reduce(add, quantities, _ZERO))


def _accurate_pod_requirements(*arguments: JSON) -> JSON:
    """Return the requests of one replica of a pod template, or None if it requests nothing."""
    if len(arguments) != 1:
        raise LuaRunError("getPodRequirements only accepts one argument")
    template = _template(_table("accuratePodRequirements", arguments[0]), "PodTemplateSpec")
    requirements = pod_requirements(template, Counting.KARMADA).to_json()
    if not requirements:
        return None
    claim = requirements.get("nodeClaim")
    if claim is not None:
        claim = encode("NodeClaim", claim)
        # Of these types only a NodeSelector has fields that Go writes as null, and Lua has no null.
        requirements["nodeClaim"] = without_nulls(claim) if "hardNodeAffinity" in claim else claim
    return requirements


def _get_pod_dependencies(*arguments: JSON) -> JSON:
    """Return the dependencies of the pods of a template, or None if they have none. Karmada has names in any order."""
    if len(arguments) != 2:  # noqa: PLR2004 - the message has it
        raise LuaRunError("getPodDependencies only accepts two argument")
    table = _table("getPodDependencies", arguments[0])
    namespace = "default" if arguments[1] is None else arguments[1]
    if not isinstance(namespace, str):
        if lua_type(namespace) != "number":
            raise _bad_argument("getPodDependencies", 2, "string", namespace)
        namespace = number_text(namespace)
    template = _template(table, "corev1.PodTemplateSpec")
    spec = {field: value for field, value in template.get("spec", {}).items() if field != "serviceAccount"}  # not read
    needed = sorted(
        pod_dependencies({"spec": spec}, namespace),
        key=lambda reference: (_KINDS.index(reference.kind), reference.name),
    )
    return [dependency.to_json() for dependency in needed] or None


def _get_resource_quantity(*arguments: JSON) -> float:
    if len(arguments) != 1:
        raise LuaRunError("getResourceQuantity only accepts one argument")
    _quantity("getResourceQuantity", 1, arguments[0])
    amount = approximate(arguments[0] or "0")
    if amount < 0:
        raise LuaRunError(f"int approximation unexpectedly returned a negative value: {arguments[0]}")
    if math.isinf(amount):
        raise LuaRunError(f"int approximation unexpectedly returned an infinite value: {arguments[0]}")
    return amount


def _table(function: str, value: JSON) -> JSON:
    if lua_type(value) != "table":
        raise _bad_argument(function, 1, "table", value)
    return value


def _template(table: JSON, go_type: str) -> Object:
    try:
        template: Object = read_table("PodTemplateSpec", table, decode)
    except LuaRunError as err:
        raise LuaRunError(f"fail to convert lua value to {go_type}: {err}") from err
    return template


def _quantity(function: str, position: int, value: JSON) -> Quantity:
    if value is None:
        return _ZERO
    if not isinstance(value, str):
        raise _bad_argument(function, position, "string", value)
    try:
        return read_quantity(value)
    except QuantityError as err:
        raise LuaRunError(f"cannot parse '{value}': {err}") from err


def _bad_argument(function: str, position: int, expected: str, value: JSON) -> LuaRunError:
    return LuaRunError(f"bad argument #{position} to {function} ({expected} expected, got {lua_type(value)})")


KUBE: Final[Mapping[str, Callable[..., JSON]]] = {
    "resourceAdd": _resource_add,
    "accuratePodRequirements": _accurate_pod_requirements,
    "getPodDependencies": _get_pod_dependencies,
    "getResourceQuantity": _get_resource_quantity,
}
"""By the name that scripts call. Arguments and results are JSON with None for nil."""
