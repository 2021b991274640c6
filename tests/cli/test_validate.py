import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from tests.support.rows import rows

Run = Callable[..., Result]
Karta = Callable[..., str]

_GOOD = "karta.yaml"


@pytest.fixture(autouse=True)
def _files(files: Path) -> None:
    del files


def test_good_definition_prints_nothing_on_stdout(run: Run) -> None:
    result = run("validate", _GOOD)

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "1 definition, 0 errors, 0 warnings\n"


@pytest.mark.parametrize("command", ["validate", "explain"])
def test_karta_of_another_api_group_is_read(run: Run, files: Path, karta: Karta, command: str) -> None:
    (files / "other.yaml").write_text(karta().replace("run.ai/", "workloads.example.com/"))

    read, known = run(command, "other.yaml"), run(command, _GOOD)

    assert (read.exit_code, read.stdout.replace("other.yaml", _GOOD), read.stderr) == (0, known.stdout, known.stderr)


def test_definition_is_argument_or_option(run: Run) -> None:
    assert run("validate", "-f", _GOOD).stderr == "1 definition, 0 errors, 0 warnings\n"
    nothing = run("validate")
    assert (nothing.exit_code, nothing.stderr) == (2, 'error: give definitions: PATH or -f PATH, "-" for stdin\n')


def test_finding_has_place_expression_and_caret(run: Run, files: Path, karta: Karta) -> None:
    (files / "bad.yaml").write_text(karta(replicas=".spec.replicas | del(.a)"))

    result = run("validate", "bad.yaml")

    assert result.exit_code == 1
    first, expression, caret = result.stdout.splitlines()[:3]
    assert first.startswith("bad.yaml:16:23: error [")
    assert "] spec.structureDefinition.rootComponent.scaleDefinition.replicasPath: " in first
    assert expression == "    .spec.replicas | del(.a)"
    assert caret.index("^") == expression.index("del")
    assert result.stderr == "1 definition, 1 error, 0 warnings\n"


def test_findings_of_all_files_are_shown(run: Run, files: Path, karta: Karta) -> None:
    folder = files / "kartas"
    folder.mkdir()
    (folder / "a.yaml").write_text(karta("A", replicas=".a |") + "---\n" + karta("B", replicas="env"))
    (folder / "c.yaml").write_text(karta("C").replace("byPhase: Running", "byPhaze: Running"))
    (folder / "testdata").mkdir()
    (folder / "testdata" / "case.yaml").write_text("not: a karta")

    result = run("validate", "kartas", _GOOD)

    assert result.exit_code == 1
    starts = [line.split(":")[0] for line in result.stdout.splitlines() if line.startswith("kartas")]
    assert starts[:2] == ["kartas/a.yaml", "kartas/a.yaml"]
    assert "kartas/c.yaml" in starts
    assert result.stderr.startswith("4 definitions, ")


@pytest.mark.parametrize(
    ("name", "content", "rule", "summary"),
    [
        pytest.param("it.yaml", "a: [", "unreadable", "0 definitions, 1 error, 0 warnings, 1 unreadable file",
            id="not YAML"),
        pytest.param("it.yaml", "# nothing", "no-definitions", "0 definitions, 1 error, 0 warnings", id="empty"),
        pytest.param("it.yaml", "{apiVersion: a/v1, kind: B}", "not-a-karta", "0 definitions, 1 error, 0 warnings",
            id="an object"),
    ],
)  # fmt: skip
def test_file_without_definition_is_an_error(
    run: Run, files: Path, name: str, content: str, rule: str, summary: str
) -> None:
    (files / name).write_text(content)

    result = run("validate", name)

    assert (result.exit_code, result.stderr) == (1, f"{summary}\n")
    assert result.stdout.startswith(f"{name}:")
    assert f" error [{rule}] " in result.stdout


def test_definitions_for_one_kind_are_a_conflict(run: Run, files: Path, karta: Karta) -> None:
    (files / "other.yaml").write_text(karta(name="other"))

    across = run("validate", _GOOD, "other.yaml")
    assert across.exit_code == 0
    hides = "job from karta.yaml hides other from other.yaml"
    assert f"other.yaml:1:1: warning [shadowed-kind] example.io/v1, Kind=Job: {hides}" in across.stdout
    assert run("validate", "--strict", _GOOD, "other.yaml").exit_code == 1

    (files / "both.yaml").write_text(f"{karta(name='one')}---\n{karta(name='two')}")
    inside = run("validate", "both.yaml")
    assert inside.exit_code == 1
    second = (files / "both.yaml").read_text().split("\n").index("---") + 2
    assert f"both.yaml:{second}:1: error [duplicate-kind]" in inside.stdout
    assert f"one from both.yaml (line 1) hides two from both.yaml (line {second})" in inside.stdout


def test_standard_input_is_a_file(run: Run) -> None:
    good, bad = run("validate", "-", stdin=Path(_GOOD).read_text()), run("validate", "-", stdin="a: [\n")

    assert (good.exit_code, good.stderr) == (0, "1 definition, 0 errors, 0 warnings\n")
    assert bad.stdout.startswith("stdin:2:1: error [unreadable]")


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_findings_for_programs(run: Run, files: Path, karta: Karta, output: str) -> None:
    (files / "bad.yaml").write_text(karta("Bad", replicas=".spec.a | env"))

    result = run("validate", "-o", output, _GOOD, "bad.yaml")

    document = json.loads(result.stdout) if output == "json" else yaml.safe_load(result.stdout)
    assert (result.exit_code, result.stderr) == (1, "")
    assert document["summary"] == {
        "definitions": 2,
        "customizations": 0,
        "errors": 1,
        "warnings": 0,
        "ignored": 0,
        "unreadable": 0,
    }
    assert document["definitions"] == [
        {
            "source": "bad.yaml",
            "name": "bad",
            "defines": {"apiVersion": "example.io/v1", "kind": "Bad"},
            "valid": False,
        },
        {
            "source": "karta.yaml",
            "name": "job",
            "defines": {"apiVersion": "example.io/v1", "kind": "Job"},
            "valid": True,
        },
    ]
    (finding,) = document["findings"]
    assert (finding["source"], finding["line"], finding["column"]) == ("bad.yaml", 16, 23)
    assert finding["expression"][finding["span"]["start"] : finding["span"]["end"]] == "env"


_CUSTOMIZATION = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: mine}
spec:
  target: {apiVersion: example.io/v1, kind: Job}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj)
          return obj.status.ready == nil
        end
    retention:
      luaScript: |
        function Retain(desiredObj, observedObj)
          return desired
        end
    replicaResource:
      luaScript: |
        function GetReplica(desiredObj)
          return 1
        end
"""


def test_customizations_are_checked_beside_definitions(run: Run, files: Path) -> None:
    (files / "both.yaml").write_text(f"{_CUSTOMIZATION}---\n{Path(_GOOD).read_text()}")

    result = run("validate", "both.yaml")

    assert (result.exit_code, result.stderr) == (1, "1 definition, 1 customization, 1 error, 1 warning\n")
    assert result.stdout == (
        "both.yaml:15:18: warning [unknown-global] spec.customizations.retention.luaScript: "
        "desired is nil: nothing sets it\n"
        "    return desired\n"
        "           ^^^^^^^\n"
        "    hint: did you mean desiredObj?\n"
        "both.yaml:19:18: error [missing-function] spec.customizations.replicaResource.luaScript: "
        "there is no function GetReplicas\n"
        "    function GetReplica(desiredObj)\n"
        "             ^^^^^^^^^^\n"
        "    hint: rename GetReplica\n"
    )


def test_scripts_for_same_operation_are_a_conflict(run: Run, files: Path) -> None:
    (files / "mine.yaml").write_text(_CUSTOMIZATION.replace("GetReplica(", "GetReplicas("))
    (files / "yours.yaml").write_text(_CUSTOMIZATION.replace("GetReplica(", "GetReplicas(").replace("mine", "yours"))

    result = run("validate", "mine.yaml", "yours.yaml")

    assert result.exit_code == 1
    assert result.stdout.count("error [conflicting-scripts]") == 3
    assert "InterpretHealth has a second script; the one of mine in mine.yaml answers" in result.stdout


def test_customizations_for_programs(run: Run, files: Path) -> None:
    (files / "mine.yaml").write_text(_CUSTOMIZATION)

    result = run("validate", "-o", "json", "mine.yaml")

    document = json.loads(result.stdout)
    assert document["customizations"] == [
        {
            "source": "mine.yaml",
            "name": "mine",
            "customizes": {"apiVersion": "example.io/v1", "kind": "Job"},
            "operations": {"InterpretHealth": True, "Retain": True, "InterpretReplica": False},
        }
    ]
    assert document["summary"]["customizations"] == 1


@rows("command", ["validate", "tree --object karta.yaml -f", "interpret --observed-file job.yaml -f"])
def test_empty_path_is_a_mistake(run: Run, command: str) -> None:
    result = run(*command.split(), "")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: a path is empty")


_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {kind}s.example.io}}
spec:
  group: example.io
  names: {{kind: {kind}}}
  versions:
  - name: {version}
    schema:
      openAPIV3Schema:
        properties:
          spec:
            required: [template]
            properties: {{{spec}template: {{x-kubernetes-preserve-unknown-fields: true}}}}
          status: {{type: object, properties: {{phase: {{type: string}}}}}}
"""
_COUNTS = "replicas: {type: integer}, "


def _crd(kind: str = "Job", version: str = "v1", spec: str = _COUNTS) -> str:
    return _CRD.format(kind=kind, version=version, spec=spec)


def test_field_that_crd_lacks_is_an_error_at_its_line(run: Run, files: Path, karta: Karta) -> None:
    (files / "crd.yaml").write_text(_crd())
    (files / "typo.yaml").write_text(karta("Job", replicas=".spec.replica // 1"))

    result = run("validate", "typo.yaml", "--crd", "crd.yaml")

    assert result.exit_code == 1
    assert result.stdout == (
        "typo.yaml:16:23: error [crd-unknown-field] "
        "spec.structureDefinition.rootComponent.scaleDefinition.replicasPath: the CRD has no field .spec.replica\n"
        "    .spec.replica // 1\n"
        "         ^^^^^^^^\n"
        "    hint: did you mean replicas?\n"
    )


def test_definition_that_fits_its_crd_has_no_finding(run: Run, files: Path) -> None:
    (files / "crd.yaml").write_text(_crd())

    result = run("validate", _GOOD, "--crd", "crd.yaml")

    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("crds", "rules"),
    [
        pytest.param([_crd(spec="")], ["crd-unknown-field"], id="one release without the field"),
        pytest.param([_crd(spec=""), _crd()], [], id="another release has it"),
        pytest.param([_crd(version="v2"), _crd()], [], id="only one release has the version"),
        pytest.param(
            [_crd(version="v2"), _crd(spec="")], ["crd-unknown-field"], id="a release without the version hides nothing"
        ),
        pytest.param([_crd(kind="Cake")], ["crd-missing"], id="another kind"),
    ],
)
def test_several_crds_of_a_kind_are_its_releases(run: Run, files: Path, crds: list[str], rules: list[str]) -> None:
    (files / "crds.yaml").write_text("---\n".join(crds))

    result = run("validate", _GOOD, "--crd", "crds.yaml", "-o", "json")

    assert [finding["rule"] for finding in json.loads(result.stdout)["findings"]] == rules


@pytest.mark.parametrize(
    ("definitions", "crds", "code"),
    [
        pytest.param([_GOOD], [_crd(kind="Cake")], 1, id="of another kind only"),
        pytest.param([_GOOD], [_crd(kind="Cake"), _crd()], 0, id="the right one among several"),
        pytest.param([_GOOD, "cake.yaml"], [_crd()], 0, id="of one of two definitions"),
    ],
)
def test_crds_that_fit_no_definition_are_an_error(
    run: Run, files: Path, karta: Karta, definitions: list[str], crds: list[str], code: int
) -> None:
    (files / "cake.yaml").write_text(karta("Cake", replicas=".spec.replicas // 1").replace("name: job", "name: cake"))
    (files / "typo.yaml").write_text(karta("Job", replicas=".spec.["))
    (files / "crds.yaml").write_text("---\n".join(crds))

    result = run("validate", *definitions, "--crd", "crds.yaml")

    assert result.exit_code == code
    assert ("error [crd-missing]" in result.stdout) is bool(code)
    assert ("the given CRDs are those of Cake.example.io" in result.stdout) is bool(code)


@rows(
    ("read", "found"),
    [
        pytest.param("obj.spec.replica", ["mine.yaml:10:18: warning [crd-unknown-field]"], id="a misspelled field"),
        pytest.param("obj.spec.replicas", [], id="a field of the CRD"),
        pytest.param("obj['spec']['replicas']", [], id="a field of the CRD by brackets"),
        pytest.param(
            'obj.spec.replicas == "3"', ["mine.yaml:10:18: warning [crd-wrong-type]"], id="a count and a text"
        ),
        pytest.param("obj.spec.replicas ~= 3", [], id="a count and a number"),
        pytest.param("obj[1].spec.replica", [], id="an entry of a list, as the items of statuses"),
        pytest.param("other.spec.replica", [], id="another name than a parameter"),
        pytest.param("obj.metadata.labels.team", [], id="metadata, which no CRD describes"),
    ],
)
def test_fields_that_scripts_name_are_compared_with_crds(run: Run, files: Path, read: str, found: list[str]) -> None:
    (files / "crd.yaml").write_text(_crd())
    (files / "mine.yaml").write_text(_CUSTOMIZATION.replace("obj.status.ready == nil", read))

    output = run("validate", "mine.yaml", "--crd", "crd.yaml").stdout

    assert [line.partition("] ")[0] + "]" for line in output.splitlines() if "crd-" in line] == found


def _of_cloneset(field: str, function: str, lines: list[str]) -> str:
    head = _CUSTOMIZATION.partition("        function")[0].replace("healthInterpretation", field)
    script = "".join(f"          {line}\n" for line in lines)
    return (
        f"{head.replace('example.io/v1, kind: Job', 'apps.kruise.io/v1alpha1, kind: CloneSet')}"
        f"        function {function}\n{script}        end\n"
    )


@rows(
    ("lines", "found"),
    [
        pytest.param(["local spec = obj.spec", "return spec.replica"], ["2:8"], id="a local"),
        pytest.param(["local a = obj.spec", "local b = a", "return b.replica"], ["3:8"], id="a local of a local"),
        pytest.param(["local a = obj.spec.replica", "return a.b or a == 1"], ["1:11"], id="once, where it is named"),
        pytest.param(["for _, c in ipairs(obj.status.conditions) do if c.Type then", "end end"], ["1:49"], id="a loop"),
        pytest.param(["local c = obj.status.conditions", "return c[#c].Type == 1"], ["2:8"], id="the last entry"),
        pytest.param(["local spec = obj.spec", "spec = {}", "return spec.replica"], [], id="a local that is set again"),
        pytest.param(["local function f(spec) return spec.replica end", "local spec = obj.spec"], [], id="a parameter"),
    ],
)
def test_locals_of_scripts_are_compared_with_crds(run: Run, files: Path, lines: list[str], found: list[str]) -> None:
    (files / "mine.yaml").write_text(_of_cloneset("healthInterpretation", "InterpretHealth(obj)", lines))

    output = run("validate", "mine.yaml").stdout

    places = [line.split(":")[1:3] for line in output.splitlines() if "crd-" in line]
    assert [f"{int(line) - 9}:{int(column) - 10}" for line, column in places] == found


@rows(
    ("line", "found"),
    [
        pytest.param("item.status.readyReplica = 1", 1, id="a field that is not there"),
        pytest.param("print(items[1].status.readyReplica)", 1, id="by the number"),
        pytest.param("item.status.readyReplicas = 1", 0, id="a field"),
        pytest.param("print(item.status.generation, item.clusterName)", 0, id="what scripts of Karmada add"),
    ],
)
def test_reports_of_clusters_are_compared_with_crds(run: Run, files: Path, line: str, found: int) -> None:
    lines = ["for _, item in ipairs(items) do", line, "end"]
    (files / "mine.yaml").write_text(_of_cloneset("statusAggregation", "AggregateStatus(obj, items)", lines))

    assert run("validate", "mine.yaml").stdout.count("[crd-unknown-field]") == found


@rows(
    ("target", "field"),
    [
        ("{apiVersion: v1, kind: ConfigMap}", "data"),
        ("{apiVersion: v1, kind: Secret}", "stringData"),
        ("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}", "rules"),
        ("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding}", "subjects"),
        ("{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice}", "endpoints"),
    ],
)
def test_fields_of_a_kind_without_a_schema_are_not_judged(run: Run, files: Path, target: str, field: str) -> None:
    text = _of_cloneset("retention", "Retain(obj, observed)", [f"obj.{field} = observed.{field}", "return obj"])
    (files / "mine.yaml").write_text(text.replace("{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet}", target))

    result = run("validate", "mine.yaml")

    assert (result.exit_code, result.stdout) == (0, "")
