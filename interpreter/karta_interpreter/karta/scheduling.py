"""Where in an object a definition's pods say what a queue adds to them: how they are scheduled and labelled."""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Final

from karta_interpreter.jq import Query
from karta_interpreter.jq.syntax import Comma, Node
from karta_interpreter.jq.syntax.printer import render
from karta_interpreter.jq.syntax.traversal import field_of, is_computed, variables_in
from karta_interpreter.karta.definition import Component, Fragments, PodSpec, PodTemplate, QueuedFields

_LABELLING: Final = ("labels", "annotations")
_PLACING: Final = ("nodeSelector", "tolerations")
_GATING: Final = ("schedulingGates",)


def queued_fields(components: Iterable[Component]) -> tuple[QueuedFields, ...]:
    """Return where the components' pods have what queues add, for all that is in the object itself."""
    return tuple(fields for component in components for fields in _fields(component))


def _fields(component: Component) -> Iterator[QueuedFields]:
    owner = component.definition
    metadata: Node | None
    match component.pods:
        case PodTemplate(template):
            metadata, spec = field_of(template.node, "metadata"), field_of(template.node, "spec")
        case PodSpec(query, beside):
            metadata, spec = None if beside is None else beside.node, query.node
        case Fragments(queries):
            found = [query.node for field, query in queries if field.removesuffix("Path") in _LABELLING]
            yield from _compiled(found, owner)
            return
        case None:
            return
    if metadata is not None:
        yield from _compiled([field_of(metadata, name) for name in _LABELLING], owner, missing=2)
    yield from _compiled([field_of(spec, name) for name in _PLACING], owner)
    yield from _compiled([field_of(spec, name) for name in _GATING], owner, while_held=True)


def _compiled(
    nodes: Iterable[Node], owner: str, *, missing: int = 1, while_held: bool = False
) -> Iterator[QueuedFields]:
    """Yield one expression for all fields; what reads another object has no place in this one."""
    own = [node for node in nodes if not variables_in(node) and not is_computed(node)]
    if own:
        query = Query.compile(render(reduce(Comma, own)), owner=owner)
        if query.is_plain:
            yield QueuedFields(query, missing, while_held)
