"""Reads and checks the Kartas of a source: a file, a text or an object."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from yaml.representer import SafeRepresenter

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.findings import PLACES, Finding, closest, error
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta.loading import Loaded, load_documents, load_object
from karta_interpreter.engine.workload.document import Named, check_json

_TEXT = "<text>"
_TEXT_START = re.compile(r"\n|^\s*(?:\{|\w+:(?:\s|$))")
_OBJECT = "<object>"
_MOST_BESIDE = 500  # files whose names are compared with one that does not exist
# So that `yaml.safe_dump` writes answers as any other dict.
SafeRepresenter.add_multi_representer(Named, SafeRepresenter.represent_dict)


def check(source: Path | str | Object) -> Iterator[Finding]:
    """Yield the findings about each Karta of a source, and the contradictions between its parts. Never raises."""
    # Not at the top: a program that only loads a Karta compares nothing.
    from karta_interpreter.definitions.openapi.check import contradictions, object_contradictions  # noqa: PLC0415

    content, name = content_of(source)
    yield from (finding for loaded in load(content, name) for finding in loaded.findings)
    if isinstance(content, str):
        yield from contradictions(content, name, None)
    elif isinstance(content, dict):
        yield from object_contradictions(content)


def load(content: str | Object | Loaded, name: str) -> tuple[Loaded, ...]:
    """Load each Karta of the content of a source. Never raises."""
    document = content if isinstance(content, str | Loaded) else load_object(content, name)
    documents = (document,) if isinstance(document, Loaded) else load_documents(document, name)
    # Programs give objects in another way than commands do.
    return tuple(loaded.with_findings(map(_for_programs, loaded.findings)) for loaded in documents)


def _for_programs(finding: Finding) -> Finding:
    hint = finding.hint.replace(PLACES["object"], "to Workload(Karta.for_object(obj), obj)")
    return replace(finding, hint=hint)


def content_of(source: Path | str | Object) -> tuple[str | Object | Loaded, str]:
    """Return the text or object of a source, or why there is none, and the name of the source in findings."""
    if isinstance(source, str) and _TEXT_START.search(source):
        return source, _TEXT
    if isinstance(source, str) and not source.strip():
        return _unusable("unreadable", "the text is empty; a Karta has apiVersion, kind and spec", _TEXT), _TEXT
    if isinstance(source, str | Path):
        return _content_of_file(source), str(source)
    try:
        check_json(source)
    except WorkloadError as err:
        other = f"a Karta is read from a path, a text or an object, not {type(source).__name__}"
        return _unusable("schema", str(err) if isinstance(source, dict) else other, _OBJECT), _OBJECT
    return source, _OBJECT


def _content_of_file(path: Path | str) -> str | Loaded:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as err:
        advice = _advice(Path(path), err)
        return _unusable("unreadable", f"cannot be read: {err.strerror or err}{advice}", str(path))
    except ValueError:  # UnicodeDecodeError, or a null byte in a path
        return _unusable("unreadable", "cannot be read: not UTF-8 text, or no path at all", str(path))


def _advice(path: Path, err: OSError) -> str:
    """Return the closest file in place of one that does not exist, or where a relative path leads."""
    if isinstance(err, FileNotFoundError):
        names = {other.stem: other.name for other in islice(path.parent.glob("*"), _MOST_BESIDE)}
        if near := closest(path.stem, names):
            return f"; did you mean {path.with_name(names[near])}?"
    return "" if path.is_absolute() else f"; it is looked for in {Path.cwd()}"


def _unusable(rule: str, message: str, source: str) -> Loaded:
    return Loaded(None, (replace(error(rule, (), message), source=source),), "", None, source)
