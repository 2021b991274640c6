"""The expected outputs of an expression, and where the schema has such a value."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from karta_interpreter.base.k8s import ADDED_LISTS
from karta_interpreter.definitions.openapi.check.shape import Shape

Expected = tuple[str, Callable[[Shape], bool]]
"""The expected outputs of an expression, in words and as a test of a known shape."""


def of(noun: str, *types: str) -> Expected:
    """Return the expectation of one of these types."""
    return noun, lambda shape: bool(shape.types.intersection(types))


def _is_pod_spec(shape: Shape) -> bool:
    return "object" in shape.types and bool(shape.field("containers"))


def _is_template(shape: Shape) -> bool:
    specs = shape.field("spec") if "object" in shape.types else None
    return bool(specs) and any(not spec.is_known or _is_pod_spec(spec) for spec in specs or ())


TEXT: Final = of("a string", "string")
OBJECT: Final = of("an object", "object")
LIST: Final = of("a list", "array")
BOOLEAN: Final = of("a boolean", "boolean")
CONTAINERS: Final[Expected] = (
    "{containers: […], initContainers: […]}",
    lambda shape: "object" in shape.types and (not shape.fields or not ADDED_LISTS.keys().isdisjoint(shape.fields)),
)
PART_OF_TEMPLATE: Final[Expected] = (
    "a pod template, with spec",
    lambda shape: "object" in shape.types and shape.field("spec") is not None and "containers" not in shape.fields,
)
_VALUE: Final = re.compile(r"\.metadata\.(?:labels|annotations)[.[]")
_COUNT: Final[Expected] = (
    "a number",
    # The values of annotations and labels are strings, even counts.
    lambda shape: bool(shape.types & {"integer", "number"}) or _VALUE.search(shape.at) is not None,
)
EXPECTED: Final[Mapping[str, Expected]] = {
    "podTemplateSpecPath": ("a pod template, with spec.containers", _is_template),
    "podSpecPath": ("a pod spec, with containers", _is_pod_spec),
    **dict.fromkeys(("replicasPath", "minReplicasPath", "maxReplicasPath"), _COUNT),
    **dict.fromkeys(("instanceIdPath", "schedulerNamePath", "priorityClassNamePath", "imagePath"), TEXT),
    "filters": BOOLEAN,
    **dict.fromkeys(("keyPath", "idPath", "groupByKeyPaths"), of("a string", "string", "boolean", "integer", "number")),
    **dict.fromkeys(("nameExpression", "namespaceExpression"), of("a string or a list of strings", "string", "array")),
    **dict.fromkeys(("metadataPath", "labelsPath", "annotationsPath", "resourcesPath", "containerPath"), OBJECT),
    **dict.fromkeys(("podAffinityPath", "nodeAffinityPath"), OBJECT),
    **dict.fromkeys(("resourceClaimsPath", "containersPath"), LIST),
}

# The depth of the search for fields: schemas may be as wide as a pod's at each level.
_DEEPEST: Final = 6
_MOST: Final = 3


def hint(root: Shape, shape: Shape, expected: Expected) -> str:
    """Return a hint for an unexpected shape: the nearest fields of the schema with the expected one."""
    noun, fits = expected
    if not shape.at.startswith("."):
        return f"it has: {', '.join(shape.fields)}" if shape.fields else ""
    steps = shape.at[1:].split(".")
    places = [shape.at[1:].split(".") for top in root.field(steps[0]) or () for shape in _fitting(top, fits, _DEEPEST)]
    near = {candidate: _shared(candidate, steps) for candidate in map(tuple, places)}
    nearest = [candidate for candidate, shared in near.items() if shared == max(near.values())]
    if nearest:
        shortest = sorted(nearest, key=len)[:_MOST]
        return (
            f"{noun.partition(', with')[0]} near it: {', '.join('.' + '.'.join(candidate) for candidate in shortest)}"
        )
    if expected == BOOLEAN:
        test = "> 0" if shape.types & {"integer", "number"} else f'== "{(shape.values or ["value"])[0]}"'
        return f"compare it: `{shape.at} {test}`"
    return f"it has: {', '.join(shape.fields)}" if shape.fields else f"the schema has nothing there that is {noun}"


def within(root: Shape, name: str) -> str:
    """Return a hint about a field that the object does not have at its top: a place one level below, or its fields."""
    tops = [f".{top}" for top in root.fields]
    places = [f"{top}.{name}" for top in tops for below in root.field(top[1:]) or () if name in below.fields]
    return f"a path begins at the object, such as {', '.join(places or tops)}"


def _shared(candidate: tuple[str, ...], steps: list[str]) -> int:
    """Return how many first steps are equal, with or without the entries of a list."""
    pairs = zip(candidate, steps, strict=False)
    differ = (depth for depth, pair in enumerate(pairs) if len({step.removesuffix("[]") for step in pair}) > 1)
    return next(differ, len(candidate))


def _fitting(shape: Shape, fits: Callable[[Shape], bool], depth: int) -> Iterator[Shape]:
    """Yield the fitting shapes below a shape. Fields of a pod spec are not searched."""
    if shape.is_known and fits(shape) and (shape.fields or "object" not in shape.types):
        yield shape
    elif depth and "containers" not in shape.fields:
        fields = [inner for name in shape.fields for inner in shape.field(name) or ()]
        below = shape.each() if "array" in shape.types else fields
        yield from (match for inner in below for match in _fitting(inner, fits, depth - 1))
