"""Describes a definition as a JSON document: its parts, its statuses, and the operations registered for it."""

from collections.abc import Iterator, Sequence

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.annotations import Annotations, ExtraDependency
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.model import ComponentDefinition, GangScheduling, Karta
from karta_interpreter.karta.schema import read_karta
from karta_interpreter.karta.schema_types import expressions
from karta_interpreter.karta.status import Status
from karta_interpreter.karta.status_rules import StatusMatcher
from karta_interpreter.operations import Operation
from karta_interpreter.operations.interpret_health import healthy_statuses
from karta_interpreter.registration.operations import find_served, operations_for
from karta_interpreter.sources.snapshot import Entry

_NO_KARTA: Object = {
    **{
        field: [] for field in ("components", "statuses", "suspend", "resume", "gangScheduling", "additionalChildKinds")
    },
    "annotations": {},
}


def describe(entry: Entry) -> Object:
    """The description of an entry of a snapshot; fields that a definition does not have are empty.

    ``operations`` are those that are registered with Karmada, ``scripts`` those that scripts answer; ``dependencies``
    the kinds that the definition names beside those in pods, ``references`` those that it reads. ``statuses`` has an
    item for each way to have a status, ``healthy`` the statuses that count, or the expression that decides.
    """
    definition, annotations = entry.definition, entry.definition.annotations
    served = find_served(None, definition.gvk)
    karta, _ = read_karta(definition.manifest) if definition.has_karta else (None, ())
    gated = operations_for(definition, served, multiple_pod_templates=True)
    dependencies = (each.kind for each in annotations.dependencies if isinstance(each, ExtraDependency))
    return {
        **definition.gvk.type_meta,
        "definition": definition.name,
        "origin": entry.origin,
        "writtenFrom": annotations.written_from,
        "operations": list(map(str, operations_for(definition, served))),
        "operationsWithMultiplePodTemplatesScheduling": list(map(str, gated)),
        "healthy": list(_healthy(definition)),
        "scripts": sorted(definition.scripts.operations),
        "retain": [_one_line(str(retained)) for retained in annotations.retain],
        "queueLabels": list(annotations.queue_labels if definition.suspend else ()),
        "dependencies": list(dict.fromkeys(dependencies)),
        "references": [f"{each.gvk.kind} as ${each.name}" for each in definition.references],
        **(_of_karta(karta, annotations) if karta else _NO_KARTA),
    }


def workers(description: Object) -> list[str]:
    """The names of the components that have pods."""
    return [component["name"] for component in description["components"] if "pods" in component]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _of_karta(karta: Karta, annotations: Annotations) -> Object:
    structure = karta.spec.structure_definition
    components = [component for _, component in structure.components]
    instructions = karta.spec.optimization_instructions
    gang = instructions.gang_scheduling if instructions else None
    kinds = (GVK(kind.group, kind.version, kind.kind) for kind in structure.additional_child_kinds)
    return {
        "components": [_component(component, annotations) for component in components],
        "statuses": list(_statuses(structure.root_component)),
        "suspend": list(_writes(components, "suspend_actions")),
        "resume": list(_writes(components, "resume_actions")),
        "gangScheduling": list(_gang(gang)) if gang else [],
        "additionalChildKinds": [kind.type_meta for kind in kinds],
        "annotations": dict(sorted(karta.annotations.items())),
    }


def _component(component: ComponentDefinition, annotations: Annotations) -> Object:
    spec, scale = component.spec_definition, component.scale_definition
    pods = expressions(spec) if spec else ()
    counts = expressions(scale) if scale else ()
    added = {each.component: _one_line(each.query.text) for each in annotations.added_containers}
    fields: Object = {
        "name": component.name,
        "kind": component.kind and component.kind.kind,
        "ownerRef": component.owner_ref,
        "instances": _one_line(component.instance_id_path or ""),
        "pods": {str(path[-1]).removesuffix("Path"): _one_line(text) for path, text in pods},
        "addedContainers": added.get(component.name),
        **{str(path[0]).removesuffix("Path"): _one_line(text) for path, text in counts},
        "elastic": annotations.is_elastic(component.name),
    }
    return {name: value for name, value in fields.items() if value}


def _statuses(root: ComponentDefinition) -> Iterator[Object]:
    if root.status_definition:
        for status in Status:
            matchers = getattr(root.status_definition.status_mappings, status.lower(), ())
            yield from ({"status": str(status), "when": way} for way in dict.fromkeys(_ways(matchers)))


def _healthy(definition: Definition) -> Iterator[str]:
    expression = definition.annotations.health
    if definition.scripts.of(Operation.INTERPRET_HEALTH):
        yield "a script decides"
    elif expression is not None:
        yield _one_line(expression.text)
    else:
        healthy = healthy_statuses(definition)
        yield from (str(status) for status in Status if status in healthy)


def _ways(matchers: Sequence[StatusMatcher]) -> Iterator[str]:
    """A line for each matcher; those that only read the phase share one."""
    ways = [(matcher.by_phase, list(_conditions(matcher))) for matcher in matchers]
    phases = [phase for phase, conditions in ways if phase and len(conditions) == 1]
    for phase, conditions in ways:
        yield f"phase {' or '.join(phases)}" if phase and len(conditions) == 1 else ", ".join(conditions) or "always"


def _conditions(matcher: StatusMatcher) -> Iterator[str]:
    if matcher.by_phase:
        yield f"phase {matcher.by_phase}"
    for condition in matcher.by_conditions:
        status = f"={condition.status}" if condition.status else ""
        yield f"{condition.type}{status}{f' ({condition.reason})' if condition.reason else ''}"
    if matcher.by_expression:
        expression = _one_line(matcher.by_expression.expression)
        result = matcher.by_expression.expected_result
        yield expression if result == "true" else f"{expression} is {result}"


def _writes(components: Sequence[ComponentDefinition], actions: str) -> Iterator[str]:
    for component in components:
        for action in getattr(component.suspend_definition, actions, ()):
            yield f"{_one_line(action.path)} = {action.value}"


def _gang(gang: GangScheduling) -> Iterator[str]:
    for group in gang.pod_groups:
        members = "; ".join(
            " by ".join(filter(None, (member.component, ", ".join(map(_one_line, member.group_by)))))
            for member in group.members
        )
        yield f"{group.name}: {members}"
    if gang.pod_group:
        parts = ", ".join(part.component for part in gang.pod_group.sub_groups)
        yield f"{gang.pod_group.name}: {parts}" if parts else gang.pod_group.name
