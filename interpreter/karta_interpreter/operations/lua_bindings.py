"""What a script may ask the Karta it stands before: the functions of ``require("karta")``.

==========================================  =============================================
Function                                    Results
==========================================  =============================================
``getReplicas(object)``                     the number of pods, what each of them needs
``getComponents(object)``                   the components
``reviseReplica(object, replicas)``         the object with that number of pods
``retain(desired, observed)``               the desired object with what is the member's
``aggregateStatus(object, items)``          the object with the status of all clusters
``interpretHealth(object)``                 whether it is healthy
``reflectStatus(object)``                   its status as Karmada keeps it
``getDependencies(object)``                 what it needs beside it
==========================================  =============================================
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from karta_interpreter.errors import InterpretationError, LuaRunError
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition
from karta_interpreter.lua.empty_tables import mend_empties
from karta_interpreter.operations.call import Call, Operation, Options, StatusItem
from karta_interpreter.operations.dispatch import own_answer


class _Function(NamedTuple):
    """``arguments`` are fields of a call, ``results`` names of an answer."""

    operation: Operation
    arguments: tuple[str, ...]
    results: tuple[str, ...]


_FUNCTIONS: Final = {
    "getReplicas": _Function(Operation.INTERPRET_REPLICA, ("object",), ("replica", "requires")),
    "getComponents": _Function(Operation.INTERPRET_COMPONENT, ("object",), ("components",)),
    "reviseReplica": _Function(Operation.REVISE_REPLICA, ("object", "replicas"), ("revised",)),
    "retain": _Function(Operation.RETAIN, ("object", "observed"), ("retained",)),
    "aggregateStatus": _Function(Operation.AGGREGATE_STATUS, ("object", "items"), ("aggregatedStatus",)),
    "interpretHealth": _Function(Operation.INTERPRET_HEALTH, ("object",), ("healthy",)),
    "reflectStatus": _Function(Operation.INTERPRET_STATUS, ("object",), ("status",)),
    "getDependencies": _Function(Operation.INTERPRET_DEPENDENCY, ("object",), ("dependencies",)),
}


Functions: TypeAlias = Mapping[str, Callable[..., tuple[JSON, ...]]]


def own_functions(definition: Definition, call: Call, options: Options) -> Functions:
    """Return the functions by name for the script that answers a call; they raise LuaRunError."""
    return {name: partial(_ask, definition, call, options, name) for name in _FUNCTIONS}


def _ask(definition: Definition, call: Call, options: Options, name: str, *arguments: JSON) -> tuple[JSON, ...]:
    if not definition.has_karta:
        raise LuaRunError(f"karta.{name} has no answer: there is no Karta for {definition.gvk}")
    function = _FUNCTIONS[name]
    given = zip_longest(function.arguments, arguments[: len(function.arguments)])
    fields = {
        field: _READERS[field](value, f"#{position} to {name}", call)
        for position, (field, value) in enumerate(given, start=1)
    }
    try:
        results = own_answer(definition, Call(function.operation, **fields), options)
    except InterpretationError as error:
        raise LuaRunError(str(error)) from error
    return tuple(results[result] for result in function.results)


def _object(value: JSON, place: str, call: Call) -> Object:
    """Read an object; its empty tables are what was empty at the same place of those that the script was given."""
    if value == []:  # an empty table
        return {}
    if isinstance(value, list):
        raise LuaRunError(f"bad argument {place} (object expected, got list)")
    if not isinstance(value, dict):
        raise _wrong(place, "table", value)
    given = [each for each in (call.object, call.observed) if each is not None]
    mended: Object = value if any(value is each for each in given) else mend_empties(value, given)
    return mended


def _replicas(value: JSON, place: str, _: Call) -> int:
    if type(value) is not int:
        raise _wrong(place, "integer", value)
    return value


def _items(value: JSON, place: str, _: Call) -> tuple[StatusItem, ...]:
    if value is None:  # what Karmada gives to scripts when there are none
        return ()
    if not isinstance(value, list):
        raise _wrong(place, "table", value)
    try:
        return tuple(StatusItem.of(item, f"item {index}") for index, item in enumerate(value, start=1))
    except InterpretationError as error:
        raise LuaRunError(f"bad argument {place}: {error}") from error


_READERS: Final[Mapping[str, Callable[[JSON, str, Call], JSON]]] = {
    "object": _object,
    "observed": _object,
    "replicas": _replicas,
    "items": _items,
}
_TYPES: Final = {type(None): "nil", bool: "boolean", str: "string", dict: "table", list: "table"}


def _wrong(place: str, expected: str, value: JSON) -> LuaRunError:
    """Return the error in the words of Lua's own library."""
    found = _TYPES.get(type(value), "number")
    return LuaRunError(f"bad argument {place} ({expected} expected, got {found})")
