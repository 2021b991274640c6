"""The fields that a CRD lets nobody change, by its rules about the object before."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from karta_interpreter.base.k8s import Object, get, objects_in
from karta_interpreter.definitions.openapi.schema import Entries, SchemaPath, below, parts_below, step_text

_NEVER: Final = re.compile(r"\s*(self\s*==\s*oldSelf|oldSelf\s*==\s*self)\s*")
"""The rule that holds always, without a condition."""


def immutable_fields(schema: Object) -> Iterator[SchemaPath]:
    """Yield the fields of the spec that the API server refuses to change once both objects have them.

    The keys of a list's elements are left out: an element with another key is another element.

    >>> rule = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    >>> schema = {"properties": {"spec": {"properties": {"queue": rule, "size": {}}}}}
    >>> [path.jq for path in immutable_fields(schema)]
    ['.spec.queue']
    """
    yield from _below(SchemaPath(("spec",)), below(schema, "spec"))


def _below(path: SchemaPath, schema: Object) -> Iterator[SchemaPath]:
    for at, part in parts_below(path, schema):
        if not _is_immutable(part):
            yield from _below(at, part)
        elif Entries(key=str(at.steps[-1])) != path.steps[-1]:
            yield at


def _is_immutable(schema: Object) -> bool:
    rules = objects_in(get(schema, ("x-kubernetes-validations",)))
    return any(_NEVER.fullmatch(str(rule.get("rule"))) for rule in rules)


def sent_fields(schema: Object, kept: Collection[str]) -> Iterator[SchemaPath]:
    """Yield the immutable fields that are in none of the ``kept`` places."""
    for path in immutable_fields(schema):
        places = ["$"]
        for step in path.steps:
            places.append(places[-1] + step_text(step))
        if not any(place in kept for place in places):
            yield path
