"""The calls that ``karta-interpreter diff`` makes: the calls of suites, and one per operation for a plain object."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK, JSON, Object, edit
from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.cli.definitions import DEFINITIONS
from karta_interpreter.cli.files import STDIN, manifest_errors, read_texts
from karta_interpreter.cli.made_members import made_members
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import full_name
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.engine.suites.suite import find_suites, read_suite

MEMBERS = ("member1", "member2")

_Finder: TypeAlias = Callable[[GVK], Iterable[Definition]]


@dataclass(frozen=True, slots=True)
class SourcedCall:
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


def read_questions(paths: Sequence[str], replicas: Callable[[Object], int], definitions: _Finder) -> list[SourcedCall]:
    """Read the calls of suites and of objects. Raises Problem for anything else.

    Definitions and customizations are passed over, so that a folder of the catalogue can be given. ``replicas`` is
    the count that ReviseReplica writes into a plain object. Retain is asked about it next to `made_members` of the
    ``definitions`` of its kind.
    """
    # By their names: a suite is found below a folder, and may be named by itself as well.
    suites = [
        *map(
            str, (suite for path in paths if path != STDIN and Path(path).is_dir() for suite in find_suites(Path(path)))
        )
    ]
    texts = dict(text for place in (*paths, *suites) for text in read_texts(place))
    found = [each for source, text in texts.items() for each in _read(text, source, replicas, definitions)]
    if not found:
        raise Problem(f"error: {', '.join(paths)}: there is no object and no suite in it")
    return found


def _read(text: str, source: str, replicas: Callable[[Object], int], definitions: _Finder) -> Iterable[SourcedCall]:
    with manifest_errors(source):
        objects = read_objects(text, source)
    if any(isinstance(value, dict) and "operation" in value and "kind" not in value for _, _, value in objects):
        return [
            SourcedCall(GVK.of(case.call.object), case.call, source, case.line, case.name, case.references)
            for case in read_suite(text, source)
        ]
    return [
        question
        for document, _, value in objects
        if edit.get(value, ("kind",)) not in DEFINITIONS
        for question in _questions_about(value, source, document.line, replicas, definitions)
    ]


def _questions_about(
    obj: JSON, source: str, line: int, replicas: Callable[[Object], int], definitions: _Finder
) -> Iterator[SourcedCall]:
    """Yield the questions about a plain object: one for each operation, and for Retain one for each made member."""
    try:
        gvk = GVK.of(obj if isinstance(obj, dict) else {})
    except InterpretationError as error:
        raise Problem(f"error: {source}:{line}: {error}") from error
    # The object is the template, and what two members report and run.
    template = {field: content for field, content in obj.items() if field != "status"}
    items = tuple(StatusItem(member, obj["status"]) for member in MEMBERS) if "status" in obj else ()
    yield from (
        SourcedCall(gvk, Call.of(operation, template, obj, replicas(obj), items), source, line)
        for operation in Operation
        if operation not in (Operation.RETAIN, Operation.REVISE_COMPONENTS)
    )
    for member in made_members(obj, definitions(gvk)):
        title = f"{full_name(obj.get('metadata')) or '(no name)'} {member.title}"
        yield SourcedCall(gvk, Call.of(Operation.RETAIN, member.desired, member.observed), source, line, title)
