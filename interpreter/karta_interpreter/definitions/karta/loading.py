"""From YAML or JSON text to definitions, with every finding at its line."""

from collections.abc import Iterable
from dataclasses import replace

from msgspec import Struct, structs

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.findings import PLACES, DefinitionError, Finding, Severity, error
from karta_interpreter.base.ignores import placed_objects, unignored
from karta_interpreter.base.k8s import GVK, JSON, Object, before_object
from karta_interpreter.base.positions import SourcePosition
from karta_interpreter.definitions.karta.annotation_records import parse_annotations
from karta_interpreter.definitions.karta.compile import compile_definition
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.expressions import check_expressions
from karta_interpreter.definitions.karta.identity import gvk_of, name_of
from karta_interpreter.definitions.karta.lint import lint
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.karta.validation import validate
from karta_interpreter.definitions.karta.versions import in_version, kinds_of
from karta_interpreter.languages.jq import forget_many
from karta_interpreter.languages.lua.customization import is_customization
from karta_interpreter.languages.lua.reading import lints, without_linting

_CUSTOMIZATION = "this is a ResourceInterpreterCustomization of Karmada, not a Karta"
KINDS_OF_DEFINITIONS = ("Karta", "ResourceInterface")


class Loaded(Struct, frozen=True):
    """The result for one Karta: no ``definition`` if a finding is an error, no ``gvk`` if it does not name its kind.

    ``line`` is the first line of the object in the text, 0 if unknown.
    """

    definition: Definition | None
    findings: tuple[Finding, ...]
    name: str
    gvk: GVK | None
    source: str
    line: int = 0
    others: tuple["Loaded", ...] = ()
    """The results for the other versions of the kind that the Karta describes, without findings of their own."""

    @property
    def versions(self) -> tuple["Loaded", ...]:
        """The results for all versions that the Karta describes, its own first."""
        return (self, *self.others)

    def usable(self) -> Definition:
        """Return the definition. Raise DefinitionError with the findings if it cannot be used."""
        if self.definition is None:
            wrong = [finding for finding in self.findings if finding.severity is Severity.ERROR]
            lines = [f"line {finding.line}: {finding}" if finding.line else str(finding) for finding in wrong]
            message = f"definition {self.name or self.source} cannot be used:"
            raise DefinitionError("\n  ".join([message, *lines]), self.findings)
        return self.definition

    def with_findings(self, findings: Iterable[Finding]) -> "Loaded":
        """Return a copy with other findings, also in its definition."""
        all_findings = tuple(findings)
        definition = self.definition and replace(self.definition, findings=all_findings)
        return structs.replace(self, findings=all_findings, definition=definition)


def load_documents(text: str, source: str) -> list[Loaded]:
    """Return every Karta of a manifest. ``source`` names the text in findings.

    Reads YAML and JSON, several documents and `List` objects. Unreadable text gives one result with that error. Nothing
    is raised.
    """
    return [loaded for loaded, _ in load_placed(text, source)]


def load_placed(text: str, source: str) -> list[tuple[Loaded, SourcePosition | None]]:
    """Return the results of `load_documents`, each with the object's position in the text, None if unreadable."""
    try:
        objects = placed_objects(text, source, *KINDS_OF_DEFINITIONS)
    except ManifestError as err:
        unreadable = error("unreadable", (), str(err))
        finding = replace(unreadable, source=source, line=err.line, column=err.column)
        return [(Loaded(None, (finding,), "", None, source), None)]
    placed: list[tuple[Loaded, SourcePosition | None]] = []
    for value, position, ignores in objects:
        before_object.get()()
        loaded, own_ignores = load_object(value, source), [] if is_customization(value) else ignores
        findings = unignored(map(position.locate, loaded.findings), own_ignores, position.source)
        placed.append((structs.replace(loaded.with_findings(findings), line=position.line), position))
    return placed


def load_definition(value: Object, source: str = "") -> Definition:
    """Return the definition of one Karta object. Raise DefinitionError with the findings if it cannot be used."""
    return load_object(value, source).usable()


def load_object(value: JSON, source: str) -> Loaded:
    """Load one Karta object, for each version of its kind that it describes. Nothing is raised."""
    loaded = _load_version(value, source)
    if loaded.gvk is None:
        return loaded
    with without_linting():  # what is written for one version is written for all of them
        others = tuple(_other_version(loaded, value, gvk) for gvk in kinds_of(value)[1:])
    return structs.replace(loaded, others=others)


def _other_version(loaded: Loaded, value: Object, gvk: GVK) -> Loaded:
    definition = loaded.definition and _load_version(in_version(value, gvk.version), loaded.source).definition
    return Loaded(definition and replace(definition, manifest=value, findings=()), (), loaded.name, gvk, loaded.source)


def _load_version(value: JSON, source: str) -> Loaded:
    if is_customization(value):
        return Loaded(
            None, (error("not-a-karta", (), _CUSTOMIZATION, PLACES["overrides"]),), name_of(value), None, source
        )
    karta, schema_findings = read_karta(value)
    name, gvk = (name_of(value), gvk_of(value)) if isinstance(value, dict) else ("", None)
    if karta is None or not isinstance(value, dict):
        return Loaded(None, tuple(schema_findings), name, gvk, source)
    annotations, annotation_findings = parse_annotations(karta)
    usable, expression_findings = check_expressions(karta)
    findings = (
        *schema_findings,
        *validate(karta),
        *expression_findings,
        # The catalogue is linted by its tests, not at each start of a server (`lua.reading.without_linting`).
        *(lint(karta, usable, annotations) if lints() else ()),
        *annotation_findings,
    )
    is_usable = all(finding.severity is Severity.WARNING for finding in findings)
    definition = compile_definition(karta, annotations, source, findings, value) if is_usable else None
    forget_many()  # several rules examine each expression, so until here the cache holds all of a definition
    return Loaded(definition, findings, name, gvk, source)
