"""Describes a definition: the parts of a workload, its statuses, its operations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.annotations import Annotations, ExtraDependency
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.model import ComponentDefinition, GangScheduling, Karta
from karta_interpreter.karta.schema import read_karta
from karta_interpreter.karta.schema_types import expressions
from karta_interpreter.karta.status import Status
from karta_interpreter.karta.status_rules import StatusMatcher
from karta_interpreter.operations import Operation
from karta_interpreter.operations.interpret_health import healthy_statuses
from karta_interpreter.registration.discovery import find_served
from karta_interpreter.registration.operations import operations_for
from karta_interpreter.sources.snapshot import Entry


@dataclass(frozen=True, slots=True)
class Part:
    """One component: its kind (empty for one that is no object), whose part it is, and where its pods are.

    Each of ``pods``, ``instances`` and the counts is an expression, or empty; ``pods`` has several where they are
    scattered, with the name of the field that each is for. ``elastic``: ReviseReplica may change it by name,
    ``added`` is the expression for the containers that the operator adds.
    """

    name: str
    kind: str = ""
    owner: str = ""
    pods: tuple[tuple[str, str], ...] = ()
    instances: str = ""
    replicas: str = ""
    minimum: str = ""
    maximum: str = ""
    elastic: bool = False
    added: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """A definition as it is shown; what it does not have is empty.

    ``operations`` are those that are registered with Karmada, ``gated`` those with its feature gate
    MultiplePodTemplatesScheduling; ``scripted`` are answered by scripts. ``dependencies`` are the kinds of objects that
    it names beside those in pods, ``references`` those that it reads. ``statuses`` has a line for each way to have
    a status, ``gang`` one for each pod group. ``healthy`` has the statuses that count as healthy, or what decides.
    """

    gvk: GVK
    name: str
    origin: str
    written_from: str
    operations: tuple[Operation, ...]
    gated: tuple[Operation, ...]
    scripted: tuple[str, ...] = ()
    retain: tuple[str, ...] = ()
    queued_by: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    statuses: tuple[tuple[Status, str], ...] = ()
    healthy: tuple[str, ...] = ()
    suspend: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    gang: tuple[str, ...] = ()
    children: tuple[GVK, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, entry: Entry) -> "Description":
        """Describe an entry of a snapshot."""
        definition, said = entry.definition, entry.definition.annotations
        served = find_served(None, definition.gvk)
        karta, _ = read_karta(definition.manifest) if definition.has_karta else (None, ())
        return cls(
            definition.gvk,
            definition.name,
            entry.origin,
            said.written_from,
            operations_for(definition, served),
            operations_for(definition, served, multiple_pod_templates=True),
            tuple(sorted(definition.scripts.operations)),
            tuple(one_line(str(retained)) for retained in said.retain),
            said.queue_labels if definition.suspend else (),
            tuple(dict.fromkeys(each.kind for each in said.dependencies if isinstance(each, ExtraDependency))),
            tuple(f"{each.gvk.kind} as ${each.name}" for each in definition.references),
            healthy=tuple(_healthy(definition)),
            **_said(karta, said) if karta else {},
        )

    @property
    def workers(self) -> tuple[Part, ...]:
        """The components that have pods."""
        return tuple(part for part in self.parts if part.pods)


def one_line(text: str) -> str:
    """Take the line breaks out of an expression.

    >>> one_line('''.spec
    ...   | .replicas // 1''')
    '.spec | .replicas // 1'
    """
    return " ".join(text.split())


def _said(karta: Karta, annotations: Annotations) -> dict[str, JSON]:
    structure = karta.spec.structure_definition
    elastic = annotations.elastic or ()
    added = {each.component: one_line(each.query.text) for each in annotations.added}
    components = [component for _, component in structure.components]
    return {
        "parts": tuple(
            replace(_part(component), elastic=component.name in elastic, added=added.get(component.name, ""))
            for component in components
        ),
        "statuses": tuple(_statuses(structure.root_component)),
        "suspend": tuple(_writes(components, suspend=True)),
        "resume": tuple(_writes(components, suspend=False)),
        "gang": tuple(_gang(karta.spec.gang)),
        "children": tuple(GVK(kind.group, kind.version, kind.kind) for kind in structure.additional_child_kinds),
        "annotations": tuple(sorted(karta.annotations.items())),
    }


def _part(component: ComponentDefinition) -> Part:
    spec, scale = component.spec_definition, component.scale_definition
    pods = expressions(spec) if spec else ()
    counts = {str(path[0]): one_line(text) for path, text in expressions(scale)} if scale else {}
    return Part(
        component.name,
        component.kind.kind if component.kind else "",
        component.owner_ref or "",
        tuple((str(path[-1]).removesuffix("Path"), one_line(text)) for path, text in pods),
        one_line(component.instance_id_path or ""),
        counts.get("replicasPath", ""),
        counts.get("minReplicasPath", ""),
        counts.get("maxReplicasPath", ""),
    )


def _statuses(root: ComponentDefinition) -> Iterator[tuple[Status, str]]:
    if root.status_definition is None:
        return
    for status in Status:
        matchers = getattr(root.status_definition.status_mappings, status.lower(), ())
        for way in dict.fromkeys(_ways(matchers)):
            yield status, way


def _healthy(definition: Definition) -> Iterator[str]:
    expression = definition.annotations.health
    if definition.scripts.of(Operation.INTERPRET_HEALTH):
        yield "a script tells"
    elif expression is not None:
        yield one_line(expression.text)
    else:
        healthy = healthy_statuses(definition)
        yield from (str(status) for status in Status if status in healthy)


def _ways(matchers: Sequence[StatusMatcher]) -> Iterator[str]:
    """A line for each matcher; those that only look at the phase share one."""
    phases = [matcher.by_phase for matcher in matchers if matcher.by_phase and len(list(_conditions(matcher))) == 1]
    for matcher in matchers:
        if matcher.by_phase in phases and len(list(_conditions(matcher))) == 1:
            yield f"phase {' or '.join(phases)}"
        else:
            yield ", ".join(_conditions(matcher)) or "always"


def _conditions(matcher: StatusMatcher) -> Iterator[str]:
    if matcher.by_phase:
        yield f"phase {matcher.by_phase}"
    for condition in matcher.by_conditions:
        status = f"={condition.status}" if condition.status else ""
        yield f"{condition.type}{status}{f' ({condition.reason})' if condition.reason else ''}"
    if matcher.by_expression:
        expression = one_line(matcher.by_expression.expression)
        result = matcher.by_expression.expected_result
        yield expression if result == "true" else f"{expression} is {result}"


def _writes(components: Sequence[ComponentDefinition], *, suspend: bool) -> Iterator[str]:
    for component in components:
        definition = component.suspend_definition
        if definition:
            actions = definition.suspend_actions if suspend else definition.resume_actions
            yield from (f"{one_line(action.path)} = {action.value}" for action in actions)


def _gang(gang: GangScheduling) -> Iterator[str]:
    for group in gang.keyed:
        members = "; ".join(
            " by ".join(filter(None, (member.component, ", ".join(map(one_line, member.group_by)))))
            for member in group.members
        )
        yield f"{group.name}: {members}"
    if gang.whole:
        parts = ", ".join(part.component for part in gang.whole.parts)
        yield f"{gang.whole.name}: {parts}" if parts else gang.whole.name
