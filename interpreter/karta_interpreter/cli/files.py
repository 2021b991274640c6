"""The input of commands: objects in files, in folders and on standard input."""

import os
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import ENOENT
from functools import cache
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Final, TypeVar

from karta_interpreter.base.errors import InterpretationError, ManifestError
from karta_interpreter.base.files import NewFiles
from karta_interpreter.base.findings import closest, escaped, listed
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, full_name, manifest, objects_in
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import say
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.schema import other_file
from karta_interpreter.definitions.sources import decode, list_files
from karta_interpreter.definitions.sources.file_scan import read_file
from karta_interpreter.engine.operations import StatusItem
from karta_interpreter.engine.registered.operations import CRD

STDIN = "-"
# The most bytes of a file of objects. Those of all pods of a large cluster have less.
_LARGEST: Final = 2**28
_Read = TypeVar("_Read")
Kinds = Callable[[], Iterable[GVK]]  # of the definitions in use, which are read only if they matter
# KIND/NAME, as kubectl writes it, and no API version.
_OBJECT = re.compile(r"([A-Za-z][A-Za-z0-9.]*)/(?!v[0-9]\w*$)([a-z0-9-]+)")
_PRINTS = "`kubectl get KIND NAME -o yaml` prints one"
EMPTY = ": it is empty, or a List without items"


def check_stdin(paths: Iterable[str]) -> None:
    """Stop when more than one option is to be read from standard input."""
    if [*paths].count(STDIN) > 1:
        raise UsageProblem('error: only one option can read standard input ("-")')


def check_path(path: str) -> None:
    """Stop at an empty path, which would be the current folder."""
    if not path:
        raise UsageProblem("error: a path is empty; is a variable of the shell not set?")


def read_object(path: str, kinds: Kinds | None = None) -> Object:
    """Return the one object in a file, a folder or standard input. Of several, take the one of ``kinds``, if any."""
    objects = read_objects(path, kinds)
    if len(objects) > 1:
        names = ", ".join(map(named, objects[:8]))
        raise Problem(f"error: {path} contains {len(objects)} objects, pass one of them: {names}")
    return objects[0]


def read_objects(path: str, kinds: Kinds | None = None) -> list[Object]:
    """Return all objects in a file, a folder or standard input, and items of a ``List`` one by one, as kubectl does.

    Of several objects, only objects of the ``kinds``, if any: samples have Secrets and Services with the workload.
    A single one has to name its kind then. Raises Problem without an object.
    """
    objects = list(starmap(_object, _values(path)))
    if not objects:
        raise Problem(f"error: {path}: it contains no object{EMPTY}")
    if kinds and len(objects) == 1:
        try:
            GVK.of(objects[0])
        except InterpretationError as error:
            fields = f", only {listed(objects[0])}" if objects[0] else ""
            raise Problem(f"error: {path}: {error}{fields}; {other_file(objects[0]) or _PRINTS}") from error
    if kinds is None or len(objects) == 1:
        return objects
    types = {(gvk.api_version, gvk.kind) for gvk in kinds()}
    matching = [obj for obj in objects if not types or (obj.get("apiVersion"), obj.get("kind")) in types]
    if not matching:
        raise Problem(
            f"error: {path} has no object of a kind that the definitions describe: "
            f"{other_file(objects[0]) or ', '.join(map(named, objects[:8]))}"
        )
    return matching


def read_references(paths: Iterable[str], definition: Definition, others: Iterable[GVK] = ()) -> list[Object]:
    """Return the objects that answers may look up: of kinds of the definition's references, or of ``others``.

    If there is no object of these kinds, stderr says so.
    """
    objects = [*chain.from_iterable(map(read_objects, paths))]
    looked_up = dict.fromkeys(map(str, (*(reference.gvk for reference in definition.references), *others)))
    if objects and not any(f"{obj.get('apiVersion')}, Kind={obj.get('kind')}" in looked_up for obj in objects):
        # kubectl prints the version that its server prefers.
        names = ", ".join(f"{named(obj)} ({obj.get('apiVersion', '')})" for obj in objects[:8])
        say(escaped(f"warning: the definition looks up {listed(looked_up) or 'no objects'}, not {names}"), err=True)
    return objects


def named(obj: Object) -> str:
    """Return the kind and the name of an object, as errors name it."""
    return f"{obj.get('kind', 'one without a kind')} {full_name(obj.get('metadata'))}".rstrip()


def read_items(path: str) -> tuple[StatusItem, ...]:
    """Return the status of each member cluster: one ``AggregatedStatusItem`` per document, or a list of them."""
    from karta_interpreter.engine.operations import status_items  # noqa: PLC0415 - one option of one command needs it

    clusters = set[str]()
    items = _read(path, lambda text, source: status_items.read_items(text, source, clusters))
    return tuple(item for _, item in items)


def read_texts(path: str) -> Iterable[tuple[str, str]]:
    """Yield the name and the text of a file, of each file in a folder, or of standard input."""
    check_path(path)
    content = read_stream(path)
    if content is not None:
        name = "stdin" if path == STDIN else path
        yield name, _text(content, name)
        return
    listing = list_files(Path(path), links_out=False)
    for place, reason in listing.unreadable:
        raise missing(path) if reason == os.strerror(ENOENT) else UsageProblem(f"error: {place}: {reason}")
    for file in listing.files:
        try:
            content = read_file(file, _LARGEST)
        except OSError as error:
            raise UsageProblem(f"error: {file}: {error.strerror}") from error
        yield str(file), _text(content, str(file))


def missing(path: str) -> UsageProblem:
    """Return the error about a path that does not exist, with the closest name in its folder.

    >>> print(missing("rayjob/demo"))
    error: rayjob/demo: No such file or directory
    """
    folder, near = Path(path).parent, ""
    if exists(str(folder)):
        near = closest(Path(path).name, [entry.name for entry in islice(folder.glob("*"), 500)])
    suggestion = f"; did you mean {Path(path).with_name(near)}?" if near else ""
    return UsageProblem(f"error: {path}: {os.strerror(ENOENT)}{suggestion}")


def read_stream(path: str) -> bytes | None:
    """Return the content of standard input or a pipe, such as a shell's ``<(…)``. None for files and folders.

    Content that can be read only once is kept, because definitions are looked up again for each kind.
    """
    if path == STDIN and sys.stdin is None:  # a process may be started without one
        raise UsageProblem("error: standard input is closed")
    try:
        if path == STDIN:
            return _read_once(path, sys.stdin.buffer)
        if Path(path).is_fifo():
            return _read_once(path, Path(path).stat().st_ino)
    except OSError as error:
        raise UsageProblem(f"error: {path}: {error.strerror}") from error
    return None


@cache
def _read_once(path: str, _: Hashable) -> bytes:
    """Return the content of standard input or a pipe, which the second argument tells from others of the same path."""
    return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()


@contextmanager
def manifest_errors(source: str) -> Iterator[None]:
    """Make a Problem of text that is not a manifest."""
    try:
        yield
    except ManifestError as error:
        raise Problem(f"error: {source}:{error.line}:{error.column}: {error}") from error


def _read(path: str, reader: Callable[[str, str], Iterable[_Read]]) -> Iterator[_Read]:
    for source, text in read_texts(path):
        with manifest_errors(source):
            yield from reader(text, source)


def _values(path: str) -> Iterator[tuple[manifest.Document, JSON]]:
    """Yield each value that stands for an object, with its document."""
    values = _read(path, lambda text, source: manifest.read_objects(text, source, CRD, "Pod"))
    return ((document, value) for document, _, value in values)


def _text(content: bytes, source: str) -> str:
    text, reason = decode(content)
    if reason:
        raise Problem(f"error: {source}: {reason}")
    return text


def _object(document: manifest.Document, value: JSON) -> Object:
    if not isinstance(value, dict):
        raise Problem(
            f"error: {document.source}:{document.line}: this is not an object but {repr(value)[:40]}; "
            f"{next(filter(None, map(other_file, objects_in(value))), _PRINTS)}"
        )
    metadata, place = value.get("metadata") or {}, f"{document.source}:{document.line}"
    if not isinstance(metadata, dict):
        raise Problem(f"error: {place}: metadata must be an object, with a name in it")
    for key in ("labels", "annotations"):
        if not isinstance(metadata.get(key) or {}, dict):
            raise Problem(f"error: {place}: metadata.{key} must be an object: write {key}: {{KEY: VALUE}}")
    return value


def read_crds(paths: Sequence[str]) -> list[Object]:
    """Return every CRD in files, folders and standard input. Other objects in them are ignored."""
    values = [value for _, value in chain.from_iterable(map(_values, paths))]
    crds = [value for value in values if edit.get(value, ("kind",)) == CRD]
    if not crds:
        unexpected = listed(named(value) for value in values if isinstance(value, dict))
        advice = f", only {unexpected}; `kubectl get crd NAME -o yaml` prints one" if unexpected else EMPTY
        raise Problem(f"error: {', '.join(paths)}: there is no {CRD} in it{advice}")
    return crds


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none: they are moved into the folder when the last one is complete."""
    if folder.is_file() or (folder.suffix in (".yaml", ".yml", ".json", ".lua") and not folder.is_dir()):
        raise Problem(f"error: {folder} is a file; name a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:
            if (folder / name).is_dir():  # the files before it would be there already
                raise Problem(f"error: {folder / name}: Is a directory")
        with NewFiles() as new:
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with new.open(folder / name) as file:
                    file.write(text.encode())
    except OSError as error:
        raise Problem(f"error: {error.filename or folder}: {error.strerror}") from error


def exists(path: str) -> bool:
    """Return whether something is at a path. A text of any length is asked about, for which Path raises OSError."""
    return os.path.exists(path)  # noqa: PTH110


def is_path(target: str) -> bool:
    """Return whether an argument is a file, folder or standard input. Raises UsageProblem for a missing file."""
    if target == STDIN or exists(target):
        return True
    if Path(target).suffix in (".yaml", ".yml", ".json") or _OBJECT.fullmatch(target) or target.endswith("/"):
        raise missing(target)
    return False


def file_given(file: str | None, path: str | None, option: str = "--object") -> str | None:
    """Return the path that FILE or its option names, or None if there is none."""
    if file and path is not None:
        raise UsageProblem(
            f"error: FILE and {option} both name the object, here {file} and {path}: give one of them; "
            "definitions are given with -f"
        )
    return file or path
