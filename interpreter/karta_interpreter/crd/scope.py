"""What is known at a place of an expression, and what was found there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from karta_interpreter.crd.shape import Shapes
from karta_interpreter.findings import Severity
from karta_interpreter.jq.syntax import Span

WRONG_TYPE: Final = "crd-wrong-type"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What an expression reads, and the schema of the CRD does not have."""

    rule: str
    message: str
    hint: str
    span: Span
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known at a place of an expression: variables, own functions, whether errors are caught, whose schema."""

    found: list[Contradiction] = field(default_factory=list)
    variables: Mapping[str, Shapes] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    is_tried: bool = False
    schema: str = "the CRD"

    def add(self, found: Contradiction) -> None:
        """Add a contradiction, once; a wrong type is none where errors are caught."""
        if found not in self.found and not (self.is_tried and found.rule == WRONG_TYPE):
            self.found.append(found)
