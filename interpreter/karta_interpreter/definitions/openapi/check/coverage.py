"""The pods in a kind's schema, by their shapes, and those that no expression reads."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.openapi.check.shape import Shape, Shapes
from karta_interpreter.definitions.openapi.schema import (
    POD_FIELDS,
    Entries,
    SchemaPath,
    below,
    entries,
    fields,
    is_container,
    is_pod_spec,
    is_pod_template,
    parts_below,
    step_text,
)


class PodPart(Struct, frozen=True):
    """A part of a schema that has pods by its shape, or counts them."""

    path: SchemaPath
    noun: str
    key: SchemaPath
    """The field that is read of the part: the containers of a pod, else the part itself."""
    around: int = 0
    """The steps to a pod spec that has the part beside the fields of a pod, 0 outside of one."""


def pod_parts(path: SchemaPath, schema: Object, around: int = 0) -> Iterator[PodPart]:
    """Yield the pod templates, pod specs and lists of containers below a part.

    >>> pod = {"properties": {"containers": {"items": {"properties": {"name": {}, "image": {}}}}}}
    >>> schema = {"properties": {"groups": {"items": {"properties": {"template": {"properties": {"spec": pod}}}}}}}
    >>> [(part.path.jq, part.noun) for part in pod_parts(SchemaPath(("spec",)), schema)]
    [('.spec.groups[].template', 'a pod template')]
    """
    for at, part in parts_below(path, schema):
        if is_pod_template(part):
            yield PodPart(at, "a pod template", at / "spec" / "containers", around)
        elif is_pod_spec(part):
            yield PodPart(at, "a pod spec", at / "containers", around)
            own = {name: field_schema for name, field_schema in fields(part) if name not in POD_FIELDS}
            yield from pod_parts(at, {"properties": own}, len(at.steps))
        elif is_container(entries(part, "items") or {}):
            yield PodPart(at, "a list of containers", at, around)
        else:
            yield from pod_parts(at, part, around)


def scale_part(schema: Object, scale_path: str) -> PodPart:
    """Return the count of the scale subresource. All keys of a map are one step, as in the walk through the schema."""
    path, part = SchemaPath(), schema
    for name in scale_path.split(".")[1:]:
        described = dict(fields(part))
        if name in described:
            path, part = path / name, described[name]
        else:
            path, part = path / Entries(is_map=True), entries(part, "additionalProperties") or {}
    return PodPart(path, "the count of the scale subresource", path)


class Coverage(Struct, frozen=True):
    """The places that expressions read. What they give is read with everything below it."""

    given: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    """The places on the way to a value or to a given object, and all places above them."""

    def add(self, outputs: Shapes, visited: Iterable[Shape]) -> None:
        """Add what an expression gives, and the places on its way."""
        self.given.update(shape.place for shape in _parts(outputs))
        for shape in visited:
            if shape.place in self.reached:
                continue
            self.reached.add(shape.place)
            # The places above are the beginnings of its text that end before a step.
            self.reached.update(shape.place[:at] for at, char in enumerate(shape.place) if char in ".[")

    def unread(self, schema: Object, scale_path: str) -> Iterator[PodPart]:
        """Yield the pods, and the count of the scale subresource, that no expression reads."""
        yield from (part for part in pod_parts(SchemaPath(("spec",)), below(schema, "spec")) if not self._is_read(part))
        if scale_path and not self._is_read(scale := scale_part(schema, scale_path)):
            yield scale

    def _is_read(self, part: PodPart) -> bool:
        place = "$"
        for number, step in enumerate(part.key.steps, 1):
            place += step_text(step)
            # A pod that is given is read by the names of a pod's fields, which parts beside them do not have.
            if number > part.around and place in self.given:
                return True
        return place in self.reached


def _parts(shapes: Shapes) -> Iterator[Shape]:
    """Yield shapes, and the shapes in values that an expression makes."""
    for shape in shapes:
        yield shape
        for inner in (shape.inner or (), *(shape.members or {}).values()):
            yield from _parts(inner)
