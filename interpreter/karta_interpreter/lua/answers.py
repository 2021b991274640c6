"""One operation, answered by its scripts."""

from collections.abc import Callable, Sequence

from karta_interpreter.errors import LuaRunError
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.dependencies import united, verify
from karta_interpreter.lua.engine import Own, run
from karta_interpreter.lua.results import Returned, read_results
from karta_interpreter.lua.script import Script


def answer(
    scripts: Sequence[Script],
    *,
    object: Object,  # noqa: A002 - the name that Karmada and its scripts have for it
    observed: Object | None = None,
    replicas: int | None = None,
    items: Sequence[JSON] | None = None,
    own: Own | None = None,
    said: Callable[[str], None] | None = None,
) -> dict[str, JSON]:
    """The answer of the scripts of one operation, by Karmada's result names; requirements may be None.

    Retain needs ``observed`` and ReviseReplica ``replicas``; AggregateStatus takes ``items`` as Karmada writes them,
    None where an object has none yet: scripts then get nil.
    InterpretDependency runs every script, any other operation has one. ``own`` is what ``require("karta")`` offers,
    ``said`` gets what scripts print. Raises LuaError.
    """
    operation = scripts[0].operation
    arguments = _arguments(operation, object, observed, replicas, items)
    references = _references(operation, arguments)
    answers = []
    for script in scripts:
        found = _read(operation, run(script, arguments, own=own, said=said), references)
        if operation == "InterpretDependency":
            verify(found["dependencies"])
        answers.append(found)
    if operation == "InterpretDependency":
        return {"dependencies": united(one["dependencies"] for one in answers)}
    return answers[0]


def _arguments(
    operation: str, object_: Object, observed: Object | None, replicas: int | None, items: Sequence[JSON] | None
) -> tuple[JSON, ...]:
    if operation == "Retain":
        return object_, observed
    if operation == "ReviseReplica":
        return object_, replicas
    return (object_, items) if operation == "AggregateStatus" else (object_,)


def _references(operation: str, arguments: tuple[JSON, ...]) -> tuple[JSON, ...]:
    """The objects that tell which empty tables of the result are lists; Karmada gives them for two operations."""
    if operation == "Retain":
        return arguments
    return arguments[:1] if operation == "ReviseReplica" else ()


def _read(operation: str, returned: Returned, references: tuple[JSON, ...]) -> dict[str, JSON]:
    try:
        return read_results(operation, returned, references)
    except RecursionError as err:
        raise LuaRunError("the result is nested too deeply") from err
