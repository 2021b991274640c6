"""Describes a definition as a JSON document: its parts, its statuses, and the operations registered for it."""

from collections.abc import Iterator, Sequence

from karta_interpreter.base.k8s import GVK, NewObject, Object
from karta_interpreter.definitions.karta import Definition, ExtraDependency, Matcher, in_version
from karta_interpreter.definitions.karta.model import ComponentDefinition, GangScheduling
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.definitions.sources import ServedDefinition
from karta_interpreter.engine.evaluation import Status, label_selector
from karta_interpreter.engine.operations import Operation, healthy_statuses
from karta_interpreter.engine.registered.operations import find_served, operations_for


def summarize(entry: ServedDefinition) -> Object:
    """Return the summary of an entry for lists. Cheap: there may be thousands. All ``components`` have pods."""
    definition = entry.definition
    return {
        **definition.gvk.type_meta,
        "definition": definition.name,
        "origin": entry.origin,
        "writtenFrom": definition.annotations.written_from,
        "operations": list(map(str, operations_for(definition, find_served(None, definition.gvk)))),
        "components": [component.name for component in definition.components if component.pods is not None],
        "suspend": bool(definition.suspend),
        "gang": definition.gang != GangScheduling(),
    }


def describe(entry: ServedDefinition) -> Object:
    """Return the description of an entry of a snapshot. Fields that a definition does not have are empty.

    ``operations`` are the operations registered with Karmada. ``scripts`` are the operations that scripts answer.
    ``dependencies`` are the kinds that the definition names in addition to the kinds in pods. ``references`` are the
    kinds that it reads. ``statuses`` has an item for each way to have a status. ``healthy`` has the statuses that count
    as healthy, or the expression that decides.
    """
    definition, annotations = entry.definition, entry.definition.annotations
    served = find_served(None, definition.gvk)
    manifest = in_version(definition.manifest, definition.gvk.version)
    karta, _ = read_karta(manifest) if definition.has_karta else (None, ())
    components, children, karta_annotations = list[ComponentDefinition](), [], {}
    if karta:
        structure = karta.spec.structure_definition
        components = [component for _, component in structure.components]
        children = [GVK(child.group, child.version, child.kind).type_meta for child in structure.additional_child_kinds]
        karta_annotations = dict(sorted(karta.annotations.items()))
    gated = operations_for(definition, served, multiple_pod_templates=True)
    dependencies = (extra.kind for extra in annotations.dependencies if isinstance(extra, ExtraDependency))
    return {
        **definition.gvk.type_meta,
        "definition": definition.name,
        "origin": entry.origin,
        "writtenFrom": annotations.written_from,
        "operations": list(map(str, operations_for(definition, served))),
        "operationsWithMultiplePodTemplatesScheduling": list(map(str, gated)),
        "healthy": _healthy(definition),
        "scripts": sorted(definition.scripts.operations),
        "retain": [_one_line(str(retained)) for retained in annotations.retained],
        "queueLabels": list(annotations.queue_labels if definition.suspend else ()),
        "dependencies": list(dict.fromkeys(dependencies)),
        "references": [f"{reference.gvk.kind} as ${reference.name}" for reference in definition.references],
        "components": [_component(component, definition) for component in components],
        "indivisible": annotations.is_indivisible,
        "statuses": list(_statuses(definition)),
        "suspend": list(_writes(components, "suspend_actions")),
        "resume": list(_writes(components, "resume_actions")),
        "gangScheduling": list(_gang(definition.gang)),
        "additionalChildKinds": children,
        "annotations": karta_annotations,
    }


def gate_text(description: Object) -> str:
    """Return how the feature gate MultiplePodTemplatesScheduling changes the registered operations, or nothing."""
    off, on = description["operations"], description["operationsWithMultiplePodTemplatesScheduling"]
    more = " and ".join(operation for operation in on if operation not in off)
    less = [operation for operation in off if operation not in on]
    if more:
        return f"{more} instead of {' and '.join(less)}"
    if less:
        return f"no {' and no '.join(less)}"
    return ""


def _healthy(definition: Definition) -> list[str]:
    """Return the statuses that count as healthy, or what else decides."""
    if definition.scripts.of(Operation.INTERPRET_HEALTH):
        return ["a script decides"]
    if definition.annotations.health is not None:
        return [_one_line(definition.annotations.health.text)]
    return [str(status) for status in Status if status in healthy_statuses(definition)]


def _statuses(definition: Definition) -> Iterator[Object]:
    mappings = dict(definition.status.mappings) if definition.status else {}
    for status in Status:
        for condition_text in dict.fromkeys(_ways(mappings.get(status, ()))):
            yield {"status": str(status), "when": condition_text}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _component(component: ComponentDefinition, definition: Definition) -> Object:
    annotations, rules = definition.annotations, definition.component(component.name)
    added = {containers.component: _one_line(containers.query.text) for containers in annotations.added_containers}
    pods = dict[str, str]()
    if component.spec_definition:
        for path, text in expressions_of(component.spec_definition):
            pods[str(path[-1]).removesuffix("Path")] = _one_line(text)
    fields: NewObject = {
        "name": component.name,
        "kind": component.kind and component.kind.kind,
        "ownerRef": component.owner_ref,
        "instances": _one_line(component.instance_id_path or ""),
        "pods": pods,
        "addedContainers": added.get(component.name),
    }
    if component.scale_definition:
        for path, text in expressions_of(component.scale_definition):
            fields[str(path[0]).removesuffix("Path")] = _one_line(text)
    fields["elastic"] = annotations.is_elastic(component.name)
    if rules and rules.pods is not None:
        fields["selector"] = label_selector(definition, rules).selector
    return {name: value for name, value in fields.items() if value}


def _ways(matchers: Sequence[Matcher]) -> Iterator[str]:
    """Return a line for each matcher. Matchers that only read the phase share a line."""
    by_phase = [matcher for matcher in matchers if matcher.phase and matcher == Matcher(matcher.phase)]
    phases = " or ".join(matcher.phase for matcher in by_phase)
    for matcher in matchers:
        if matcher in by_phase:
            yield f"phase {phases}"
            continue
        needed = [f"phase {matcher.phase}"] if matcher.phase else []
        for condition in matcher.conditions:
            condition_text = condition.type
            if condition.status:
                condition_text += f"={condition.status}"
            if condition.reason:
                condition_text += f" ({condition.reason})"
            needed.append(condition_text)
        if matcher.expression:
            expression = _one_line(matcher.expression.text)
            needed.append(expression if matcher.expected == "true" else f"{expression} is {matcher.expected}")
        yield ", ".join(needed) or "always"


def _writes(components: Sequence[ComponentDefinition], actions: str) -> Iterator[str]:
    for component in components:
        for action in getattr(component.suspend_definition, actions, ()):
            yield f"{_one_line(action.path)} = {action.value}"


def _gang(gang: GangScheduling) -> Iterator[str]:
    for group in gang.pod_groups:
        members = []
        for member in group.members:
            by = ", ".join(map(_one_line, member.group_by))
            members.append(" by ".join(filter(None, (member.component, by))))
        yield f"{group.name}: {'; '.join(members)}"
    if gang.pod_group:
        components = ", ".join(sub_group.component for sub_group in gang.pod_group.sub_groups)
        yield f"{gang.pod_group.name}: {components}" if components else gang.pod_group.name
