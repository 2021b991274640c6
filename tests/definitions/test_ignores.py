"""Comments that ignore findings: the place, the reason, and what cannot be ignored."""

import pytest

from karta_interpreter.base.ignores import placed_objects
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.languages.lua.customization import load_customizations
from tests.support.rows import rows

_KARTA = """\
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: job}
spec:
  structureDefinition:
    rootComponent:
      name: job
      kind: {group: example.com, version: v1, kind: Job}
      # above
      ownerRef: job  # behind
      specDefinition: {podTemplateSpecPath: .spec.template}
      statusDefinition: {phaseDefinition: {path: .status.phase}, statusMappings: {running: [{byPhase: Running}]}}
"""
_IGNORE = "# karta-interpreter: ignore[root-has-owner] one pod"
_REPEATED = f"""\
{_KARTA.replace("# above", _IGNORE)}    childComponents:
      - {{name: job, ownerRef: job}}  # error
"""


def _rules(text: str) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for loaded in load_documents(text, "k.yaml") for finding in loaded.findings]


@rows(
    ("text", "rules"),
    [
        pytest.param(_KARTA, [("root-has-owner", 10)], id="no ignore"),
        pytest.param(_KARTA.replace("# behind", _IGNORE), [], id="behind the value"),
        pytest.param(_KARTA.replace("# above", _IGNORE), [], id="above the value"),
        pytest.param(_KARTA.replace("# above", f"{_IGNORE}\n\n      # why"), [], id="above another comment"),
        pytest.param(_KARTA.replace("# above", _IGNORE.replace("[", "[no-pods, ")),
                     [("unused-ignore", 9)], id="two rules"),
        pytest.param(_KARTA.replace("name: job\n", f"name: job {_IGNORE}\n"),
                     [("root-has-owner", 10), ("unused-ignore", 7)], id="another place"),
        pytest.param(_KARTA.replace("# behind", _IGNORE.removesuffix(" one pod")),
                     [("root-has-owner", 10), ("ignore-incomplete", 10)], id="no reason"),
        pytest.param(_KARTA.replace("# behind", _IGNORE.replace("[root-has-owner]", "")),
                     [("root-has-owner", 10), ("ignore-incomplete", 10)], id="no rule"),
        pytest.param(_KARTA.replace("# behind", "# karta-interpreter:ignore root-has-owner"),
                     [("root-has-owner", 10), ("ignore-incomplete", 10)], id="no brackets"),
        pytest.param(_REPEATED.replace("# error", "# karta-interpreter: ignore[component-name-not-unique] ours"),
                     [("component-name-not-unique", 14), ("unused-ignore", 14)], id="an error"),
        pytest.param(f"{_KARTA}---\n{_KARTA.replace('# above', _IGNORE)}", [("root-has-owner", 10)], id="one of two"),
        pytest.param(f"{_KARTA.replace('# behind', _IGNORE)}{_IGNORE}\n", [("unused-ignore", 13)], id="at the end"),
    ],
)  # fmt: skip
def test_comment_ignores_warnings_of_its_line(text: str, rules: list[tuple[str, int]]) -> None:
    assert _rules(text) == rules


_CRD = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "example.com", "names": {"kind": "Job"},
        "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"status": {
            "type": "object", "properties": {"phase": {"type": "string", "enum": ["Active"]}}}}}}}],
    },
}  # fmt: skip


def test_finding_of_a_comparison_with_a_crd_is_ignored_there_only() -> None:
    lines = _KARTA.replace("# above", "# karta-interpreter: ignore[crd-unknown-field] a later release").splitlines()
    text = "\n".join(lines).replace("{podTemplateSpecPath", "  {podTemplateSpecPath")
    fixed = text.replace("# behind", "").replace(
        ".template}", ".template}  # karta-interpreter: ignore[crd-unknown-field] why"
    )

    assert _rules(text) == [("root-has-owner", 10)]
    assert {(finding.rule, finding.line) for finding in contradictions(text, "k.yaml", [_CRD])} == {
        ("crd-unknown-field", 11), ("crd-unknown-value", 12), ("unused-ignore", 9),
    }  # fmt: skip
    assert ("crd-unknown-field", 11) not in {(one.rule, one.line) for one in contradictions(fixed, "k.yaml", [_CRD])}


def test_finding_of_a_script_is_ignored_by_a_comment_of_lua() -> None:
    text = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: job}
spec:
  target: {apiVersion: example.com/v1, kind: Job}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(o)
          return obj.ready  -- karta-interpreter: ignore[unknown-global] set by another script
        end
"""
    (loaded,) = load_customizations(text, "job.yaml")
    (unignored,) = load_customizations(text.replace("ignore[unknown-global]", ""), "job.yaml")

    assert loaded.findings == ()
    assert [finding.rule for finding in unignored.findings] == ["unknown-global"]
    assert not any(
        finding.rule == "unused-ignore" for one in load_documents(text, "job.yaml") for finding in one.findings
    )


def test_ignores_belong_to_the_object_of_their_line() -> None:
    objects = placed_objects(f"a: 1 {_IGNORE}\n---\nb: 1\nc: 2 {_IGNORE}\n", "a.yaml")
    assert [[ignore.line for ignore in ignores] for _, _, ignores in objects] == [[1], [4]]
