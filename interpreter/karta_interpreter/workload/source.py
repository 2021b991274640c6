"""From a file, a text or an object to the definitions in it, with every finding."""

from dataclasses import replace
from pathlib import Path

from karta_interpreter.errors import DefinitionError, WorkloadError
from karta_interpreter.findings import Finding, Severity, error
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import Loaded, load_definition, load_documents
from karta_interpreter.karta.schema import gvk_of, name_of
from karta_interpreter.workload.document import check_json

_TEXT = "<text>"
_OBJECT = "<object>"


def read_source(source: Path | str | Object) -> tuple[Loaded, ...]:
    """What became of each Karta of a source; nothing is raised, not even for a file that is not there."""
    if isinstance(source, Path):
        return _read_file(source)
    if not isinstance(source, str):
        return (_read_object(source),)
    if "\n" in source or source.lstrip().startswith("{"):
        return tuple(load_documents(source, _TEXT))
    return _read_file(Path(source))


def only_definition(loaded: tuple[Loaded, ...]) -> Definition:
    """The definition of a source that holds exactly one; raises DefinitionError with all findings."""
    findings = tuple(finding for each in loaded for finding in each.findings)
    if len(loaded) != 1:
        raise DefinitionError(f"a source has to hold one Karta; this one holds {len(loaded)}", findings)
    (one,) = loaded
    if one.definition is None:
        lines = "".join(f"\n  {_said(finding)}" for finding in findings if finding.severity is Severity.ERROR)
        raise DefinitionError(f"definition {one.name or one.source} cannot be used:{lines}", findings)
    return one.definition


def _said(finding: Finding) -> str:
    return f"line {finding.line}: {finding}" if finding.line else str(finding)


def _read_file(path: Path) -> tuple[Loaded, ...]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as err:
        return (_unusable(error("unreadable", (), f"cannot be read: {err.strerror or err}"), str(path)),)
    except ValueError:
        return (_unusable(error("unreadable", (), "cannot be read: not UTF-8 text, or no path at all"), str(path)),)
    return tuple(load_documents(text, str(path)))


def _read_object(value: JSON) -> Loaded:
    try:
        check_json(value)
        definition = load_definition(value, _OBJECT)
    except WorkloadError as err:
        return _unusable(error("schema", (), str(err)), _OBJECT)
    except DefinitionError as err:
        known = isinstance(value, dict)
        return Loaded(None, err.findings, name_of(value) if known else "", gvk_of(value) if known else None, _OBJECT)
    return Loaded(definition, definition.findings, definition.name, definition.gvk, _OBJECT)


def _unusable(finding: Finding, source: str) -> Loaded:
    return Loaded(None, (replace(finding, source=source),), "", None, source)
