"""Reads the Kartas of a source: a file, a text or an object."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.findings import error
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta.loading import Loaded, load_documents, load_object
from karta_interpreter.engine.workload.document import check_json

_TEXT = "<text>"
_TEXT_START = re.compile(r"\n|^\s*(?:\{|\w+:(?:\s|$))")
_OBJECT = "<object>"


def read(source: Path | str | Object) -> tuple[Loaded, ...]:
    """Load each Karta of a source. Never raises, not even for a missing file."""
    if isinstance(source, str) and _TEXT_START.search(source):
        return tuple(load_documents(source, _TEXT))
    if isinstance(source, str) and not source.strip():
        return (_unusable("unreadable", "the text is empty; a Karta has apiVersion, kind and spec", _TEXT),)
    if isinstance(source, str | Path):
        return tuple(_read_file(source))
    try:
        check_json(source)
    except WorkloadError as err:
        other = f"a Karta is read from a path, a text or an object, not {type(source).__name__}"
        return (_unusable("schema", str(err) if isinstance(source, dict) else other, _OBJECT),)
    return (load_object(source, _OBJECT),)


def _read_file(path: Path | str) -> Iterable[Loaded]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as err:
        advice = "; load each of its files: Path(folder).rglob('*.yaml')" * isinstance(err, IsADirectoryError)
        return (_unusable("unreadable", f"cannot be read: {err.strerror or err}{advice}", str(path)),)
    except ValueError:  # UnicodeDecodeError, or a null byte in a path
        return (_unusable("unreadable", "cannot be read: not UTF-8 text, or no path at all", str(path)),)
    return load_documents(text, str(path))


def _unusable(rule: str, message: str, source: str) -> Loaded:
    return Loaded(None, (replace(error(rule, (), message), source=source),), "", None, source)
