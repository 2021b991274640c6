import json

import pytest

from karta_interpreter.base.findings import Finding, format_path
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.languages.lua.customization import LoadedCustomization, load_customizations
from tests.support.rows import rows

_HEAD = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: mine}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
"""
_HEALTH = """\
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj)
          return true
        end
"""


def _load(text: str) -> LoadedCustomization:
    (loaded,) = load_customizations(text, "mine.yaml")
    return loaded


def _shown(finding: Finding) -> tuple[str, str, str]:
    place = f"{finding.source}:{finding.line}:{finding.column}"
    return place, f"{finding.severity} {finding.rule}", format_path(finding.path)


def test_customization_is_loaded_with_name_kind_and_scripts() -> None:
    loaded = _load(_HEAD + _HEALTH)

    (script,) = loaded.scripts
    assert (loaded.name, loaded.gvk, loaded.findings) == ("mine", GVK("apps", "v1", "Deployment"), ())
    assert (script.operation, script.function, script.name) == ("InterpretHealth", "InterpretHealth", "mine")
    assert script.text == "function InterpretHealth(obj)\n  return true\nend\n"
    assert (script.source, script.line_in_source(2)) == ("mine.yaml", 10)


def test_operations_of_karmada_have_fields() -> None:
    # pkg/apis/config/v1alpha1/resourceinterpretercustomization_types.go
    fields = {
        "retention": ("Retain", "Retain(a, b)"),
        "replicaResource": ("InterpretReplica", "GetReplicas(a)"),
        "componentResource": ("InterpretComponent", "GetComponents(a)"),
        "statusReflection": ("InterpretStatus", "ReflectStatus(a)"),
        "statusAggregation": ("AggregateStatus", "AggregateStatus(a, b)"),
        "healthInterpretation": ("InterpretHealth", "InterpretHealth(a)"),
        "dependencyInterpretation": ("InterpretDependency", "GetDependencies(a)"),
        "replicaRevision": ("ReviseReplica", "ReviseReplica(a, b)"),
    }
    text = "".join(
        f"    {field}: {{luaScript: 'function {function} local c = a c.status = {{}} return c end'}}\n"
        for field, (_, function) in fields.items()
    )

    loaded = _load(_HEAD + text)

    assert loaded.scripts.operations == {operation for operation, _ in fields.values()}
    assert [finding.rule for finding in loaded.findings] == ["components-and-revision"]


def test_folded_script_has_lines_of_the_file() -> None:
    text = _HEAD + (
        "    retention:\n"
        "      luaScript: >\n"
        '        local kube = require("kube")\n'
        "\n"
        "        function Retain(a, b)\n"
        "          return a\n"
        "        end\n"
    )
    (script,) = _load(text).scripts

    assert script.text.splitlines()[2] == "  return a"
    assert script.line_in_source(3) == text.splitlines().index("          return a") + 1


@rows(
    ("text", "expected"),
    [
        pytest.param("target: {apiVersion: apps/v1}", ("5:11", "no-target", "spec.target.kind"), id="no kind"),
        pytest.param("target: {kind: Deployment}", ("5:11", "no-target", "spec.target.apiVersion"), id="no apiVersion"),
        pytest.param("target: {kind: D, apiVersion: a/b/c}", ("5:33", "no-target", "spec.target.apiVersion"),
            id="no version"),
        pytest.param("target: {kind: D, apiVersion: example.io}", ("5:33", "no-target", "spec.target.apiVersion"),
            id="a group without a version"),
        pytest.param("target: {kind: [], apiVersion: v1}", ("5:18", "no-target", "spec.target.kind"),
            id="a wrong type"),
        pytest.param("target: Deployment", ("5:11", "no-target", "spec.target"), id="a name in place of a target"),
        pytest.param("target: [Deployment]", ("5:11", "no-target", "spec.target"), id="a list in place of a target"),
        pytest.param("tarjet: {}", ("5:11", "unknown-field", "spec.tarjet"), id="a misspelt target"),
    ],
)  # fmt: skip
def test_without_a_target_no_script_is_used(text: str, expected: tuple[str, str, str]) -> None:
    loaded = _load(_HEAD.replace("target: {apiVersion: apps/v1, kind: Deployment}", text) + _HEALTH)

    place, rule, path = expected
    assert (loaded.gvk, bool(loaded.scripts)) == (None, False)
    assert (f"mine.yaml:{place}", f"error {rule}", path) in map(_shown, loaded.findings)


def test_target_may_have_a_kind_in_small_letters() -> None:  # as a CRD may, which is rare
    loaded = _load(_HEAD.replace("kind: Deployment", "kind: deployments") + _HEALTH)

    assert (loaded.gvk, bool(loaded.scripts)) == (GVK("apps", "v1", "deployments"), True)
    assert loaded.findings == ()


@rows(
    ("text", "expected"),
    [
        pytest.param("    {}\n", "7:5 warning no-scripts spec.customizations", id="an empty mapping"),
        pytest.param("    []\n", "7:5 error schema spec.customizations", id="a list"),
        pytest.param("    healthInterpretaton: {}\n",
            "7:26 error unknown-field spec.customizations.healthInterpretaton", id="a misspelt operation"),
        pytest.param("    retention:\n", "7:5 warning no-scripts spec.customizations",
            id="null is nothing, as for Karmada"),
        pytest.param("    retention: function\n", "7:16 error schema spec.customizations.retention",
            id="a script in the wrong place"),
        pytest.param("    retention: {}\n", "7:16 error schema spec.customizations.retention",
            id="an operation without a script"),
        pytest.param("    retention: {luaScript: 1}\n", "7:16 error schema spec.customizations.retention",
            id="a script that is not a text"),
        pytest.param('    retention: {luaScript: ""}\n',
            "7:28 warning empty-script spec.customizations.retention.luaScript",
            id="an empty script, which Karmada takes for none"),
        pytest.param("    retention: {luaScript: 'function Retain(a, b) end', lua: x}\n",
            "7:62 error unknown-field spec.customizations.retention.lua", id="a field next to the script"),
        pytest.param(
            "    retention:\n      luaScript: |\n        function Retain(a, b)\n          retrun a\n        end\n",
            "10:11 error lua-syntax spec.customizations.retention.luaScript",
            id="a syntax error has its line of the file",
        ),
    ],
)  # fmt: skip
def test_customization_findings_about_scripts(text: str, expected: str) -> None:
    shown = [" ".join(_shown(finding)) for finding in _load(_HEAD + text).findings]

    assert f"mine.yaml:{expected}" in shown


def test_finding_about_script_shows_the_line() -> None:
    (finding,) = _load(_HEAD + _HEALTH.replace("true", "string.rep(obj.kind, 2) == obj.data.x")).findings

    assert finding.expression == "return string.rep(obj.kind, 2) == obj.data.x"
    assert finding.span is not None
    assert finding.expression[finding.span.start : finding.span.end] == "string.rep"
    assert (finding.line, finding.column) == (10, 18)


def test_broken_script_leaves_others_usable() -> None:
    loaded = _load(_HEAD + _HEALTH + "    retention: {luaScript: 'function Retain('}\n")

    assert loaded.scripts.operations == {"InterpretHealth"}
    assert loaded.broken == {"Retain"}
    problem = loaded.problem("Retain")
    assert problem is not None
    assert problem.rule == "lua-syntax"
    assert loaded.problem("InterpretHealth") is None


def test_script_that_karmada_would_run_is_used_despite_errors() -> None:
    loaded = _load(_HEAD + _HEALTH.replace("return true", "return getmetatable(obj) == nil"))

    assert [finding.rule for finding in loaded.findings] == ["forbidden-function"]
    assert loaded.scripts.operations == {"InterpretHealth"}


@rows(
    ("before", "after", "expected"),
    [
        pytest.param("v1alpha1", "v2", "error schema apiVersion", id="another version"),
        pytest.param("spec:", "stauts: {}\nspec:", "error unknown-field stauts", id="an unknown field"),
        pytest.param(
            "  customizations:", "  x: 1\n  customizations:", "error unknown-field spec.x", id="and one below spec"
        ),
        pytest.param("v1, kind", "v1, x: 1, kind", "error unknown-field spec.target.x", id="and one in the target"),
    ],
)
def test_customization_findings_about_other_fields(before: str, after: str, expected: str) -> None:
    loaded = _load(_HEAD.replace(before, after, 1) + _HEALTH)

    assert [" ".join(_shown(finding)[1:]) for finding in loaded.findings] == [expected]
    assert loaded.scripts


def test_customization_without_name_is_called_after_its_file() -> None:
    loaded = _load(_HEAD.replace("{name: mine}", "{}") + _HEALTH)

    assert (loaded.name, [script.name for script in loaded.scripts]) == ("", ["mine.yaml"])


_ELSEWHERE = """\
  healthInterpretation:
    luaScript: |
      function InterpretHealth(obj) return true end
"""
_TARGET_ONLY = _HEAD.removesuffix("  customizations:\n")


@rows(
    ("text", "owner"),
    [
        pytest.param(_HEAD.replace("ions:\n", "ions: {}\n") + _ELSEWHERE, "customizations", id="next to an empty part"),
        pytest.param(_HEAD + _ELSEWHERE, "customizations", id="next to nothing"),
        pytest.param(_TARGET_ONLY + _ELSEWHERE, "customizations", id="in the place of the part"),
        pytest.param(_TARGET_ONLY + "customizations:\n" + _ELSEWHERE, "spec", id="in a part next to the spec"),
        pytest.param("target: {}\n" + _HEAD + _HEALTH, "spec", id="a target next to the spec"),
        pytest.param(
            _HEAD + _HEALTH + "      retention: {luaScript: ''}\n", "customizations", id="a script a level too deep"
        ),
        pytest.param(
            _HEAD + "    luaScript: x\n", "an operation, such as healthInterpretation", id="a script of no operation"
        ),
    ],
)
def test_field_in_the_wrong_part_is_the_only_finding(text: str, owner: str) -> None:
    (finding,) = _load(text).findings

    assert (finding.rule, finding.hint) == ("unknown-field", f"it is a field of {owner}")


def test_several_documents_and_lists_are_read() -> None:
    objects = [(_HEAD + _HEALTH).replace("mine", name) for name in ("first", "second", "third")]
    listed = "".join(f"- {text.replace(chr(10), chr(10) + '  ').rstrip()}\n" for text in objects[1:])

    loaded = load_customizations(f"{objects[0]}---\napiVersion: v1\nkind: List\nitems:\n{listed}", "mine.yaml")

    assert [each.name for each in loaded] == ["first", "second", "third"]
    assert [each.line for each in loaded] == [1, 16, 27]
    assert all(each.scripts for each in loaded)


def test_json_is_read() -> None:
    script = "function InterpretHealth(obj)\n  return nope(obj)\nend"
    value = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "mine"},
        "spec": {
            "target": {"apiVersion": "v1", "kind": "Pod"},
            "customizations": {"healthInterpretation": {"luaScript": script}},
        },
    }

    text = json.dumps(value, indent=1)

    (finding,) = _load(text).findings
    assert (finding.rule, finding.line) == ("unknown-global", text[: text.index("luaScript")].count("\n") + 1)
    assert finding.expression == "return nope(obj)"


@rows(
    ("text", "expected"),
    [
        pytest.param("a: [", "error unreadable", id="text that is not YAML"),
        pytest.param(f"kind: List\nitems: [{'1, ' * 10_001}]", "error unreadable", id="a list that is too long"),
        pytest.param("{apiVersion: v1, kind: Pod}", "error not-a-customization", id="another object"),
        pytest.param("[1]", "error not-a-customization", id="no object"),
    ],
)
def test_document_that_is_not_a_customization_is_named(text: str, expected: str) -> None:
    loaded = _load(text)

    (finding,) = loaded.findings
    assert f"{finding.severity} {finding.rule}" == expected
    assert (loaded.gvk, bool(loaded.scripts), loaded.line) == (None, False, 0)


def test_empty_text_holds_no_customization() -> None:
    assert load_customizations("# nothing\n", "mine.yaml") == []
