"""The CustomResourceDefinitions that the user hands over."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from interpreter.cli.inputs import STDIN
from interpreter.cli.problems import Problem, UsageProblem
from interpreter.errors import ManifestError
from interpreter.k8s import edit
from interpreter.k8s.manifest import Document, read_documents
from interpreter.k8s.values import JSON, Object
from interpreter.registration.served import CRD
from interpreter.sources.listing import list_files


def read_crds(paths: Sequence[str]) -> list[Object]:
    """Every CRD in files, folders and standard input; what else is in them is passed over."""
    found = [obj for path in paths for obj in _objects(path) if edit.get(obj, ("kind",)) == CRD]
    if not found:
        raise UsageProblem(f"error: {', '.join(paths)}: there is no {CRD} in it")
    return found


def _objects(path: str) -> Iterator[JSON]:
    files = [path] if path == STDIN else [str(file) for file in list_files(Path(path)).files]
    for file in files:
        for document in _documents(file):
            items = edit.get(document.value, ("items",))
            yield from items if isinstance(items, list) else [document.value]


def _documents(file: str) -> list[Document]:
    try:
        with click.open_file(file, encoding="utf-8-sig") as stream:
            return read_documents(stream.read(), file)
    except ManifestError as error:
        raise Problem(f"error: {file}:{error.line}:{error.column}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"error: {file}: {error}") from error
