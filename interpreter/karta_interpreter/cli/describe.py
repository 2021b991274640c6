"""Describes a definition: the parts of a workload, its statuses, its operations; as text and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

import click

from karta_interpreter.cli.render import table
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
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

_WIDTH = 78
"""The width of the last column, for terminals with a hundred."""
_MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class Part:
    """One component: its kind (empty for one that is no object), the component that owns it, and its pods.

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

    def facts(self) -> Iterator[tuple[str, str]]:
        """The facts about it: name and value of each."""
        for attribute, _, label in _FACTS:
            value = getattr(self, attribute)
            if attribute == "pods":
                yield from ((f"pods: {field}" if len(value) > 1 else label, expression) for field, expression in value)
            elif value:
                yield label, "yes" if value is True else value

    def to_json(self) -> Object:
        """The same for machines."""
        fields = {name: getattr(self, attribute) for attribute, name, _ in _FACTS}
        fields["pods"] = dict(self.pods)
        return {"name": self.name, **{name: value for name, value in fields.items() if value}}


_FACTS = (
    ("kind", "kind", "kind"),
    ("owner", "ownerRef", "part of"),
    ("instances", "instances", "one for each"),
    ("pods", "pods", "pods"),
    ("added", "addedContainers", "operator adds"),
    ("replicas", "replicas", "replicas"),
    ("minimum", "minReplicas", "at least"),
    ("maximum", "maxReplicas", "at most"),
    ("elastic", "elastic", "elastic"),
)
"""The fields of `Part` with their names in JSON and in tables."""


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
    healthy: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    statuses: tuple[tuple[Status, str], ...] = ()
    suspend: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    gang: tuple[str, ...] = ()
    children: tuple[GVK, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, entry: Entry) -> "Description":
        """Describe an entry of a snapshot."""
        definition, annotations = entry.definition, entry.definition.annotations
        served = find_served(None, definition.gvk)
        karta, _ = read_karta(definition.manifest) if definition.has_karta else (None, ())
        return cls(
            definition.gvk,
            definition.name,
            entry.origin,
            annotations.written_from,
            operations_for(definition, served),
            operations_for(definition, served, multiple_pod_templates=True),
            tuple(sorted(definition.scripts.operations)),
            tuple(one_line(str(retained)) for retained in annotations.retain),
            annotations.queue_labels if definition.suspend else (),
            tuple(dict.fromkeys(each.kind for each in annotations.dependencies if isinstance(each, ExtraDependency))),
            tuple(f"{each.gvk.kind} as ${each.name}" for each in definition.references),
            tuple(_healthy(definition)),
            **_of_karta(karta, annotations) if karta else {},
        )

    @property
    def workers(self) -> tuple[Part, ...]:
        """The components that have pods."""
        return tuple(part for part in self.parts if part.pods)

    @property
    def gate_text(self) -> str:
        """The change of the registered operations by the feature gate MultiplePodTemplatesScheduling."""
        more = [each for each in self.gated if each not in self.operations]
        less = [each for each in self.operations if each not in self.gated]
        return f"{' and '.join(more)} instead of {' and '.join(less)}" if more else f"no {' and no '.join(less)}"

    @property
    def children_text(self) -> str:
        """The kinds of objects that the workload creates, each with its group."""
        return ", ".join(f"{gvk.kind} ({gvk.group})" if gvk.group else gvk.kind for gvk in self.children)


def one_line(text: str) -> str:
    """Take the line breaks out of an expression.

    >>> one_line('''.spec
    ...   | .replicas // 1''')
    '.spec | .replicas // 1'
    """
    return " ".join(text.split())


def _of_karta(karta: Karta, annotations: Annotations) -> dict[str, JSON]:
    structure = karta.spec.structure_definition
    elastic = annotations.elastic or ()
    added = {each.component: one_line(each.query.text) for each in annotations.added_containers}
    components = [component for _, component in structure.components]
    return {
        "parts": tuple(
            replace(_part(component), elastic=component.name in elastic, added=added.get(component.name, ""))
            for component in components
        ),
        "statuses": tuple(_statuses(structure.root_component)),
        "suspend": tuple(_writes(components, "suspend_actions")),
        "resume": tuple(_writes(components, "resume_actions")),
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
    if root.status_definition:
        for status in Status:
            matchers = getattr(root.status_definition.status_mappings, status.lower(), ())
            yield from ((status, way) for way in dict.fromkeys(_ways(matchers)))


def _healthy(definition: Definition) -> Iterator[str]:
    expression = definition.annotations.health
    if definition.scripts.of(Operation.INTERPRET_HEALTH):
        yield "a script decides"
    elif expression is not None:
        yield one_line(expression.text)
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
        expression = one_line(matcher.by_expression.expression)
        result = matcher.by_expression.expected_result
        yield expression if result == "true" else f"{expression} is {result}"


def _writes(components: Sequence[ComponentDefinition], actions: str) -> Iterator[str]:
    for component in components:
        for action in getattr(component.suspend_definition, actions, ()):
            yield f"{one_line(action.path)} = {action.value}"


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


def show_text(description: Description) -> str:
    """All facts about one kind: its operations, its components, its statuses."""
    components = [([part.name, name], value) for part in description.parts for name, value in part.facts()]
    sections = [
        f"{click.style(description.gvk.kind, bold=True)} {description.gvk.api_version}\n",
        table([row for name, value in _facts(description) for row in _wrapped(["", name], value)]),
        _section(["COMPONENT", "FIELD", "VALUE"], components),
        _section(["STATUS", "WHEN"], [([str(status)], way) for status, way in description.statuses]),
    ]
    return "\n".join(section for section in sections if section)


def _facts(description: Description) -> Iterator[tuple[str, str]]:
    yield "definition", f"{description.name} ({description.origin})"
    yield "written from", description.written_from or "-"
    yield "operations", ", ".join(description.operations)
    if description.gated != description.operations:
        yield "", f"with MultiplePodTemplatesScheduling {description.gate_text}"
    yield "healthy", ", ".join(description.healthy)
    yield "scripts", ", ".join(description.scripted) or "-"
    if description.references:
        yield "looks up", ", ".join(description.references)
    yield "retains", "; ".join(description.retain) or "-"
    if description.queued_by:
        yield "queued by", ", ".join(description.queued_by)
    yield "brings along", ", ".join(description.dependencies) or "-"
    yield "suspend", "; ".join(description.suspend) or "-"
    yield "resume", "; ".join(description.resume) or "-"
    yield "gang", " / ".join(description.gang) or "-"
    yield "creates", description.children_text or "-"


def _section(header: Sequence[str], rows: Iterable[tuple[list[str], str]]) -> str:
    """A table whose last column is wrapped, and whose first has a repeated value only once."""
    lines: list[list[str]] = []
    named = ""
    for (name, *cells), value in rows:
        lines += _wrapped(["" if name == named else name, *cells], value)
        named = name
    return table(lines, header=header) if lines else ""


def _wrapped(cells: list[str], value: str) -> Iterator[list[str]]:
    lines = wrap(value, _WIDTH, max_lines=_MOST_LINES, placeholder=" …", break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield [*(cells if number == 0 else [""] * len(cells)), line]
