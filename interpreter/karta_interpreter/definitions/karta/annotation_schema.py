"""Checks an entry of an annotation by the JSON Schema in the annotation's record."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final, TypeAlias

from karta_interpreter.base.findings import BY_TYPES, did_you_mean
from karta_interpreter.base.k8s import JSON, Object, Path, field_path, type_name

_TYPES: Final = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "boolean": "a boolean",
}

Fault: TypeAlias = tuple[Path, str, str]
"""The path of a part that does not fit a schema, a message, and a hint, which is empty about the whole value."""


def faults(value: JSON, schema: Object, path: Path = ()) -> Iterator[Fault]:
    """Yield the parts of a value that do not fit a schema.

    >>> text, count = {"type": "string"}, {"type": "number"}
    >>> schema = {"type": "object", "properties": {"of": text, "held": text}, "required": ["of"]}
    >>> [*faults({"of": 1}, schema)]
    [(('of',), 'of must be a string, not a number', 'write it in quotes')]
    """
    actual, forms = type_name(value), schema.get("anyOf", [schema])
    expected = " or ".join(dict.fromkeys(_TYPES[form["type"]] for form in forms))
    forms = [form for form in forms if _TYPES[form["type"]] == actual]
    if not forms:
        message = f"must be {expected}, not {actual}"
        if path:
            yield path, f"{field_path(path)} {message}", BY_TYPES.get((expected, actual), "")
        else:
            yield path, message, ""
    elif isinstance(value, dict):
        yield from _faults_of_object(value, forms, path)
    elif isinstance(value, list):
        if len(value) < forms[0].get("minItems", 0):
            yield path, f"{field_path(path)} must not be empty", ""
        for index, item in enumerate(value):
            yield from faults(item, forms[0]["items"], (*path, index))
    elif "enum" in forms[0] and value not in forms[0]["enum"]:
        yield path, f"there is no {forms[0]['title']} {value}", did_you_mean(value, forms[0]["enum"])
    elif "pattern" in forms[0] and not re.fullmatch(forms[0]["pattern"], value, re.ASCII):
        yield path, f'"{value}" is not {forms[0]["title"]}', f"write it like {forms[0]['examples'][0]}"


def _faults_of_object(value: Object, forms: list[Object], path: Path) -> Iterator[Fault]:
    """Yield the fields that do not fit the form with the most fields of the object."""
    known = dict.fromkeys(chain(*(form["properties"] for form in forms)))
    if value.keys().isdisjoint(known):
        yield path, f"has none of the fields {', '.join(known)}", ""
        return
    form = min(forms, key=lambda form: (len(value.keys() - form["properties"]), form["required"][0] not in value))
    fields = form["properties"]
    for name, part in value.items():
        if name in fields:
            yield from faults(part, fields[name], (*path, name))
        elif name in known:
            own = ", ".join(field for field in fields if field in value)
            yield (*path, name), f"{name} does not go with {own}", did_you_mean(name, fields)
        else:
            yield (*path, name), f"there is no field {name}", did_you_mean(name, known)
    written = ", ".join(f"{name}: …" for name in form["required"])
    for name in form["required"]:
        if name not in value:
            yield (*path, name), f"the field {name} is missing", f"write {{{written}}}"
