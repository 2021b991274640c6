"""Where findings about annotations point: to a line and a column of the file, also inside of a block of text."""

import pytest

from karta_interpreter.definitions.karta.loading import load_documents
from tests.support.rows import rows

MARK = "¤"
"""Stands in front of what a finding is about."""

KARTA = """\
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: orchestra
  annotations:
    {annotations}
spec:
  structureDefinition:
    rootComponent:
      name: orchestra
      kind: {{group: toys.example.com, version: v1, kind: Orchestra}}
      specDefinition: {{podTemplateSpecPath: .spec.template}}
      scaleDefinition: {{replicasPath: .spec.players // 1}}
      suspendDefinition:
        suspendActions: [{{path: .spec.pause, value: "true"}}]
        resumeActions: [{{path: .spec.pause, value: "false"}}]
      statusDefinition:
        phaseDefinition: {{path: .status.phase}}
        statusMappings: {{running: [{{byPhase: Playing}}]}}
"""


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without marks, and the line and column of each."""
    before, *rest = text.split(MARK)
    places: list[tuple[int, int]] = []
    for part in rest:
        places.append((before.count("\n") + 1, len(before) - before.rfind("\n")))
        before += part
    return before, places


def block(name: str, *lines: str, style: str = "|") -> str:
    return "\n      ".join((f"karta-interpreter.io/{name}: {style}", *lines))


@rows(
    "annotations",
    [
        pytest.param(block("aggregate", "# why", ".status.a: sum", ".status.b: ¤summ"), id="a rule that is none"),
        pytest.param(block("aggregate", ".status.a: sum", ".spec.b: ¤max"), id="no path of the status"),
        pytest.param(block("aggregate", ".status.a[]: ¤counter"), id="a counter in a list"),
        pytest.param(block("aggregate", ".status.a: sum", ".status.b: {", style="|") + "¤", id="not YAML"),
        pytest.param(block("outcomes", "A: ¤B"), id="outcomes: two conditions that end nothing"),
        pytest.param(block("retain", "- .spec.a", "- ¤.spec.b + 1"), id="an entry of a list"),
        pytest.param(block("retain", "- .spec.a", "- unset: .spec.b", "  when: ¤.c"), id="a field of an entry"),
        pytest.param(block("retain", "- .spec.a", "- ¤by: .b"), id="an entry without its field"),
        pytest.param(block("retain", "- unset: .spec.a", "  if: ¤.c +"), id="an expression in a field of an entry"),
        pytest.param(block("retain", "# why", "", ".spec.a", "  ¤.spec.b + 1"), id="a line"),
        pytest.param(block("retain", ".spec.a", "¤.spec.a.b +"), id="a line that is not jq"),
        pytest.param(block("dependencies", "- apiVersion: v1", "  kind: Secret", "  name: .a", "  nmespace: ¤.b"),
            id="a field of a dependency"),
        pytest.param(block("dependencies", "- pods: .a", "- ¤kind: Secret", "  apiVersion: v1"),
            id="one that is missing"),
        pytest.param(block("dependencies", "- pods: .a", "- pods: ¤.b | del(.c)"), id="an expression of a dependency"),
        pytest.param(block("added-containers", "solo: ¤'{}'"), id="a component that does not exist"),
        pytest.param(block("added-containers", "orchestra: ¤1"), id="a number"),
        pytest.param(block("added-containers", "orchestra: ¤>-", "  .spec", "  | {"), id="a block in the block"),
        pytest.param(block("operations", "Retain,", "¤InterpretHelth"), id="a name on a line of its own"),
        pytest.param("karta-interpreter.io/elastic: orchestra, ¤solo", id="a name among others"),
        pytest.param('karta-interpreter.io/queue-labels: "a.io/b, ¤.c"', id="a label in quotes"),
        pytest.param(block("health", ".status", "| ¤foo"), id="a line of an expression"),
        pytest.param("karta-interpreter.io/health: ¤.status | foo", id="an expression on one line"),
        pytest.param(block("lua", "retention:", "  luaScript: |", "    function Retain(a, b)", "      return ¤nope",
            "    end"), id="a word of a script"),
        pytest.param(block("lua", "retention:", "  luaScript: >", "    local function Retain(a, b)", "      ¤nope = 1",
            "    end"), id="a word of a folded script"),
        pytest.param(block("lua", "retention: {}", "retenton: ¤{}"), id="a field of scripts"),
        pytest.param('karta-interpreter.io/aggregate: ¤"{.status.a: sum,\\n.status.b: summ}"', id="lines in quotes"),
    ],
)  # fmt: skip
def test_findings_point_into_the_annotation(annotations: str) -> None:
    text, (place,) = marked(KARTA.format(annotations=annotations))
    (loaded,) = load_documents(text, "it.yaml")
    assert place in {(finding.line, finding.column) for finding in loaded.findings}
