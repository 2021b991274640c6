"""The CustomResourceDefinitions that the user hands over."""

from collections.abc import Iterator, Sequence

from karta_interpreter.cli.errors import Problem, UsageProblem
from karta_interpreter.cli.files import read_texts
from karta_interpreter.errors import ManifestError
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.manifest import Document, read_documents
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.registration.discovery import CRD


def read_crds(paths: Sequence[str]) -> list[Object]:
    """Every CRD in files, folders and standard input; what else is in them is passed over."""
    found = [obj for path in paths for obj in _objects(path) if edit.get(obj, ("kind",)) == CRD]
    if not found:
        raise UsageProblem(f"error: {', '.join(paths)}: there is no {CRD} in it")
    return found


def _objects(path: str) -> Iterator[JSON]:
    for name, text in read_texts(path):
        for document in _documents(name, text):
            items = edit.get(document.value, ("items",))
            yield from items if isinstance(items, list) else [document.value]


def _documents(name: str, text: str) -> list[Document]:
    try:
        return read_documents(text, name)
    except ManifestError as error:
        raise Problem(f"error: {name}:{error.line}:{error.column}: {error}") from error
