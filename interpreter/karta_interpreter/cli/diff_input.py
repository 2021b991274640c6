"""The calls that ``karta-interpreter diff`` makes: those of suites, and for a plain object one per operation."""

import io
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.cli.definitions import DEFINITIONS, Interpreter, NoDefinition, interpreter_for
from karta_interpreter.cli.files import STDIN, is_url, manifest_errors, read_texts
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import full_name
from karta_interpreter.definitions.karta.loading import CORE
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.engine.suites.suite import find_suites, read_suite

MEMBERS = ("member1", "member2")


@dataclass(frozen=True, slots=True)
class SourcedCall:
    """A call, and where it comes from: the object, and the case of a suite if there is one."""

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


def read_questions(paths: Sequence[str], replicas: Callable[[Object], int]) -> list[SourcedCall]:
    """Read the calls of suites and of objects; raises Problem for what is neither.

    Definitions and customizations are passed over, so that a folder of the catalogue can be given. ``replicas`` is
    the count that ReviseReplica writes into a plain object.
    """
    # By their names: a suite is found below a folder, and may be named by itself as well.
    texts = dict(text for path in paths for place in (path, *_suites(path)) for text in read_texts(place))
    found = [each for source, text in texts.items() for each in _read(text, source, replicas)]
    if not found:
        raise Problem(f"error: {', '.join(paths)}: there is no object and no suite in it")
    return found


def _suites(path: str) -> Iterator[str]:
    """Yield the suites below a folder, which a scan for definitions leaves out."""
    if path != STDIN and Path(path).is_dir():
        yield from map(str, find_suites(Path(path)))


def _read(text: str, source: str, replicas: Callable[[Object], int]) -> Iterable[SourcedCall]:
    try:
        with manifest_errors(source):
            objects = read_objects(text, source)
        if any(_is_case(value) for _, _, value in objects):
            return [
                SourcedCall(GVK.of(case.call.object), case.call, source, case.line, case.name, case.references)
                for case in read_suite(text, source)
            ]
    except (SuiteError, InterpretationError) as error:
        raise Problem(f"error: {error}") from error
    return [
        question
        for document, _, value in objects
        if edit.get(value, ("kind",)) not in DEFINITIONS
        for question in _of_object(value, source, document.line, replicas)
    ]


def _is_case(value: JSON) -> bool:
    return isinstance(value, dict) and "operation" in value and "kind" not in value


def _of_object(obj: JSON, source: str, line: int, replicas: Callable[[Object], int]) -> Iterator[SourcedCall]:
    try:
        gvk = GVK.of(obj if isinstance(obj, dict) else {})
    except InterpretationError as error:
        raise Problem(f"error: {source}:{line}: {error}") from error
    # The object is the template, and what two members report and run.
    template = {field: content for field, content in obj.items() if field != "status"}
    items = tuple(StatusItem(member, obj["status"]) for member in MEMBERS) if "status" in obj else ()
    for operation in Operation:
        yield SourcedCall(gvk, Call.of(operation, template, obj, replicas(obj), items), source, line)


CATALOGUE = "catalogue"
_FOLDER = "kartas"
"""Where a repository has the catalogue, a folder for each group, version and kind."""


Side = Callable[[GVK], Interpreter | None]
"""One side: what answers for a kind, None where nothing does."""


def side_of(text: str, opened: ExitStack) -> Side:
    """Read a side as the command line names it; raises UsageProblem for an unknown name.

    A path holds Kartas or customizations. ``catalogue`` is the embedded one, a kind is one definition of it, and
    ``@REVISION``, alone or after either, takes the catalogue from a git revision. ``opened`` removes what was checked
    out.
    """
    return cache(finder_of(text, opened))


def finder_of(text: str, opened: ExitStack) -> Side:
    """Read a side as `side_of` does: for other processes, each of which keeps what it finds."""
    if text == STDIN or is_url(text) or Path(text).exists():
        return partial(_given, paths=[text])
    name, at, revision = text.partition("@")
    if at and (not revision or revision.startswith("-")):  # git would take it for an option
        raise UsageProblem(f"error: {text}: give a git revision after the @")
    name, folder = name or CATALOGUE, _checked_out(revision, opened) if revision else None
    if name != CATALOGUE:
        _check_kind(name, folder)
    return partial(_named, name, folder)


def _named(name: str, folder: Path | None, gvk: GVK) -> Interpreter | None:
    if not _is_about(name, gvk):
        return None
    return _at_revision(folder, gvk) if folder else _given(gvk, [])


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (CATALOGUE, *gvk.names)


def _check_kind(name: str, folder: Path | None) -> None:
    """Raise UsageProblem for a kind that neither the embedded catalogue has, nor the one in a folder."""
    known = [entry.definition.gvk for entry in load_catalogue().entries]
    if folder:
        known += [GVK(*path.parts[-4:-1]) for path in folder.glob("*/*/*/karta.yaml")]
    if not any(_is_about(name, gvk) for gvk in known):
        hint = did_you_mean(name, sorted({gvk.kind for gvk in known}))
        known_sides = "a kind of the catalogue or catalogue[@REVISION]"
        raise UsageProblem(f"error: {name} is not a file, {known_sides}; {hint}")


def _given(gvk: GVK, paths: list[str]) -> Interpreter | None:
    try:
        return interpreter_for(gvk, paths, [])
    except NoDefinition:
        return None


def _at_revision(folder: Path, gvk: GVK) -> Interpreter | None:
    place = folder / (gvk.group or CORE) / gvk.version / gvk.kind
    return _given(gvk, [str(place)]) if place.is_dir() else None


def _checked_out(revision: str, opened: ExitStack) -> Path:
    """Return a folder with the catalogue of a git revision of the repository around the current folder."""
    top = _git(revision, "rev-parse", "--show-toplevel").decode().strip()
    # git archive takes a path relative to the current folder, which may be below the top.
    content = _git(revision, "-C", top, "archive", "--format=tar", revision, "--", _FOLDER)
    folder = Path(opened.enter_context(TemporaryDirectory(prefix="karta-interpreter-")))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")  # no links or paths out of the folder: a repository may be hostile
    return folder / _FOLDER


def _git(revision: str, *arguments: str) -> bytes:
    problem = f"error: cannot read the catalogue of git revision {revision}"
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout  # noqa: S603, S607 - no shell
    except FileNotFoundError as error:
        raise Problem(f"{problem}: git is not installed") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()
        raise Problem(f"{problem}: {reason[-1] if reason else 'git failed'}") from error
