"""What the user hands over in files or on standard input."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from interpreter.cli.problems import Problem, UsageProblem
from interpreter.cli.render.findings import findings_text
from interpreter.errors import InterpretationError, ManifestError
from interpreter.k8s.gvk import GVK
from interpreter.k8s.manifest import Document, read_documents
from interpreter.k8s.values import JSON, Object
from interpreter.operations import StatusItem
from interpreter.sources.catalogue import find_in_catalogue
from interpreter.sources.files import DefinitionFile, load_bytes
from interpreter.sources.folders import Folder
from interpreter.sources.listing import list_files
from interpreter.sources.precedence import Layer, combine
from interpreter.sources.snapshot import Entry

STDIN = "-"


def check_stdin(paths: Sequence[str]) -> None:
    """Stop when more than one option is to be read from standard input."""
    if paths.count(STDIN) > 1:
        raise UsageProblem('error: only one option can read standard input ("-")')


def read_object(path: str) -> Object:
    """The one object in a file, a folder or standard input."""
    found = [obj for document in _documents(path) for obj in _objects(document)]
    if not found:
        raise UsageProblem(f"error: {path}: there is no object in it")
    if len(found) > 1:
        raise UsageProblem(f"error: {path}: get {len(found)} objects, expect one at most")
    return found[0]


def read_items(path: str) -> tuple[StatusItem, ...]:
    """The status of each member cluster: one ``AggregatedStatusItem`` per document."""
    return tuple(map(_item, _documents(path)))


def read_layer(path: str) -> Layer:
    """The definitions in a file, a folder or standard input."""
    if path != STDIN:
        return Folder(Path(path)).read().layer()
    file = DefinitionFile(Path("stdin"), loaded=load_bytes(_stdin(), "stdin"))
    return Layer(tuple(file.entries()), tuple(file.quarantined()))


def definition_for(gvk: GVK, paths: Sequence[str]) -> Entry:
    """The definition of a kind from the given files, the first one winning, or else from the catalogue."""
    if not paths:
        entry = find_in_catalogue(gvk)
        if entry is None:
            raise Problem(f"error: the catalogue has no definition for {gvk}; give one with -f")
        return entry
    layers = [read_layer(path) for path in paths]
    found = combine(_about(gvk, layer) for layer in layers)
    findings = [*found.findings, *(finding for broken in found.quarantined for finding in broken.findings)]
    click.echo(findings_text(findings), err=True, nl=False)
    if gvk not in found.entries:
        defined = ", ".join(map(str, combine(layers).kinds())) or "nothing that can be used"
        raise Problem(f"error: the given files have no definition for {gvk}; they define {defined}")
    return found.entries[gvk]


def _about(gvk: GVK, layer: Layer) -> Layer:
    """What a layer has for one kind, and what it may have and cannot be read."""
    return Layer(
        tuple(entry for entry in layer.entries if entry.definition.gvk == gvk),
        tuple(broken for broken in layer.quarantined if broken.gvk in (gvk, None)),
    )


def _documents(path: str) -> Iterable[Document]:
    if path == STDIN:
        yield from _parse(_stdin(), "stdin")
        return
    listing = list_files(Path(path))
    for place, reason in listing.unreadable:
        raise UsageProblem(f"error: {place}: {reason}")
    for file in listing.files:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise UsageProblem(f"error: {file}: {error.strerror}") from error
        yield from _parse(content, str(file))


def _stdin() -> bytes:
    return sys.stdin.buffer.read()


def _parse(content: bytes, source: str) -> list[Document]:
    try:
        return read_documents(content.decode("utf-8-sig"), source)
    except ManifestError as error:
        raise Problem(f"error: {source}:{error.line}:{error.column}: {error}") from error
    except UnicodeDecodeError as error:
        raise Problem(f"error: {source}: not UTF-8 text, see byte {error.start}") from error


def _objects(document: Document) -> Iterable[Object]:
    """The object of a document; those of a ``List`` one by one, as kubectl takes them."""
    value = _object(document.value, document)
    items = value.get("items")
    if value.get("kind") != "List" or not isinstance(items, list):
        return [value]
    return [_object(item, document) for item in items]


def _object(value: JSON, document: Document) -> Object:
    if not isinstance(value, dict):
        raise Problem(f"error: {document.source}:{document.line}: this is not an object")
    return value


def _item(document: Document) -> StatusItem:
    try:
        return StatusItem.of(document.value, f"{document.source}:{document.line}: item")
    except InterpretationError as error:
        raise Problem(f"error: {error}") from error
