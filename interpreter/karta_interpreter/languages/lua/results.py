"""The results of a script, checked and read as Karmada's Lua VM does (``luavm/lua.go``), operation by operation."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, final

from karta_interpreter.base.errors import LuaRunError, QuantityError
from karta_interpreter.base.k8s import (
    JSON,
    MOST_REPLICAS,
    Object,
)
from karta_interpreter.base.karmada import SLOTS, Results, by_operation
from karta_interpreter.languages.lua.empty_tables import restore_empty_tables
from karta_interpreter.languages.lua.gotypes.scalars import MismatchError
from karta_interpreter.languages.lua.gotypes.structs import rewrite
from karta_interpreter.languages.lua.script_dependencies import verify

Returned: TypeAlias = Sequence[JSON]
"""All results of a function. An empty table is ``[]`` or ``{}``, because Lua does not distinguish the two."""


@final
class NoJson:
    """A function of Lua, or a table that is not JSON, with the reason."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem


FUNCTION: Final = NoJson()
"""Any function."""

_LUA_TYPES = {type(None): "nil", bool: "boolean", str: "string", dict: "table", list: "table", NoJson: "table"}
# gopher-lua's `LValueType`, which Karmada prints as a number.
_LUA_TYPE_NUMBERS = {"nil": 0, "boolean": 1, "number": 2, "string": 3, "function": 4, "table": 7}
_SHOWN = 200


_MUST_RETURN: Final = by_operation(
    interpret_replica='a whole number, and then requirements or nil: `return 2, {resourceRequest = {cpu = "500m"}}`',
    interpret_component="a list: `return {{name = NAME, replicas = 2, replicaRequirements = REQUIREMENTS}}`",
    revise_replica="the changed object, whole: `return desiredObj`",
    revise_components="the changed object, whole: `return desiredObj`",
    retain="the changed object, whole: `return desiredObj`",
    aggregate_status="the changed object, whole: `desiredObj.status = STATUS`, and `return desiredObj`",
    interpret_status="the status, a table: `return {replicas = observedObj.status.replicas}`",
    interpret_health="true or false",
    interpret_dependency="a list: `return {{apiVersion = VERSION, kind = KIND, namespace = NAMESPACE, name = NAME}}`",
)


def read_results(operation: str, returned: Returned, references: Sequence[Object] = ()) -> Results:
    """Return the answer that the results of an operation's function mean, by Karmada's result names.

    ``references`` are the objects that show which empty tables of a changed object were lists. Raises LuaRunError in
    upstream's words, because users know the error by them. Its hint names the expected results.

    >>> read_results("InterpretReplica", (2.9, {"ResourceRequest": {"cpu": 0.5}}))
    {'replica': 2, 'requires': {'resourceRequest': {'cpu': '500m'}}}
    """
    try:
        return _READERS[operation](returned, references)
    except LuaRunError as err:
        err.hint = f"{must_return(operation)}{err.hint}"
        raise


def must_return(operation: str) -> str:
    """Return a sentence about the results that the function of an operation must return."""
    return f"{SLOTS[operation].function} must return {_MUST_RETURN[operation]}"


def dropped(value: JSON, read: JSON, path: str = "") -> list[str]:
    """Return the paths that Go leaves out of a value.

    >>> dropped({"requires": {"cpu": "1", "nodeClaim": {}}, "replica": 1.5}, {"requires": {}, "replica": 1})
    ['requires.cpu', 'the fraction of replica']
    """
    paths = list[str]()
    match value, read:
        # Karmada leaves nulls out of lists, so that their entries no longer pair up.
        case list(), list() if len(value) == len(read):
            for number, (entry, read_entry) in enumerate(zip(value, read, strict=True), start=1):
                paths += dropped(entry, read_entry, f"{path}[{number}]")
        case dict(), dict():
            fields = {name.lower(): field for name, field in read.items()}
            for name, field in value.items():
                if field and name.lower() in fields:
                    paths += dropped(field, fields[name.lower()], f"{path}.{name}")
                elif field:
                    paths.append(f"{path}.{name}"[1:])
        case float(), int() if value != read:
            paths.append(f"the fraction of {path[1:]}")
    return paths


def lua_type(value: JSON) -> str:
    """Return Lua's name for the type of a value.

    >>> lua_type([]), lua_type(2)
    ('table', 'number')
    """
    return "function" if value is FUNCTION else _LUA_TYPES.get(type(value), "number")


def read_table(go_type: str, table: JSON, read: Callable[[str, JSON], JSON] = rewrite) -> JSON:
    """Return the value that Go writes after reading a table as the type.

    ``read`` may be another function of `gotypes`. An empty table is the empty value. Raises LuaRunError if a table does
    not fit.
    """
    if not table:
        return [] if go_type.startswith("[]") else {}
    if isinstance(table, NoJson):
        raise LuaRunError(table.problem)
    try:
        return read(go_type, table)
    except MismatchError as err:
        raise LuaRunError(
            f"json unmarshal obj failed: {err}",
            hint='; a quantity is written as "512Mi" or "500m"' if isinstance(err.__cause__, QuantityError) else "",
        ) from err


def _replica(returned: Returned, _: Sequence[Object]) -> Results:
    replica, requires = _first(returned), returned[1] if len(returned) > 1 else None
    if lua_type(replica) != "number":
        raise _wrong_type(replica, "number")
    if not abs(replica) <= MOST_REPLICAS:  # NaN neither
        raise LuaRunError(f"GetReplicas returned {replica}, which is more than replicas can be: {MOST_REPLICAS}")
    if requires is None:
        return {"replica": int(replica), "requires": None}
    return {"replica": int(replica), "requires": read_table("ReplicaRequirements", _table(requires, "requires"))}


def _components(returned: Returned, _: Sequence[Object]) -> Results:
    components = _first(returned)
    if components is None:
        return {"components": None}
    if lua_type(components) != "table":
        raise LuaRunError(f"expected result type 'table' or 'nil' from GetComponents, but got '{lua_type(components)}'")
    try:
        return {"components": read_table("[]Component", components)}
    except LuaRunError as err:
        raise LuaRunError(f"failed to convert lua table for components: {err}", hint=err.hint) from err


def _changed(returned: Returned, references: Sequence[Object]) -> Object:
    table = _table(_first(returned), "requires")
    changed: Object = restore_empty_tables(table, references) if table else {}
    # Karmada's `Unstructured` rejects a list, and an object without a kind.
    if isinstance(changed, list):
        problem = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise LuaRunError(f"json unmarshal obj failed: {problem}")
    kind, version = changed.get("kind"), changed.get("apiVersion")
    # A version of several slashes hides the kind as well.
    if not isinstance(kind, str) or not kind or (isinstance(version, str) and version.count("/") > 1):
        shown = json.dumps(changed, ensure_ascii=False, separators=(",", ":"))
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        raise LuaRunError(f"json unmarshal obj failed: Object 'Kind' is missing in '{shown}'")
    return changed


def _status(returned: Returned, _: Sequence[Object]) -> Results:
    table = _table(_first(returned), "replica")
    return {"status": restore_empty_tables(table) if table else {}}


def _health(returned: Returned, _: Sequence[Object]) -> Results:
    healthy = _first(returned)
    if not isinstance(healthy, bool):
        raise _wrong_type(healthy, "bool")
    return {"healthy": healthy}


def _dependencies(returned: Returned, _: Sequence[Object]) -> Results:
    dependencies = read_table("[]DependentObjectReference", _table(_first(returned), "requires"))
    verify(dependencies)
    return {"dependencies": dependencies}


def _first(returned: Returned) -> JSON:
    return returned[0] if returned else None


def _table(value: JSON, noun: str) -> JSON:
    if lua_type(value) != "table":
        raise LuaRunError(f"expect the returned {noun} type is table but got {lua_type(value)}")
    return value


def _wrong_type(value: JSON, expected_type: str) -> LuaRunError:
    return LuaRunError(
        f"result type {_LUA_TYPE_NUMBERS[lua_type(value)]} is not {expected_type}, but {lua_type(value)}"
    )


_READERS: Final[Mapping[str, Callable[[Returned, Sequence[Object]], Results]]] = by_operation(
    interpret_replica=_replica,
    interpret_component=_components,
    revise_replica=lambda returned, like: {"revised": _changed(returned, like)},
    revise_components=lambda returned, like: {"revised": _changed(returned, like)},
    retain=lambda returned, like: {"retained": _changed(returned, like)},
    aggregate_status=lambda returned, like: {"aggregatedStatus": _changed(returned, like)},
    interpret_status=_status,
    interpret_health=_health,
    interpret_dependency=_dependencies,
)
