"""The text of one annotation, with the helpers that its parser needs: lists, YAML, jq, findings."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from karta_interpreter.errors import ManifestError
from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.jq import Query
from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.k8s.values import JSON, Path, type_name
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.expressions import judge
from karta_interpreter.karta.model import Karta
from karta_interpreter.suggestion import hints


def annotation_path(name: str) -> Path:
    """Return the path of an annotation in a Karta."""
    return ("metadata", "annotations", PREFIX + name)


@dataclass(frozen=True, slots=True)
class AnnotationText:
    """The text of one annotation of a Karta; parsers add their ``findings``.

    ``parsed`` has the values of the annotations whose records come earlier, by the field of `Annotations`.
    """

    name: str
    text: str
    karta: Karta
    parsed: Mapping[str, Any]
    findings: list[Finding] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The path of the annotation in the Karta."""
        return annotation_path(self.name)

    def error(self, message: str, hint: str = "") -> None:
        """Add an error about this annotation."""
        self.findings.append(error(f"annotation-{self.name}", self.path, message, hint))

    def warn(self, message: str, hint: str, rule: str = "") -> None:
        """Add a warning about this annotation."""
        self.findings.append(warning(rule or f"annotation-{self.name}", self.path, message, hint))

    def items(self) -> list[str]:
        """Return the items of a list that is separated by commas."""
        return [item.strip() for item in self.text.split(",") if item.strip()]

    def names(self, noun: str, known: Collection[str]) -> tuple[str, ...]:
        """Return the known names of a list that is separated by commas, each once; any other is an error."""
        names = self.items()
        if not names:
            self.error(f"names no {noun}", "remove the annotation, or name one")
        hint = hints(known)
        for name in names:
            if name not in known:
                self.error(f'there is no {noun} "{name}"', hint(name))
        return tuple(dict.fromkeys(name for name in names if name in known))

    def yaml(self, expected: type) -> JSON:
        """Return the YAML value of the text; an empty one, and an error, when it is unusable."""
        empty = expected()
        try:
            documents = read_documents(self.text, self.name)
        except ManifestError as err:
            self.error(f"is not YAML: {err} (line {err.line}, column {err.column})")
            return empty
        value = documents[0].value if len(documents) == 1 else None
        if not isinstance(value, expected):
            self.error(f"must be {type_name(empty)} in YAML or JSON, not {type_name(value)}")
            return empty
        return value

    def query(self, text: str) -> Query | None:
        """Compile an expression about the workload; None, and an error, when it is unusable."""
        variables = self.karta.spec.structure_definition.reference_names
        usable, findings = judge(self.path, text, variables)
        self.findings.extend(findings)
        return None if usable is None else Query.compile(text, variables, self.karta.name)
