"""The questions that two interpreters are asked: the calls of a suite, and one per operation for a plain object."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import (
    GVK,
    JSON,
    MOST_REPLICAS,
    NOTHING,
    NewObject,
    Object,
    edit,
    full_name,
    get,
    set_value,
)
from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.definitions.karta import KARTA, RESOURCE_INTERFACE, Definition, Retained
from karta_interpreter.definitions.karta.schema import other_file
from karta_interpreter.engine.comparison.interpreter import Interpreter, ask
from karta_interpreter.engine.comparison.script_members import (
    ADDED,
    MEMBER,
    Reads,
    other_value,
    read_members,
    reads_of,
    value_as_read,
)
from karta_interpreter.engine.operations import (
    RETAIN_REPLICAS,
    Call,
    Operation,
    StatusItem,
    TargetComponent,
    unless_broken,
)
from karta_interpreter.engine.suites import read_suite
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.lua.customization import KIND


def retentions(obj: Object, definitions: Iterable[Definition]) -> Iterator[tuple[str, Call]]:
    """Yield calls of Retain, each with a title: an object as the template, and a member that is made for it.

    The member differs at each place where a definition may keep a value, and at what a script reads.
    """
    definitions = tuple(definitions)
    reads = reads_of(definitions)
    template = {field: value for field, value in obj.items() if field != "status"}
    member: Object = {**obj, "spec": other_value(obj.get("spec"))}
    for labels in ("labels", "annotations"):
        member = set_value(member, ("metadata", labels, ADDED), MEMBER)
    retained = partial(Call, Operation.RETAIN, observed=_filled(member, definitions, reads))
    yield "beside other values", retained(template)
    yield "with little in the template", retained({**template, "spec": _bare(template.get("spec"))})
    queues = {name for definition in definitions if definition.suspend for name in definition.annotations.queue_labels}
    for name, value in ((RETAIN_REPLICAS, "true"), *((name, "queue") for name in sorted(queues))):
        yield f"with the label {name}", retained(set_value(template, ("metadata", "labels", name), value))
    for title, desired, observed in read_members(obj, reads):
        yield title, Call(Operation.RETAIN, desired, observed=observed)


def _bare(value: JSON) -> JSON:
    """Return a value without numbers, switches and maps of texts."""
    if isinstance(value, list):
        return [_bare(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {key: _bare(nested) for key, nested in value.items() if not _may_be_unset(nested)}


def _may_be_unset(value: JSON) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(isinstance(text, str) for text in value.values())
    return isinstance(value, int | float)


def _filled(member: Object, definitions: Iterable[Definition], reads: Reads) -> Object:
    """Return a member with a value wherever a definition keeps one, as far as there is an object for it."""
    for query, value in _kept(definitions):
        for path in unless_broken(query.known_paths, member) or ():
            if not path or get(member, path) is not None:
                continue
            if isinstance(path[-1], str) and isinstance(get(member, path[:-1]), dict):
                shaped = value_as_read(path, reads)
                member = set_value(member, path, value if shaped is NOTHING else shaped)
    return member


def _kept(definitions: Iterable[Definition]) -> Iterator[tuple[Query, JSON]]:
    for definition in definitions:
        yield from ((action.path, action.value) for action in definition.suspend)
        for rule in definition.annotations.retained:
            absent = rule.absent if isinstance(rule, Retained) else None
            yield rule.place, not absent if isinstance(absent, bool) else MEMBER


MEMBERS: Final = ("member1", "member2")
"""The clusters that report the status of a plain object."""
_DEFINITIONS: Final = (KARTA[1], RESOURCE_INTERFACE[1], KIND)

Sides: TypeAlias = Callable[[GVK], tuple[Interpreter | None, ...]]
"""The interpreters of a kind that are compared, None where nothing answers for it. The first answers today."""


class SourcedCall(Struct, frozen=True):
    """A call and its origin: the object, and the case of a suite or a made member if there is one."""

    gvk: GVK
    call: Call
    source: str
    line: int
    case: str = ""
    references: tuple[Object, ...] = ()

    @property
    def title(self) -> str:
        """The object, or the case, as people call it."""
        return self.case or full_name(self.call.object.get("metadata")) or "(no name)"


def questions_of(text: str, source: str, sides: Sides, replicas: int | None = None) -> Iterator[SourcedCall]:
    """Yield the calls of a suite, or about the objects of a text, without its definitions and customizations.

    ReviseReplica of a plain object asks for ``replicas``, or for one more than it has. ReviseComponents is asked with
    one more pod of each component, if all definitions of the kind answer it, and Retain in its `retentions`. Raises
    ManifestError, SuiteError, and InterpretationError for an object without a kind.
    """
    objects = read_objects(text, source)
    if any(isinstance(value, dict) and "operation" in value and "kind" not in value for _, _, value in objects):
        for case in read_suite(text, source):
            yield SourcedCall(GVK.of(case.call.object), case.call, source, case.line, case.name, case.references)
        return
    for document, _, value in objects:
        if edit.get(value, ("kind",)) not in _DEFINITIONS:
            yield from _questions_about(value, source, document.line, sides, replicas)


def _questions_about(obj: JSON, source: str, line: int, sides: Sides, replicas: int | None) -> Iterator[SourcedCall]:
    """Yield the questions about a plain object: one for each operation, and for Retain one for each made member."""
    try:
        gvk = GVK.of(obj if isinstance(obj, dict) else {})
    except InterpretationError as error:
        what = other_file(obj) if isinstance(obj, dict) else ""
        raise InterpretationError(f"{source}:{line}: {what or error}") from error
    interpreters = sides(gvk)
    definitions = [interpreter.entry.definition for interpreter in interpreters if interpreter]
    # The object is the template, and what two members report and run.
    template = {field: content for field, content in obj.items() if field != "status"}
    items = tuple(StatusItem(member, obj["status"]) for member in MEMBERS) if "status" in obj else ()
    total, components = _counted(interpreters[0], obj)
    wanted = min(total + 1, MOST_REPLICAS) if replicas is None else replicas
    for operation in Operation:
        if operation not in (Operation.RETAIN, Operation.REVISE_COMPONENTS):
            yield SourcedCall(gvk, Call.of(operation, template, obj, wanted, items), source, line)
    name = full_name(obj.get("metadata")) or "(no name)"
    if definitions and all(definition.answers(Operation.REVISE_COMPONENTS) for definition in definitions):
        for raised in components:
            more = tuple(part._replace(replicas=part.replicas + (part is raised)) for part in components)
            call = Call(Operation.REVISE_COMPONENTS, template, components=more)
            yield SourcedCall(gvk, call, source, line, f"{name} with one more {raised.name}")
    for title, call in retentions(obj, definitions):
        yield SourcedCall(gvk, call, source, line, f"{name} {title}")


def _counted(interpreter: Interpreter | None, obj: Object) -> tuple[int, list[TargetComponent]]:
    """Return how many pods an interpreter counts, and in which components."""
    counted: NewObject = {}
    if interpreter:
        for operation in (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT):
            counted.update(ask(interpreter, Call(operation, obj)).results or {})
    total = counted.get("replica", 0)
    components = [TargetComponent(part["name"], part["replicas"]) for part in counted.get("components") or ()]
    return total if isinstance(total, int) else 0, components
