"""Objects made from the schemas of CRDs: the required fields alone, and with one optional field after the other."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from hypothesis import find, strategies as st

from karta_interpreter.base.k8s.edit import set_value
from karta_interpreter.base.k8s.values import JSON, Object, Path
from karta_interpreter.definitions.openapi.schema import fields, is_pod_spec, is_pod_template
from karta_interpreter.engine.workload.updates import fields_of

_TEXTS: Final = ("a", "1", "1Gi", "a-b", "10s", "http://a", "2026-01-01T00:00:00Z", "a/b", "a.b", "1.0.0", "* * * * *")
_DEEPEST: Final = 9
_LARGEST: Final = 2


def smallest(schema: Object) -> JSON:
    """Return a value with nothing but what a schema requires."""
    if isinstance(values := schema.get("enum"), list) and values:
        return next((value for value in values if value not in ("", None)), values[0])
    makers: dict[str, Callable[[Object], JSON]] = {
        "object": _smallest_object,
        "array": lambda array: [smallest(array.get("items", {})) for _ in range(max(1, array.get("minItems", 0)))],
        "string": _text,
        "boolean": lambda _: True,
        "integer": _number,
        "number": _number,
    }
    if schema.get("x-kubernetes-int-or-string"):
        return _LARGEST
    return makers.get(str(schema.get("type")), _smallest_object)(schema)


_PODS: Final = {"containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": "1"}}}]}


def _smallest_object(schema: Object) -> JSON:
    if schema.get("x-kubernetes-embedded-resource"):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    if is_pod_spec(schema):
        return _PODS
    if is_pod_template(schema) or _is_any_template(schema):
        return {"spec": _PODS}
    known = dict(fields(schema))
    names = [*schema.get("required", ())]
    for branch in islice((each for key in ("oneOf", "anyOf") for each in schema.get(key) or ()), 1):
        names += branch.get("required", ())
    made = {name: smallest(known.get(name, {})) for name in names if "default" not in known.get(name, {})}
    if not made and isinstance(inner := schema.get("additionalProperties"), dict):
        return {"a": smallest(inner)}
    return made


def _is_any_template(schema: Object) -> bool:
    """Return whether a schema takes any fields, as that of a pod template whose schema would be too large."""
    properties = dict(fields(schema))
    return bool(schema.get("x-kubernetes-preserve-unknown-fields")) and properties.keys() <= {"metadata", "spec"}


def _text(schema: Object) -> str:
    pattern, shortest = schema.get("pattern"), schema.get("minLength", 0)
    texts = ["2026-01-01T00:00:00Z"] if schema.get("format") == "date-time" else [*_TEXTS]
    for text in texts:
        if len(text) >= shortest and (pattern is None or re.search(pattern, text)):
            return text
    if pattern is None:
        return "a" * int(shortest)
    fitting = st.from_regex(str(pattern), fullmatch=True)
    return str(find(fitting, lambda text: len(str(text)) >= int(shortest)))


def _number(schema: Object) -> int:
    least, most = schema.get("minimum", _LARGEST), schema.get("maximum", _LARGEST)
    return int(min(max(least, _LARGEST), most))


def optional(schema: Object, path: Path = ()) -> Iterator[tuple[Path, Object]]:
    """Yield the paths of the optional fields, each with its schema. What a pod is made of is one field.

    Some kinds have fields of their own next to those of a pod.
    """
    if len(path) > _DEEPEST:
        return
    required = schema.get("required", ())
    of_pods = fields_of("PodSpec") if path and is_pod_spec(schema) else ()
    for name, field in fields(schema):
        if name in of_pods:
            continue
        if name not in required:
            yield (*path, name), field
        yield from optional(field, (*path, name))
    if isinstance(items := schema.get("items"), dict):
        yield from optional(items, (*path, 0))
    if isinstance(values := schema.get("additionalProperties"), dict):
        yield from optional(values, (*path, "a"))


def with_field(schema: Object, obj: JSON, path: Path, value: JSON) -> JSON:
    """Return an object with a value at a path, and what the schema requires of the objects on the way."""
    for length in range(1, len(path)):
        way, parent = path[:length], _at(schema, path[:length])
        if _value_at(obj, way) is None:
            obj = set_value(obj, way, smallest(parent))
    return set_value(obj, path, value)


def _at(schema: Object, path: Path) -> Object:
    for step in path:
        known = dict(fields(schema))
        schema = known[step] if step in known else schema.get("items") or schema.get("additionalProperties") or {}
    return schema


def _value_at(obj: Any, path: Path) -> JSON:
    for step in path:
        try:
            obj = obj[step]
        except (KeyError, IndexError, TypeError):
            return None
    return obj
