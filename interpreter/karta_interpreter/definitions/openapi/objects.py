"""Finds what an API server rejects or drops of an object: fields that its schema lacks, and values of other types."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from karta_interpreter.base.findings import BY_TYPES, Finding, did_you_mean, listed, warning
from karta_interpreter.base.k8s import JSON, Object, Path, type_name
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind, entries, fields, listed_texts

_TYPES: Final = {
    "string": "a string",
    "boolean": "a boolean",
    "object": "an object",
    "array": "a list",
    "integer": "a number",
    "number": "a number",
}
_OF_OBJECTS: Final = ("apiVersion", "kind", "metadata")
# Katib replaces it in a trial.
_TRIED: Final = "${trialParameters."


def misfits(
    schema: Object, value: JSON, release: str, known: Mapping[Path, CustomKind], path: Path = ()
) -> Iterator[Finding]:
    """Yield a warning for each part of a value that its schema, which is of a release, does not allow.

    What is below a part with a finding is not compared. In a part whose schema is open only objects of the catalogue's
    kinds are, and what ``known`` has a schema for.

    >>> schema = {"properties": {"size": {"type": "integer"}, "sets": {"type": "array", "items": {"type": "string"}}}}
    >>> for finding in misfits(schema, {"siez": 1, "size": "3", "sets": {"a": "b"}}, "Toys 1.0", {}):
    ...     print(finding.message_at_path, "-", finding.hint)
    siez: there is no such field (Toys 1.0) - did you mean size?
    size: must be a number, not a string (Toys 1.0) - write it without quotes
    sets: must be a list, not an object (Toys 1.0) - write the entry after a dash, as the only one of a list
    """
    # Writers of fields have the names of others.
    if value is None or path[-1:] == ("managedFields",) or (isinstance(value, str) and _TRIED in value):
        return
    is_open = bool(schema.get(OPEN)) or not (any(fields(schema)) or entries(schema, "additionalProperties"))
    other = (known.get(path) or _kind_of(value)) if path and is_open else None
    if other:
        schema, release = other.schema, other.crd
    if finding := _misfit(schema, value, path):
        yield replace(finding, message=f"{finding.message} ({release})")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from misfits(entries(schema, "items") or {}, element, release, known, (*path, index))
    elif isinstance(value, dict):
        yield from _fields(schema, value, release, known, path)


def _fields(
    schema: Object, value: Object, release: str, known: Mapping[Path, CustomKind], path: Path
) -> Iterator[Finding]:
    """Yield the misfits in the fields of an object."""
    described, others = dict(fields(schema)), entries(schema, "additionalProperties")
    is_open = others is not None or not described or schema.get(OPEN)
    for name, part in value.items():
        if name in described:
            yield from misfits(described[name], part, release, known, (*path, name))
        elif is_open:
            yield from misfits(others or {}, part, release, known, (*path, name))
        # Go programs write this one into every template.
        elif (path or name not in _OF_OBJECTS) and (name, part) != ("creationTimestamp", None):
            message = f"there is no such field ({release})"
            hint = did_you_mean(name, described, f"there are: {listed(described)}")
            yield warning("field-unknown", (*path, name), message, hint)


def _kind_of(value: JSON) -> CustomKind | None:
    """Return the schema of an object of the catalogue, None for any other value."""
    if not (isinstance(value, dict) and {"apiVersion", "kind"} <= value.keys() and {"spec", "metadata"} & value.keys()):
        return None
    version = value["apiVersion"], value["kind"]
    kinds = (kind for gvk, kind in catalogue_schemas().items() if (gvk.api_version, gvk.kind) == version)
    return next(kinds, None)


def _misfit(schema: Object, value: JSON, path: Path) -> Finding | None:
    """Return the finding about a value of another type, or about a text that is none of those that a schema lists."""
    named, got = str(schema.get("type")), type_name(value)
    expected = _TYPES.get(named, got)
    if schema.get("x-kubernetes-int-or-string"):
        expected = got if isinstance(value, int) else "a string"
    if got != expected:
        return warning("field-invalid", path, f"must be {expected}, not {got}", BY_TYPES.get((expected, got), ""))
    if named == "integer" and isinstance(value, float):
        return warning("field-invalid", path, f"must be a whole number, not {value}")
    texts = listed_texts(schema) if value and isinstance(value, str) else []
    if texts and value not in texts:
        return warning("field-invalid", path, f"cannot be {value}", did_you_mean(str(value), texts))
    return None
