"""The calls that ``karta-interpreter diff`` makes: the calls of suites, and one per operation for a plain object."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, full_name, get, set_value
from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.cli.definitions import DEFINITIONS
from karta_interpreter.cli.files import STDIN, manifest_errors, read_texts
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.script_members import ADDED, MEMBER, other_value, read_members
from karta_interpreter.definitions.karta import Definition, Retained
from karta_interpreter.definitions.karta.schema import other_file
from karta_interpreter.engine.operations import (
    RETAIN_REPLICAS,
    Call,
    Operation,
    StatusItem,
    TargetComponent,
    unless_broken,
)
from karta_interpreter.engine.suites import find_suites, read_suite
from karta_interpreter.languages.jq import Query


def retentions(obj: Object, definitions: Iterable[Definition]) -> Iterator[tuple[str, Call]]:
    """Yield calls of Retain, each with a title: an object as the template, and a member that is made for it.

    The member differs at each place where a definition may keep a value, and at what a script reads.
    """
    definitions = tuple(definitions)
    template = {field: value for field, value in obj.items() if field != "status"}
    member: Object = {**obj, "spec": other_value(obj.get("spec"))}
    for labels in ("labels", "annotations"):
        member = set_value(member, ("metadata", labels, ADDED), MEMBER)
    retained = partial(Call, Operation.RETAIN, observed=_filled(member, definitions))
    yield "beside other values", retained(template)
    yield "with little in the template", retained({**template, "spec": _bare(template.get("spec"))})
    queues = {name for definition in definitions if definition.suspend for name in definition.annotations.queue_labels}
    for name, value in ((RETAIN_REPLICAS, "true"), *((name, "queue") for name in sorted(queues))):
        yield f"with the label {name}", retained(set_value(template, ("metadata", "labels", name), value))
    for title, desired, observed in read_members(obj, definitions):
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


def _filled(member: Object, definitions: Iterable[Definition]) -> Object:
    """Return a member with a value wherever a definition keeps one, as far as there is an object for it."""
    for query, value in _kept(definitions):
        for path in unless_broken(query.known_paths, member) or ():
            if not path or get(member, path) is not None:
                continue
            if isinstance(path[-1], str) and isinstance(get(member, path[:-1]), dict):
                member = set_value(member, path, value)
    return member


def _kept(definitions: Iterable[Definition]) -> Iterator[tuple[Query, JSON]]:
    for definition in definitions:
        yield from ((action.path, action.value) for action in definition.suspend)
        for rule in definition.annotations.retained:
            absent = rule.absent if isinstance(rule, Retained) else None
            yield rule.place, not absent if isinstance(absent, bool) else MEMBER


MEMBERS = ("member1", "member2")

_Finder: TypeAlias = Callable[[GVK], Iterable[Definition]]
Targets: TypeAlias = tuple[int, list[TargetComponent]]
"""The replicas that ReviseReplica writes, and the components that the object has."""


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


def read_questions(
    paths: Sequence[str], targets: Callable[[Object], Targets], definitions: _Finder
) -> list[SourcedCall]:
    """Read the calls of suites and of objects. Raises Problem for anything else.

    Definitions and customizations are passed over, so that a folder of the catalogue can be given. ``targets``
    gives the counts for a plain object. ReviseComponents is asked with one more pod of each component, if all
    ``definitions`` of the kind answer it, and Retain in their `retentions`.
    """
    # By their names: a suite is found below a folder, and may be named by itself as well.
    folders = [Path(path) for path in paths if path != STDIN and Path(path).is_dir()]
    suites = map(str, chain.from_iterable(map(find_suites, folders)))
    texts = dict(chain.from_iterable(map(read_texts, (*paths, *suites))))
    questions = list[SourcedCall]()
    for source, text in texts.items():
        questions += _read(text, source, targets, definitions)
    if not questions:
        raise Problem(
            f"error: {', '.join(paths)}: there is no object and no suite in it: it is empty, or has definitions"
        )
    return questions


def _read(text: str, source: str, targets: Callable[[Object], Targets], definitions: _Finder) -> Iterator[SourcedCall]:
    with manifest_errors(source):
        objects = read_objects(text, source)
    if any(isinstance(value, dict) and "operation" in value and "kind" not in value for _, _, value in objects):
        for case in read_suite(text, source):
            yield SourcedCall(GVK.of(case.call.object), case.call, source, case.line, case.name, case.references)
        return
    for document, _, value in objects:
        if edit.get(value, ("kind",)) not in DEFINITIONS:
            yield from _questions_about(value, source, document.line, targets, definitions)


def _questions_about(
    obj: JSON, source: str, line: int, targets: Callable[[Object], Targets], definitions: _Finder
) -> Iterator[SourcedCall]:
    """Yield the questions about a plain object: one for each operation, and for Retain one for each made member."""
    try:
        gvk = GVK.of(obj if isinstance(obj, dict) else {})
    except InterpretationError as error:
        what = other_file(obj) if isinstance(obj, dict) else ""
        raise Problem(f"error: {source}:{line}: {what or error}") from error
    # The object is the template, and what two members report and run.
    template = {field: content for field, content in obj.items() if field != "status"}
    items = tuple(StatusItem(member, obj["status"]) for member in MEMBERS) if "status" in obj else ()
    replicas, components = targets(obj)
    yield from (
        SourcedCall(gvk, Call.of(operation, template, obj, replicas, items), source, line)
        for operation in Operation
        if operation not in (Operation.RETAIN, Operation.REVISE_COMPONENTS)
    )
    name = full_name(obj.get("metadata")) or "(no name)"
    if {definition.answers(Operation.REVISE_COMPONENTS) for definition in definitions(gvk)} == {True}:
        for raised in components:
            more = tuple(part._replace(replicas=part.replicas + (part is raised)) for part in components)
            call = Call(Operation.REVISE_COMPONENTS, template, components=more)
            yield SourcedCall(gvk, call, source, line, f"{name} with one more {raised.name}")
    for title, call in retentions(obj, definitions(gvk)):
        yield SourcedCall(gvk, call, source, line, f"{name} {title}")
