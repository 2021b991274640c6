"""A Karta in the form that operations work with: frozen, every expression compiled once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, reduce
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeAlias

import msgspec
from msgspec import Struct, structs

from karta_interpreter.base.errors import QueryAbsentError
from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import GVK, JSON, Object, count_values, grouped
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.definitions.karta.identity import gvk_of
from karta_interpreter.definitions.karta.status_rules import StatusRules
from karta_interpreter.languages.jq import (
    CHARACTERS,
    MOST_OUTPUTS,
    Absent,
    Query,
    Unresolved,
    field_names,
    field_of,
    is_computed,
    parts_of,
    queries_in,
    render,
    syntax as ast,
    variables_in,
)
from karta_interpreter.languages.lua.script import Scripts

if TYPE_CHECKING:
    from karta_interpreter.definitions.karta.annotation_records import Annotations
    from karta_interpreter.definitions.karta.model import GangScheduling, PodSelector


class LabelOperator(StrEnum):
    """The operators of a label selector (``metav1.LabelSelectorOperator``)."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class LabelRule(Struct, frozen=True):
    """The requirement on one label. A value is text or an expression about the workload."""

    key: str
    operator: LabelOperator
    values: tuple[str | Query, ...] = ()


class Reference(Struct, frozen=True):
    """Where the value of a variable is.

    If ``lookup`` gives a name, the value is one object or null. If it gives an array of names, the value is a list of
    these objects. An object has the names that ``names`` gives for it, with their ranks, or its own. A missing object
    is reported unless it ``is_optional``. Without ``lookup`` it is the list of the objects that match the ``labels``.
    Namespaced objects are in the workload's namespace unless ``namespace`` gives another.
    """

    name: str
    gvk: GVK
    namespace: Query | None = None
    lookup: Query | None = None
    names: Query | None = None
    is_optional: bool = False
    labels: tuple[LabelRule, ...] = ()


class PodTemplate(Struct, frozen=True):
    """Pods given as whole templates (`podTemplateSpecPath`)."""

    query: Query


class PodSpec(Struct, frozen=True):
    """Pods given as bare pod specs (`podSpecPath`), their metadata elsewhere (`metadataPath`)."""

    query: Query
    metadata: Query | None = None


class Fragments(Struct, frozen=True):
    """Pods given in pieces (`fragmentedPodSpecDefinition`): schema field name and expression of each piece."""

    queries: tuple[tuple[str, Query], ...]


PodDefinition = PodTemplate | PodSpec | Fragments


_EMPTY_PODS: Final = PodTemplate(Query.compile("{spec: {}}"))


class QueuedFields(Struct, frozen=True):
    """Fields of pods that a queue adds to, while the pods run or also ``while_held``.

    ``missing`` is the number of fields at the end of the path that a template with pods may lack, such as labels with
    their metadata.
    """

    query: Query
    missing: int
    while_held: bool


@dataclass(frozen=True, slots=True)
class SuspendWrite:
    """One write of a suspend or resume: ``value`` is written to every path that ``path`` yields.

    Actions are compared by the ``text`` of the value, JSON: to Python, true is 1 and false is 0.
    """

    path: Query
    value: JSON = field(compare=False)
    text: str


class ComponentRules(Struct, frozen=True):
    """Where the parts of one component are. ``owner`` names its parent, ``definition`` names its Karta for messages."""

    definition: str
    name: str
    gvk: GVK | None = None
    owner: str | None = None
    pods: PodDefinition | None = None
    instance_ids: Query | None = None
    replicas: Query | None = None
    min_replicas: Query | None = None
    max_replicas: Query | None = None
    suspend: tuple[SuspendWrite, ...] = ()
    resume: tuple[SuspendWrite, ...] = ()
    selector: "PodSelector" = msgspec.field(default_factory=lambda: _first_used("model").PodSelector())

    def __str__(self) -> str:
        return f"definition {self.definition}, component {self.name}"

    @property
    def needs_no_piece(self) -> bool:
        """Whether pods in fragments exist even without a piece: pods of the root and of an instance with an id."""
        return self.instance_ids is not None or self.owner is None

    @property
    def count(self) -> Query | None:
        """The expression of the number of pods. Kinds that only have bounds run the minimum."""
        return self.replicas or self.min_replicas

    @property
    def has_default_count(self) -> bool:
        """Whether the count is ``.spec.replicas // 1`` or similar: a field in which its default can be written.

        Other unset fields mean something else, such as a ``parallelism`` without a limit. Nor is a quotient written,
        because it loses what was divided: seven tasks in slots of four are two pods, and two pods are eight tasks.
        """
        return _has_default(self.count.node if self.count else None)

    @property
    def pod_queries(self) -> Mapping[str, Query]:
        """The expressions for its pods by schema field, `podTemplateSpecPath` or `podSpecPath` first."""
        match self.pods:
            case None:
                return {}
            case PodTemplate(query):
                return {"podTemplateSpecPath": query}
            case PodSpec(query, metadata):
                return {"podSpecPath": query} if metadata is None else {"podSpecPath": query, "metadataPath": metadata}
            case Fragments(queries):
                return dict(queries)


_COUNTS: Final = frozenset(("replicas", "minReplicas", "instances", "spark.executor.instances"))


def _has_default(node: ast.Node | None) -> bool:
    """Return whether a count, or its first factor, is one of `_COUNTS` with a default, in a branch at least."""
    match node:
        case ast.Alternative(ast.Index(_, ast.Literal(key)), default) if key in _COUNTS:
            return not any(isinstance(part, ast.Binary) and part.operator == "/" for part in parts_of(default))
        case ast.Pipe(left, right) | ast.Comma(left, right):
            return _has_default(left) or _has_default(right)
        case ast.Array(part) | ast.Binary("*", part) | ast.Bind(_, _, part):
            return _has_default(part)
        case ast.If(branches, otherwise):
            return any(map(_has_default, (*(result for _, result in branches), otherwise)))
    return False


class DeviceCounting(NamedTuple):
    """What the devices of claims count as: the resource of each class, and how templates and other classes are found.

    ``look_up`` takes a kind in its versions, and a name. It raises QueryAbsentError for an object that is not there,
    QueryReferenceError for one that is not known now.
    """

    resources: Mapping[str, str]
    look_up: Callable[[tuple[GVK, ...], str], Object]


@dataclass(frozen=True, slots=True)
class Definition:
    """The compiled Karta of one kind of workload, with the scripts that take precedence over it."""

    name: str
    gvk: GVK
    components: tuple[ComponentRules, ...]
    """The root first, then the children in the order of the definition."""
    status: StatusRules | None = None
    annotations: "Annotations" = field(default_factory=lambda: _first_used("annotation_records").Annotations())
    source: str = ""
    uses_bounded: bool = False
    """Whether some expression runs outside this process."""
    has_many_expressions: bool = False
    """Whether a child process compiles and runs the expressions because they are too many or too long."""
    steps: int = field(default=0, compare=False)
    """The most steps that all expressions together take for each element of an object, 0 if tests bound their time."""
    findings: tuple[Finding, ...] = ()
    """The warnings it was loaded with."""
    manifest: Object = field(default_factory=dict, repr=False)
    """The Karta as it was loaded. Another process can make the same definition from it."""
    scripts: Scripts = field(default_factory=Scripts)
    has_karta: bool = True
    """False for a kind that only has scripts."""
    gang: "GangScheduling" = field(default_factory=lambda: _first_used("model").GangScheduling())
    references: tuple[Reference, ...] = ()
    """The references to look up before the expressions that read them
    (`karta_interpreter.definitions.karta.reference_resolver`).
    """
    is_counted_by_status: bool = False
    """Whether only the status says how many pods there are, such as one for each node. Karmada divides none of them."""
    absent: tuple[str, ...] = field(default=(), compare=False)
    """Why references lack objects that an object names."""
    reference_values: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    devices: DeviceCounting | None = field(default=None, compare=False, repr=False)
    """What the devices of claims count as, None if claims count nothing."""
    _queued: "Queued | None" = field(default=None, compare=False, repr=False)
    _bindings: "Bindings | None" = field(default=None, compare=False, repr=False)

    @classmethod
    def of_scripts(cls, gvk: GVK, scripts: Scripts) -> Self:
        """Return the definition of a kind with scripts and no Karta. It has the name of the first script."""
        first = next(iter(scripts))
        root = ComponentRules(first.name, gvk.kind.lower(), gvk)
        return cls(first.name, gvk, (root,), source=first.source, scripts=scripts, has_karta=False)

    @property
    def keeps_generation(self) -> bool:
        """Whether `observedGeneration` in a status is about the object, or is read by the mappings."""
        return self.annotations.observes_generation or bool(self.status and self.status.reads_observed_generation)

    @property
    def may_be_stale(self) -> bool:
        """Whether a status of an older generation is stale: `observedGeneration` counts, and no mapping compares it."""
        return self.annotations.observed_generation and self.shows_generation

    @property
    def shows_generation(self) -> bool:
        """Whether a status shows which generation it is about, and no mapping judges it, unless it may be late."""
        compares = self.status is not None and self.status.compares_generation
        return self.annotations.observes_generation and not (self.annotations.observed_generation and compares)

    def overridden(self, scripts: Scripts) -> Self:
        """Return a copy with overriding scripts for their operations."""
        return replace(self, scripts=scripts.over(self.scripts))

    def bounded_like(self, other: Self) -> Self:
        """Return a copy that may take as long as another definition, if both have the same expressions.

        >>> copy, other = (Definition("job", GVK("", "v1", "Job"), (), steps=steps) for steps in (9, 0))
        >>> different = replace(other, components=(ComponentRules("", "job"),))
        >>> copy.bounded_like(other).steps, copy.bounded_like(different).steps
        (0, 9)
        """
        is_like = self.steps != other.steps and _EXPRESSIONS(self) == _EXPRESSIONS(other)
        return replace(self, steps=other.steps) if is_like else self

    def prepare_like(self, earlier: Self) -> None:
        """Compile the expressions that are compiled in an earlier version of the definition, in the same places."""
        known = grouped((query.place, query) for query in queries_in(_EXPRESSIONS(earlier)))
        for query in queries_in(_EXPRESSIONS(self)):
            for other in known.get(query.place, ()):
                query.prepare_like(other)

    def bound(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with values for its references, by their names, and without references to look up.

        Pods and dependencies read a value that stays unknown as null, because the rest of them can be answered. A count
        or a status that reads it stays an error.
        """
        parts = {} if self._bindings is None else self._bindings.bound(values)
        lenient = {name: absent_if_unknown(value) for name, value in values.items()}
        if self._bindings is not None and lenient != values:
            parts, lenient_parts = {**parts}, self._bindings.bound(lenient)
            if "components" in parts:
                pairs = zip(parts["components"], lenient_parts["components"], strict=True)
                parts["components"] = tuple(structs.replace(component, pods=read.pods) for component, read in pairs)
            if "annotations" in parts:
                read = lenient_parts["annotations"]
                parts["annotations"] = structs.replace(
                    parts["annotations"],
                    dependencies=read.dependencies,
                    added_containers=read.added_containers,
                    unread=read.unread,
                )
        absent = (value.reason for value in lenient.values() if isinstance(value, Absent))
        return replace(self, references=(), absent=tuple(absent), reference_values=values, **parts)

    def counting(self, devices: DeviceCounting) -> Self:
        """Return a copy that counts the devices of claims."""
        return replace(self, devices=devices)

    def answers(self, operation: str) -> bool:
        """Return whether a script or (if that is allowed) the Karta answers an operation for this kind."""
        return bool(self.scripts.of(operation)) or (self._allows(operation) and not self.is_counted_apart(operation))

    def is_counted_apart(self, operation: str) -> bool:
        """Return whether the Karta does not answer an operation because an override answers only its other half.

        Both have to count alike, and the Karta would take a number of groups, or of anything else, as one of pods.
        """
        others = self.scripts.of(OTHER_HALF.get(operation, ""))
        is_apart = operation not in self.scripts.operations and any(not script.agrees for script in others)
        return is_apart and self._allows(operation)

    def _allows(self, operation: str) -> bool:
        allowed = self.annotations.operations
        return self.has_karta and (allowed is None or operation in allowed)

    def most_steps(self, text: bytes) -> int:
        """Return the most steps that all expressions together take on JSON with this text."""
        return self.steps * (count_values(text) + len(text) // CHARACTERS)

    @property
    def object_name(self) -> str:
        """The name of an object for this version alone: that of the Karta, with this version instead of its own."""
        own = gvk_of(self.manifest)
        if own is None or own == self.gvk:
            return self.name
        return f"{self.name.removesuffix(f'-{own.version}')}-{self.gvk.version}"

    @property
    def needs_child(self) -> bool:
        """Whether a server runs its expressions only in child processes: they could delay all other calls."""
        return self.uses_bounded or self.has_many_expressions

    @property
    def root(self) -> ComponentRules:
        """The component that is the workload object itself."""
        return self.components[0]

    @property
    def suspend(self) -> tuple[SuspendWrite, ...]:
        """The writes that suspend the workload: the children's first, then the root's, as Karta applies them."""
        return tuple(write for component in (*self.components[1:], self.root) for write in component.suspend)

    @property
    def resume(self) -> tuple[SuspendWrite, ...]:
        """The writes that resume the workload, in the order of `suspend`."""
        return tuple(write for component in (*self.components[1:], self.root) for write in component.resume)

    @property
    def queued(self) -> tuple[QueuedFields, ...]:
        """The fields of the components' pods that queues add to."""
        return self._queued.fields if self._queued and self.annotations.queue_labels else ()

    def component(self, name: str) -> ComponentRules | None:
        """Return the component of that name, None if it is unknown."""
        return next((component for component in self.components if component.name == name), None)

    @property
    def leaves(self) -> tuple[ComponentRules, ...]:
        """The components that have pods."""
        return tuple(component for component in self.components if component.pods is not None)

    @property
    def counted(self) -> tuple[ComponentRules, ...]:
        """The components with a number of pods. If no component has pods, the root with a count and an empty template.

        A number can be all that a kind has: an autoscaler's minimum, of pods whose templates are in another object.
        """
        if leaves := self.leaves:
            return leaves
        is_counted = self.root.count is not None and self.root.instance_ids is None
        return (structs.replace(self.root, pods=_EMPTY_PODS),) if is_counted else ()

    @property
    def in_units(self) -> Self | None:
        """A definition of the workload that counts units as if they were pods. None if the unit is a pod."""
        unit = self.annotations.unit
        if unit is None:
            return None
        root = ComponentRules(self.name, "unit", self.gvk, replicas=unit)
        return replace(self, components=(root,), annotations=structs.replace(self.annotations, unit=None, elastic=None))

    @property
    def in_pods(self) -> Self:
        """The definition without its unit."""
        return replace(self, annotations=structs.replace(self.annotations, unit=None))

    def lineage(self, name: str) -> tuple[ComponentRules, ...]:
        """Return a component and its owners up to the root, or nothing for an unknown component."""
        ancestors: list[ComponentRules] = []
        component = self.component(name)
        while component is not None:
            ancestors.append(component)
            component = None if component.owner is None else self.component(component.owner)
        return tuple(ancestors)


# The parts that have expressions.
_EXPRESSIONS: Final = attrgetter("components", "status", "annotations", "references")


def absent_if_unknown(value: Any) -> Any:  # noqa: ANN401 - the value of a reference
    """Return the value of a reference. A reference that stays unknown reads as null."""
    return Absent(value.reason) if isinstance(value, Unresolved) and value.error is QueryAbsentError else value


Binding: TypeAlias = Callable[[Mapping[str, JSON]], Any]
"""Copies a part of a definition, with values for its variables."""


class Bindings:
    """The parts of a definition that read references. They are found on first use, not for each call.

    A part that reads none stays the same object, so that definitions share it with its compiled expressions.

    >>> query = Query.compile(".n // $runtime.n", frozenset({"runtime"}))
    >>> bound = Bindings(counts=(query,), name="job").bound({"runtime": {"n": 2}})
    >>> [*bound], bound["counts"][0].evaluate({})
    (['counts'], [2])
    """

    def __init__(self, **parts: object) -> None:
        self._parts = parts
        self._unnamed: dict[tuple[tuple[str, bool], ...], dict[str, Any]] = {}

    def __getstate__(self) -> dict[str, object]:
        """Copy the parts. The copy finds its own bindings, which are functions."""
        return {"_parts": self._parts, "_unnamed": {}}

    @cached_property
    def _found(self) -> Mapping[str, Binding]:
        return _bindings(self._parts)

    def bound(self, values: Mapping[str, JSON]) -> dict[str, Any]:
        """Return the parts that read references, by their names, with values for the references."""
        if not all(value is None or value == [] for value in values.values()):
            return {name: binding(values) for name, binding in self._found.items()}
        # Most workloads name no other object. Copies of 25 expressions take 0.3 ms.
        key = tuple((name, value is None) for name, value in values.items())
        if key not in self._unnamed:
            self._unnamed[key] = {name: binding(values) for name, binding in self._found.items()}
        return self._unnamed[key]


def _bindings(parts: Mapping[str, object]) -> dict[str, Binding]:
    return {name: binding for name, item in parts.items() if (binding := _binding(item))}


def _binding(part: Any) -> Binding | None:  # noqa: ANN401 - any part of a definition
    """Return the binding of a part, None if nothing in it reads a variable."""
    match part:
        case Query():
            return part.bound if part.variables else None
        case tuple() if type(part) is tuple:  # a named tuple, such as a GVK, holds no expression
            items = [(_binding(item), item) for item in part]
            if any(binding for binding, _ in items):
                return lambda values: tuple(bind(values) if bind else item for bind, item in items)
        case _ if bindings := _bindings({name: getattr(part, name) for name in field_names(part)}):
            copy = structs.replace if isinstance(part, Struct) else replace
            return lambda values: copy(part, **{name: bind(values) for name, bind in bindings.items()})
    return None


_LABELLING: Final = ("labels", "annotations")


class Queued:
    """The fields of components' pods that queues add to, found on first use. Most definitions never need them."""

    def __init__(self, components: Iterable[ComponentRules]) -> None:
        self._components = components

    @cached_property
    def fields(self) -> tuple[QueuedFields, ...]:
        """The fields, one for each kind of field of each component."""
        queued: list[QueuedFields] = []
        for component in self._components:
            for nodes, missing, while_held in _queued_nodes(component.pods):
                # An expression that reads another object has no place in this one.
                if computable := [node for node in nodes if not variables_in(node) and not is_computed(node)]:
                    # Queries are compiled from text, which errors and explanations show. So render the nodes as jq.
                    text = render(reduce(ast.Comma, computable))
                    query = Query.compile(text, owner=component.definition, most=MOST_OUTPUTS)
                    queued += [QueuedFields(query, missing, while_held)] if query.is_plain else []
        return tuple(queued)


def _queued_nodes(pods: PodDefinition | None) -> Iterator[tuple[list[ast.Node], int, bool]]:
    metadata: ast.Node | None
    match pods:
        case PodTemplate(template):
            metadata, spec = field_of(template.node, "metadata"), field_of(template.node, "spec")
        case PodSpec(query, beside):
            metadata, spec = None if beside is None else beside.node, query.node
        case Fragments(queries):
            yield [query.node for field, query in queries if field.removesuffix("Path") in _LABELLING], 1, False
            return
        case None:
            return
    if metadata is not None:
        yield [field_of(metadata, name) for name in _LABELLING], 2, False
    yield [field_of(spec, name) for name in ("nodeSelector", "tolerations")], 1, False
    # When Kueue suspends a workload, it removes the fields of a flavor, but not the gate that its webhook has added.
    yield [field_of(spec, "schedulingGates")], 1, True


def _first_used(module: str) -> ModuleType:
    # With pydantic, so for the first definition only.
    return import_module(f"{__package__}.{module}")
