"""The functions of ``require("karta")``, by which a script asks the Karta that it overrides."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Final

import orjson
from orjson import Fragment

from karta_interpreter.errors import InterpretationError, LuaRunError
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition
from karta_interpreter.lua.empty_tables import restore_empty_tables
from karta_interpreter.lua.operation import OWN_FUNCTIONS, SLOTS, Operation
from karta_interpreter.lua.results import lua_type
from karta_interpreter.lua.script import Own
from karta_interpreter.operations.call import Call, Options, StatusItem
from karta_interpreter.operations.dispatch import own_answer

_ARGUMENTS: Final[Mapping[Operation, tuple[str, ...]]] = {
    Operation.REVISE_REPLICA: ("object", "replicas"),
    Operation.RETAIN: ("object", "observed"),
    Operation.AGGREGATE_STATUS: ("object", "items"),
}
"""The arguments of functions, as fields of a call; those of other operations only take the object."""


def own_functions(definition: Definition, call: Call, options: Options) -> Own:
    """Return the functions by name for the script that answers a call; they raise LuaRunError."""
    return {name: partial(_ask, definition, call, options, name) for name in OWN_FUNCTIONS}


def _ask(definition: Definition, call: Call, options: Options, name: str, *arguments: JSON) -> tuple[JSON, ...]:
    if not definition.has_karta:
        raise LuaRunError(f"karta.{name} has no answer: there is no Karta for {definition.gvk}")
    operation = OWN_FUNCTIONS[name]
    names = _ARGUMENTS.get(operation, ("object",))
    fields = {
        field: _READERS[field](value, f"#{position} to {name}", call)
        for position, (field, value) in enumerate(zip_longest(names, arguments[: len(names)]), start=1)
    }
    try:
        answer: Mapping[str, JSON] = own_answer(definition, Call(operation, **fields), options)
    except InterpretationError as error:
        raise LuaRunError(str(error)) from error
    return tuple(answer[result] for result in SLOTS[operation].results)


def _object(value: JSON, place: str, call: Call) -> Object:
    """Read an object; its empty tables are what was empty at the same place of those that the script was given."""
    if value == []:  # an empty table
        return {}
    if isinstance(value, list):
        raise LuaRunError(f"bad argument {place} (object expected, got list)")
    _check(value, dict, "table", place)
    # Lua has one empty table for {} and [], and what comes from the child process has lists for both.
    given = [_decoded(each) for each in (call.object, call.observed) if each is not None]
    restored: Object = restore_empty_tables(value, given)
    return restored


def _decoded(given: Object | Fragment) -> Object:
    return orjson.loads(orjson.dumps(given)) if isinstance(given, Fragment) else given


def _replicas(value: JSON, place: str, _: Call) -> int:
    _check(value, int, "integer", place)
    count: int = value
    return count


def _items(value: JSON, place: str, _: Call) -> tuple[StatusItem, ...]:
    items = [] if value is None else value  # what Karmada gives to scripts when there are none
    _check(items, list, "table", place)
    try:
        return tuple(StatusItem.of(item, f"item {index}") for index, item in enumerate(items, start=1))
    except InterpretationError as error:
        raise LuaRunError(f"bad argument {place}: {error}") from error


_READERS: Final[Mapping[str, Callable[[JSON, str, Call], JSON]]] = {
    "object": _object,
    "observed": _object,
    "replicas": _replicas,
    "items": _items,
}


def _check(value: JSON, kind: type, expected: str, place: str) -> None:
    """Raise the error of Lua's own library for a value of another type."""
    if type(value) is not kind:
        raise LuaRunError(f"bad argument {place} ({expected} expected, got {lua_type(value)})")
