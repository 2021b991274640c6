"""Finds what an API server rejects or drops of an object: fields that its schema lacks, and values of other types."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from karta_interpreter.base.findings import BY_TYPES, Finding, almost, did_you_mean, listed, warning
from karta_interpreter.base.k8s import COUNT_NAME, JSON, Object, Path, field_path, get, type_name
from karta_interpreter.definitions.openapi.catalogue import POD_TEMPLATES, catalogue_schemas
from karta_interpreter.definitions.openapi.schema import (
    OPEN,
    SchemaPath,
    below,
    entries,
    fields,
    key_of,
    listed_texts,
    parts_below,
)

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
_AMOUNTS: Final = frozenset({"requests", "limits"})
# A part hardly ever has them of its own, if one of its parts has them.
_INSIDE: Final = ("containers", "nodeSelector", "tolerations", "affinity", *_AMOUNTS)
# As far below a group of workers as its pods' resources are.
_DEPTH: Final = 5
Around = Sequence[tuple[Object, JSON]]


def misfits(
    schema: Object,
    value: JSON,
    release: str,
    path: Path = (),
    around: Around = (),
    *,
    with_pods: bool = True,
    is_read: bool = False,
) -> Iterator[Finding]:
    """Yield a warning for each part of a value that its schema, which is of a release, does not allow.

    What is below a part with a finding is not compared. In a part whose schema is open only objects of the catalogue's
    kinds are, and with ``with_pods`` the parts of pods. ``around`` has the schemas and the values on the way to the
    value, from the outermost. If the schema has what expressions read (``is_read``), a field almost of such a name is
    not allowed.

    >>> schema = {"properties": {"size": {"type": "integer"}, "sets": {"type": "array", "items": {"type": "string"}}}}
    >>> for finding in misfits(schema, {"siez": 1, "size": "3", "sets": {"a": "b"}}, "Toys 1.0"):
    ...     print(finding.message_at_path, "-", finding.hint)
    siez: there is no such field (Toys 1.0) - did you mean size?
    size: must be a number, not a string (Toys 1.0) - write it without quotes
    sets: must be a list, not an object (Toys 1.0) - write the entry after a dash, as the only one of a list
    """
    # Another object has the fields of its kind, and a part of pods those of pods. A container may have others. Writers
    # of fields have the names of others.
    is_other = path[-1:] == ("managedFields",) or (
        is_read
        and path
        and get(value, ("image",)) is None
        and (get(value, ("apiVersion",)) or _inside(str(path[-1]), value, with_pods=True))
    )
    if value is None or is_other or (isinstance(value, str) and _TRIED in value):
        return
    is_open = schema.get(OPEN) or not (any(fields(schema)) or entries(schema, "additionalProperties"))
    inside = (
        _inside(str(path[-1]), value, with_pods=with_pods)
        if path
        and is_open
        and not is_read
        and isinstance(value, list if schema.get("type") == "array" else dict | list)
        else None
    )
    schema, release = inside or (schema, release)
    around = (*around, (schema, value))
    if finding := _misfit(schema, value, path, around):
        yield replace(finding, message=f"{finding.message} ({release})")
        return
    is_doubled = isinstance(value, dict) and value.keys() == {*path[-1:]} and isinstance(get(value, path[-1:]), dict)
    is_known = is_read or inside is not None or not path or is_doubled
    for name, part, inner in _parts(schema, value, path, is_known=is_known):
        if inner is not None:
            yield from misfits(inner, part, release, (*path, name), around, with_pods=with_pods, is_read=is_read)
        # Go programs write this one into every template.
        elif (path or name not in _OF_OBJECTS) and (name, part) != ("creationTimestamp", None):
            message = f"there is no such field ({release})"
            yield warning("field-unknown", (*path, name), message, _place(str(name), part, path, around))


def _parts(
    schema: Object, value: JSON, path: Path, *, is_known: bool
) -> Iterator[tuple[str | int, JSON, Object | None]]:
    """Yield the parts of a list or an object, each with its schema, which is None for an unknown field."""
    if isinstance(value, list):
        yield from ((index, element, entries(schema, "items") or {}) for index, element in enumerate(value))
    elif isinstance(value, dict):
        known, others = dict(fields(schema)), entries(schema, "additionalProperties")
        other = (others or {}) if others is not None or not known or schema.get(OPEN) else None
        yield from (
            (name, part, known[name])
            if name in known
            else (name, part, None if is_known and _is_slip(name, value, path, known) else other)
            for name, part in value.items()
        )


def _is_slip(name: str, value: Object, path: Path, known: Mapping[str, Object]) -> bool:
    """Return whether an unknown field is misspelt, has the name of the part that it is in, or is a level too high."""
    absent = known.keys() - value.keys()
    around = (
        other
        for other, field in known.items()
        if (name in _INSIDE or (not path and other in value)) and name in dict(fields(field))
    )
    is_above = any(get(value, (other, name)) is None for other in around)
    # As the requests of a step, which Tekton has renamed.
    is_renamed = name == "resources" and any(other.lower().endswith(name) for other in absent)
    return is_above or is_renamed or bool(absent and path and name == path[-1]) or almost(name, absent) != ""


def _inside(name: str, value: JSON, *, with_pods: bool) -> tuple[Object, str] | None:
    """Return the schema of an object of the catalogue, or of a part of pods, and the release that it is of."""
    if isinstance(value, dict) and {"apiVersion", "kind"} <= value.keys() and {"spec", "metadata"} & value.keys():
        version = value["apiVersion"], value["kind"]
        kinds = (kind for gvk, kind in catalogue_schemas().items() if (gvk.api_version, gvk.kind) == version)
        return next(((kind.schema, kind.crd) for kind in kinds), None)
    pods = catalogue_schemas()[POD_TEMPLATES]
    template = below(pods.schema, "spec", "template")
    spec = below(template, "spec")
    inner, container = get(value, ("spec",)), entries(below(spec, "containers"), "items") or {}
    # Fields of pods may be misspelt.
    signs = {almost(key, ("spec", *_INSIDE)) or key for key in value} if isinstance(value, dict) else set()
    is_template = (isinstance(inner, dict) and "containers" in inner) or (
        name in ("template", "podTemplate")
        and bool(signs & {"spec", "containers", name})
        and get(value, ("spec", "template")) is None
    )
    # A kind may have fields of its own beside those of a pod.
    shapes = (
        ({**template, OPEN: True}, is_template),
        ({**spec, OPEN: True}, isinstance(get(value, ("containers",)), list)),
        (
            below(container, "resources"),
            name.lower().endswith("resources") and bool(signs & {*_AMOUNTS, "cpu", "memory", name}),
        ),
        (below(spec, name), name in ("affinity", "tolerations")),
        ({**container, OPEN: True}, isinstance(get(value, ("image",)), str)),
    )
    return next(((schema, pods.crd) for schema, fits in shapes if with_pods and fits), None)


def _misfit(schema: Object, value: JSON, path: Path, around: Around) -> Finding | None:
    """Return the finding about a value of another type, or about a text that is none of those that a schema lists."""
    named, got = str(schema.get("type")), type_name(value)
    expected = _TYPES.get(named, got)
    if schema.get("x-kubernetes-int-or-string"):
        expected = got if isinstance(value, int) else "a string"
    if got != expected or (named == "integer" and isinstance(value, float)):
        message = f"must be {expected}, not {got}" if got != expected else f"must be a whole number, not {value}"
        return warning("field-invalid", path, message, _shape(value, expected, path, around))
    texts = listed_texts(schema) if value and isinstance(value, str) else [value]
    is_unlisted = texts and value not in texts
    return warning("field-invalid", path, f"cannot be {value}", did_you_mean(value, texts)) if is_unlisted else None


def _shape(value: JSON, expected: str, path: Path, around: Around) -> str:
    """Return how a value of another type is written, or where an object belongs that stands among texts."""
    schema, _ = around[-1]
    if expected == "a string" and isinstance(value, dict):
        return _below(str(path[-2]), path[:-2], around[:-2]) if around[2:] else ""
    items, names = entries(schema, "items") or {}, dict(fields(schema)).keys()
    if expected == "a list" and isinstance(value, dict) and not value.keys() <= dict(fields(items)).keys():
        key, (first, part) = key_of(schema, items), next(iter(value.items()))
        pair = f"{key}: {first}" if key else ""
        if isinstance(part, dict) or below(items, "value"):
            return f"write `- {pair if isinstance(part, dict) else f'{{{pair}, value: …}}'}` in place of `{first}:`"
    return (
        "render the template first, as `helm template` does"
        if isinstance(value, str) and "{{." in value.replace("-", "").replace(" ", "")
        else "write null, or leave the field out"
        if value in ("None", "nil", "undefined")
        else "give what it stands for, as `envsubst` does"
        if isinstance(value, str) and value.startswith("$")
        else f'"{value[:40]}" is none'
        if expected == "a number" and isinstance(value, str) and not value.lstrip("-").replace(".", "", 1).isdigit()
        else BY_TYPES.get((expected, type_name(value)))
        or (f"its fields are {listed(names)}" if names else "write [ ] around it" if expected == "a list" else "")
    )


def _place(name: str, part: JSON, path: Path, around: Around) -> str:
    """Return the name that is meant, or the place of the name below or above, else the names that there are."""
    schema, value = around[-1]
    names = dict(fields(schema))
    within = {other: dict(fields(field))[name] for other, field in names.items() if name in dict(fields(field))}
    if isinstance(part, dict) and part and (name in path[-1:] or part.keys() <= names.keys()) and not within:
        return "write its fields in its place"
    # The very name, a level further in, in a part that the object has, and with fields of the value.
    is_further_in = any(
        other in value and isinstance(part, dict) and not part.keys().isdisjoint(dict(fields(field)))
        for other, field in within.items()
    )
    if not is_further_in and (
        meant := almost(name, (other for other, field in names.items() if not _misfit(field, part, path, around)))
    ):
        return f"did you mean {meant}?"
    if place := _below(name, path, around):
        return place
    for up, (outer, present) in enumerate(reversed(around[:-1]), 1):
        if name in dict(fields(outer)) and name not in present:
            return f"is it {field_path((*path[: len(path) - up], name))}?"
    counts = [
        other
        for other, field in names.items()
        if type(part) is int and field.get("type") == "integer" and other not in value
        if COUNT_NAME.fullmatch(name) and COUNT_NAME.fullmatch(other)
    ]
    return (
        f"did you mean {' or '.join(counts)}?"
        if counts
        else "it belongs to a patch: give what `kubectl kustomize` prints"
        if name.startswith("$")
        else did_you_mean(name, names)
    )


def _below(name: str, path: Path, around: Around) -> str:
    """Return the question whether the nearest fields of a name that stand further down are meant, "" without one."""
    schema, value = around[-1]
    level = list(parts_below(SchemaPath(), schema))
    for _ in range(_DEPTH - 1):
        level = [inner for outer in level for inner in parts_below(*outer)]
        # Containers for debugging are added to pods that run.
        places = [
            place
            for place, _ in level
            if place.steps[-1] == name != "status" and "ephemeralContainers" not in place.steps
        ]
        # A part that the object has comes before another one.
        if meant := [place for place in places if place.steps[0] in value] or places:
            return f"is it {' or '.join(f'{field_path(path)}{place.jq}'.lstrip('.') for place in meant[:2])}?"
    return ""
