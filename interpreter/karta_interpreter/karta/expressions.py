"""The jq expressions of a definition: each parsed and vetted where it stands."""

from dataclasses import dataclass, replace

from karta_interpreter.errors import QuerySyntaxError
from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.jq import Query, Verdict, examine
from karta_interpreter.jq.analysis import Reason
from karta_interpreter.jq.syntax import Node, Span
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.model import Karta
from karta_interpreter.karta.schema_types import PodQuery, expressions

_REFERENCES = ("spec", "structureDefinition", "references")


@dataclass(frozen=True, slots=True)
class Parsed:
    """An expression that may be used, where it stands, and the references that it may read."""

    path: Path
    text: str
    node: Node
    variables: frozenset[str] = frozenset()

    @property
    def query(self) -> Query:
        """The expression, ready to use."""
        return Query.compile(self.text, self.variables)


def judge_all(karta: Karta) -> tuple[list[Parsed], list[Finding]]:
    """Return the usable expressions of a definition, and the findings about all of them."""
    usable: list[Parsed] = []
    findings: list[Finding] = []
    names = karta.spec.structure_definition.reference_names
    for path, text in expressions(karta.spec, ("spec",)):
        looks_up = path[: len(_REFERENCES)] == _REFERENCES
        parsed, found = judge(path, text, frozenset() if looks_up else names)
        findings += found
        if parsed is not None:
            usable.append(parsed)
    return usable, findings


def judge(path: Path, text: str, variables: frozenset[str] = frozenset()) -> tuple[Parsed | None, list[Finding]]:
    """Check one expression, which may read ``variables``: can it be parsed, is it allowed, does it run in this process.

    Expressions about pods never run here, so they have no warning about where they would run. References are looked
    up for workloads only, so expressions about pods cannot read any.
    """
    about_pod, text = isinstance(text, PodQuery), str(text)
    variables = frozenset() if about_pod else variables
    try:
        node, vetting = examine(text, variables)
    except QuerySyntaxError as err:
        return None, [_error("expression-syntax", path, text, err, Span(err.start, err.end))]
    if vetting.refusals:
        return None, [_error("expression-refused", path, text, each, each.span) for each in vetting.refusals]
    parsed = Parsed(path, text, node, variables)
    if vetting.verdict is not Verdict.BOUNDED or about_pod:
        return parsed, []
    reasons = "; ".join(dict.fromkeys(note.message for note in vetting.notes))
    message = f"a separate process answers this expression, under a time limit: {reasons}"
    hint = "paths, `[]`, `//`, `select`, arithmetic and comparisons are answered at once"
    found = warning("bounded-expression", path, message, hint)
    return parsed, [replace(found, expression=text, span=vetting.notes[0].span)]


def _error(rule: str, path: Path, text: str, wrong: QuerySyntaxError | Reason, span: Span) -> Finding:
    return replace(error(rule, path, wrong.message, wrong.hint), expression=text, span=span)
