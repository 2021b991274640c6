"""Evaluates an expression of a definition on an object. Errors name the definition, component, field and reason."""

from collections import Counter

from karta_interpreter.base.k8s import JSON, Object, type_name
from karta_interpreter.definitions.karta import ComponentRules, ids_meant
from karta_interpreter.languages.jq import Query, quoted


def aligned(
    component: ComponentRules, query: Query, obj: Object, ids: tuple[str, ...], *, may_lack: bool = False
) -> list[JSON]:
    """Return the outputs of an expression, one per instance, or with ``may_lack`` null for each if there is no output.

    Karta pairs results with instance ids only by position, so any other number of results is an error.
    """
    results = query.evaluate(obj)
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
    raise query.unusable(reason)


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
    ids = query.evaluate(obj)
    for index, value in enumerate(ids):
        # This includes null, which Karta's library converts to an empty string and then rejects.
        if type(value) is not str or not value:
            actual = "an empty string" if value == "" else type_name(value)
            reason = (
                f"result {index} is {actual}; an instance id is a string that is not empty: "
                f"{'add `| tostring`' if type(value) is int else 'give each entry of the list one'}"
            )
            raise query.unusable(reason)
    if len(set(ids)) < len(ids):
        repeated = next(name for name, number in Counter(ids).items() if number > 1)
        first, second, *_ = (number for number, name in enumerate(ids, 1) if name == repeated)
        raise query.unusable(
            f'two instances have the id "{repeated}" (the entries {first} and {second}): '
            "give one another name in the object",
        )
    return tuple(ids)


def positions(component: ComponentRules, obj: Object) -> tuple[str, ...]:
    """Return the numbers of the instances as text. They replace ids if names do not matter and may be missing."""
    query = component.instance_ids
    if query is None:
        return UNNAMED
    return tuple(map(str, range(len(query.evaluate(obj)))))
