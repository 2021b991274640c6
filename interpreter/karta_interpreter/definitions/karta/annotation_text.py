"""The text of an annotation's value, with the findings about it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import Struct, field

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.findings import Finding, error, hints, warning
from karta_interpreter.base.k8s import JSON, Object, Path, type_name
from karta_interpreter.base.k8s.manifest import SWITCHES, Document, Mark, read_documents
from karta_interpreter.base.karmada import Operation
from karta_interpreter.base.positions import SourcePosition, position_in, split_lines
from karta_interpreter.definitions.karta.annotation_schema import faults
from karta_interpreter.definitions.karta.annotations import WHOLE, AnnotationQuery, FieldPlace, annotation_path
from karta_interpreter.definitions.karta.expressions import check_expression
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.status_rules import MEANINGS
from karta_interpreter.languages.jq import MOST_OUTPUTS
from karta_interpreter.languages.jq.syntax import Node


class AnnotationText(Struct, frozen=True):
    """The text of one annotation. ``parsed`` has the values of annotations with earlier records, by their fields.

    ``documents`` has the positions of the parts of the text, once it is read. Findings name a part of YAML by its path
    of keys and indexes, and an item or a line by its text.
    """

    name: str
    text: str
    karta: KartaResource
    parsed: Mapping[str, Any]
    schema: Object
    """The JSON Schema of the value."""
    example: str
    """A whole text, whose first line hints name."""
    read_by: frozenset[Operation] = frozenset()
    """The operations with answers that depend on the expressions."""
    findings: list[Finding] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The path of the annotation in the Karta."""
        return annotation_path(self.name)

    def error(self, message: str, hint: str = "", at: Path = ()) -> None:
        """Add an error about this annotation."""
        self.report(error(f"annotation-{self.name}", self.path, message, hint), at)

    def warn(self, message: str, hint: str, at: Path = ()) -> None:
        """Add a warning about this annotation."""
        self.report(warning(f"annotation-{self.name}", self.path, message, hint), at)

    def report(self, finding: Finding, at: Path) -> None:
        """Add a finding about a part of the text, with its line."""
        if at and self.documents:
            placed = SourcePosition(self.documents[0], (), split_lines(self.text)).locate(replace(finding, path=at))
            finding = replace(finding, inside=(placed.line, placed.column))
        self.findings.append(finding)

    def items(self) -> list[str]:
        """Return the items of a comma-separated list."""
        return self.parts(r"([^,\s](?:[^,]*[^,\s])?)")

    def parts(self, pattern: str) -> list[str]:
        """Return the matches of a pattern's first group in the text."""
        matches = [(match[1].rstrip(), match.start(1)) for match in re.finditer(pattern, self.text, re.MULTILINE)]
        places = {entry: Mark(*position_in(self.text, start)) for entry, start in reversed(matches)}
        self.documents[:] = [Document(None, self.name, 1, Mark(1, 1, parts={**places}))]
        return [entry for entry, _ in matches]

    def names(self, noun: str, allowed: Collection[str]) -> tuple[str, ...]:
        """Return the known names of a comma-separated list, each once. An unknown name is an error."""
        names = self.items()
        if not names:
            self.error(
                f"names no {noun}", f"remove the annotation, or name one{', or write none' * (self.name == 'elastic')}"
            )
        hint = hints(allowed)
        for name in names:
            if name not in allowed:
                meaning = MEANINGS.get(name.lower(), name) if noun == "status" else name
                self.error(f'there is no {noun} "{name}"', hint(meaning), (name,))
        return tuple(dict.fromkeys(name for name in names if name in allowed))

    def entries(self) -> Iterator[tuple[Any, Any]]:
        """Yield the entries of the YAML that fit the schema, each with its index or key. Any other is an error."""
        value, schema = self.yaml(), self._yaml_schema
        is_list = isinstance(value, list)
        for key, entry in enumerate(value) if is_list else value.items():
            problems = list(faults(entry, schema["items" if is_list else "additionalProperties"]))
            for path, message, hint in problems:
                name = f"entry {key}" if is_list else key
                self.error(f"{name}: {message}", hint or f"write it like {self._first_entry}", (key, *path))
            if not problems:
                yield key, entry

    @property
    def _yaml_schema(self) -> Object:
        schema: Object = self.schema.get("anyOf", [self.schema])[0]
        return schema

    @property
    def _first_entry(self) -> str:
        return self.example.partition("\n")[0].removeprefix("- ")

    def yaml(self) -> Any:  # noqa: ANN401 - the schema has its type
        """Return the YAML value of the text, a list or an object. If it is unusable, return an empty one.

        An unusable text is an error.
        """
        empty: JSON = [] if self._yaml_schema["type"] == "array" else {}
        try:
            # No annotation has booleans, and editors read YAML 1.2, where these words are text.
            documents = read_documents(self.text, self.name, SWITCHES)
        except ManifestError as err:
            message = f"is not YAML: {err} (line {err.line}, column {err.column} of the annotation)"
            finding = error(f"annotation-{self.name}", self.path, message)
            self.findings.append(replace(finding, inside=(err.line, err.column)))
            return empty
        self.documents[:] = documents
        value = documents[0].value if len(documents) == 1 else None
        if type(value) is not type(empty):
            actual = f"{len(documents)} documents" if len(documents) > 1 else type_name(value)
            entry = self._first_entry
            hint = f"write each entry after a dash: - {entry}" if empty == [] else f"write {entry} in each line"
            hint = hint if self.text.strip() else f"{hint}, indented below the name of the annotation"
            self.error(f"must be {type_name(empty)} in YAML or JSON, not {actual}", hint)
            return empty
        return value

    def query(
        self, text: str, *at: str | int, gives: type = object, of: Node = WHOLE, reads: tuple[str, ...] = ()
    ) -> AnnotationQuery | None:
        """Compile an expression, a part of the text. If it is unusable, return None and add an error.

        The expression is evaluated on the outputs of ``of`` for the workload. Its outputs have the type that it
        ``gives``. Operations read the paths ``reads`` of them, or everything.
        """
        variables = self.karta.spec.structure_definition.reference_names
        usable, findings = check_expression(self.path, text, variables)
        for finding in findings:
            self.report(finding, at)
        if usable is None:
            return None
        return replace(
            AnnotationQuery.compile(
                text,
                variables,
                self.karta.name,
                FieldPlace(self.karta.name, "", self.name),
                MOST_OUTPUTS,
            ),
            annotation=self.name,
            read_by=self.read_by,
            gives=gives,
            of=of,
            reads=reads,
        )
