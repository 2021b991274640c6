"""What the schema of a status shows of its aggregation: fields that have to be there, numbers that do not add up."""

import json
import re
from collections.abc import Iterator
from typing import Final

from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.openapi.draft.openapi import entries, fields, is_text, listed_texts
from karta_interpreter.definitions.openapi.draft.schema_path import Entries, SchemaPath

_STATUS: Final = SchemaPath(("status",))
_KEPT: Final[dict[JSON, JSON]] = {"integer": 0, "number": 0, "boolean": False, "array": []}
"""What AggregateStatus leaves of fields without clusters, by their types."""
_NO_AMOUNT: Final = re.compile(r"(^|[a-z])(Version|Revision|I[dD]|Index|Port|Percent|Percentage|Timestamp|Epoch)$")


def undecided(schema: Object, place: SchemaPath = _STATUS) -> Iterator[tuple[str, SchemaPath, str]]:
    """Yield fields about which an annotation has to decide: its name, the field, and one text for it.

    ``required-status`` is for what a status requires and an aggregated one may lack, ``aggregate`` for numbers that
    are not amounts.

    >>> ready = {"type": "integer"}
    >>> job = {"type": "object", "properties": {"timelineID": {"type": "integer"}}}
    >>> for name, field, text in undecided({"required": ["job", "ready"], "properties": {"job": job, "ready": ready}}):
    ...     print(name, field.jq, text)
    required-status .status.job {}
    aggregate .status.job.timelineID max
    """
    described, required = dict(fields(schema)), schema.get("required")
    # All texts of an object are those of one cluster: where one is left out, nothing is left of the object.
    may_lack = isinstance(required, list) and (place == _STATUS or not all(map(is_text, described.values())))
    for name, part in described.items():
        if part.get("type") in ("integer", "number") and _NO_AMOUNT.search(name[:1].upper() + name[1:]):
            yield "aggregate", place / name, "max"
        elif may_lack and name in (required or ()) and part.get("type") not in _KEPT:
            yield "required-status", place / name, json.dumps(least_value(part))
        yield from undecided(part, place / name)
    items = entries(schema, "items") or {}
    if "name" in dict(fields(items)):  # the elements of other lists are not merged
        yield from (each for each in undecided(items, place / Entries()) if each[0] == "aggregate")


def least_value(schema: Object) -> JSON:
    """Return the value that says the least: the default, or what is empty.

    >>> least_value({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "m": {}}})
    {'n': 0}
    """
    names = required if isinstance(required := schema.get("required"), list) else ()
    empty = {**_KEPT, "object": {name: least_value(part) for name, part in fields(schema) if name in names}}
    return schema.get("default", empty.get(schema.get("type"), next(iter(listed_texts(schema)), "")))
