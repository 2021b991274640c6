"""Evaluates an expression of a definition on an object. Errors name the definition, component, field and reason."""

from collections import Counter

from karta_interpreter.base.errors import InterpretationError, QueryError, QueryRaisedError
from karta_interpreter.base.k8s import JSON, Object, type_name
from karta_interpreter.definitions.karta import ComponentRules, ids_meant
from karta_interpreter.languages.jq import Query, quoted


def evaluate(component: ComponentRules, field: str, query: Query, obj: Object) -> list[JSON]:
    """Return the outputs of an expression for the object. Errors name definition, component, field and reason."""
    try:
        return query.evaluate(obj)
    except QueryError as err:
        if query.place:
            raise
        raise query_failure(component, field, query, err) from err


def query_failure(component: ComponentRules, field: str, query: Query, err: QueryError) -> InterpretationError:
    """Return the error of a failed expression. It names the expression once, but not before its author's own words."""
    if isinstance(err, QueryRaisedError):
        return InterpretationError(f"{component}, {field}: {err}")
    return failure(component, field, query, str(err).removeprefix(f"{quoted(query.text)}: "))


def failure(component: ComponentRules, field: str, query: Query, reason: str) -> InterpretationError:
    """Return the error of a component's expression that gives no usable answer."""
    return InterpretationError(f"{component}, {field} `{quoted(query.text)}`: {reason}")


def mistyped(component: ComponentRules, field: str, query: Query, value: JSON, expected: str) -> InterpretationError:
    """Return the error of an expression with a result of a wrong type."""
    return failure(component, field, query, f"gives {type_name(value)} where {expected} belongs")


def aligned(
    component: ComponentRules, field: str, query: Query, obj: Object, ids: tuple[str, ...], *, may_lack: bool = False
) -> list[JSON]:
    """Return the outputs of an expression, one per instance, or with ``may_lack`` null for each if there is no output.

    Karta pairs results with instance ids only by position, so any other number of results is an error.
    """
    results = evaluate(component, field, query, obj)
    if len(results) == len(ids):
        return results
    if may_lack and not results:
        return [None] * len(ids)
    number = "1 result" if len(results) == 1 else f"{len(results)} results"
    reason = (
        f"gives {number}, but a component without instanceIdPath has exactly one instance: "
        f"add instanceIdPath: {ids_meant(query.text)}, or another field that names each"
        if component.instance_ids is None
        else f"gives {number} for {len(ids)} instance ids of instanceIdPath `{quoted(component.instance_ids.text)}`; "
        "results and ids are paired by position, so their numbers must be equal"
    )
    raise failure(component, field, query, reason)


UNNAMED = ("",)
"""The ids of a component without `instanceIdPath`: a single instance without an id."""


def instance_ids(component: ComponentRules, obj: Object) -> tuple[str, ...]:
    """Return the id of every instance, in the order of the object.

    Ids must be strings, not empty and unique. (In Karta's library the last of two equal ids wins, which loses a part of
    the workload.)
    """
    query = component.instance_ids
    if query is None:
        return UNNAMED
    ids = evaluate(component, "instanceIdPath", query, obj)
    for index, value in enumerate(ids):
        # This includes null, which Karta's library converts to an empty string and then rejects.
        if type(value) is not str or not value:
            actual = "an empty string" if value == "" else type_name(value)
            reason = (
                f"result {index} is {actual}; an instance id is a string that is not empty: "
                f"{'add `| tostring`' if type(value) is int else 'give each entry of the list one'}"
            )
            raise failure(component, "instanceIdPath", query, reason)
    if len(set(ids)) < len(ids):
        repeated = next(name for name, number in Counter(ids).items() if number > 1)
        first, second, *_ = (number for number, name in enumerate(ids, 1) if name == repeated)
        raise failure(
            component,
            "instanceIdPath",
            query,
            f'two instances have the id "{repeated}" (the entries {first} and {second}): '
            "give one another name in the object",
        )
    return tuple(ids)


def positions(component: ComponentRules, obj: Object) -> tuple[str, ...]:
    """Return the numbers of the instances as text. They replace ids if names do not matter and may be missing."""
    query = component.instance_ids
    if query is None:
        return UNNAMED
    return tuple(map(str, range(len(evaluate(component, "instanceIdPath", query, obj)))))
