import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from karta_interpreter.definitions.sources.files import load_catalogue
from tests.support.rows import rows

Run = Callable[..., Result]

CUSTOMIZATION = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: job}
spec:
  target: {apiVersion: example.io/v1, kind: Job}
  customizations:
    replicaResource:
      luaScript: function GetReplicas(obj) return obj.spec.replicas, nil end
    healthInterpretation:
      luaScript: function InterpretHealth(obj) return obj.status.phase == 'Running' end
"""
SUITE = """\
name: four pods
desiredObj: {apiVersion: example.io/v1, kind: Job, spec: {replicas: 4, template: {spec: {}}}}
operation: InterpretReplica
output: {replica: 4}
"""


@pytest.fixture(autouse=True)
def _files(files: Path, karta: Callable[..., str]) -> None:
    (files / "customization.yaml").write_text(CUSTOMIZATION)
    (files / "doubled.yaml").write_text(karta(replicas=".spec.replicas * 2"))
    (files / "other.yaml").write_text(karta("Other"))


def _diff(run: Run, before: str, after: str, *arguments: str) -> Result:
    return run("diff", "--from", before, "--to", after, *(arguments or ("--object", "job.yaml")))


def _changes(result: Result) -> dict[str, list[tuple[str, object, object]]]:
    """The differences of each operation: path, before and after."""
    return {
        each["operation"]: [(it["path"], it.get("from"), it.get("to")) for it in each["differences"]]
        for each in json.loads(result.stdout)
    }


def test_definition_does_not_differ_from_itself(run: Run) -> None:
    result = _diff(run, "karta.yaml", "karta.yaml")

    assert (result.exit_code, result.stdout) == (0, "")
    same = "warning: --from and --to are the same, and so are their answers\n"
    assert result.stderr == f"{same}11 questions: 0 answers differ\n"


def test_diff_shows_each_place_of_an_answer(run: Run) -> None:
    result = _diff(run, "karta.yaml", "doubled.yaml")

    assert result.exit_code == 1
    assert "job.yaml:1: Job team/demo: InterpretReplica\n  replica\n  - 3\n  + 6\n" in result.stdout
    assert "  components[0].replicas\n  - 3\n  + 6\n" in result.stdout
    assert "  revised.spec.replicas\n  - 4\n  + 2\n" in result.stdout
    assert result.stderr == "11 questions: 5 answers differ\n"


def test_diff_compares_script_with_karta(run: Run) -> None:
    changes = _changes(_diff(run, "customization.yaml", "karta.yaml", "--object", "job.yaml", "-o", "json"))

    requires = {"resourceRequest": {"cpu": "2", "memory": "8Gi"}}
    assert changes["InterpretReplica"] == [("requires", None, requires)]
    assert changes["InterpretDependency"][0][:2] == ("", "not answered")
    assert "InterpretHealth" not in changes  # both find it healthy


def test_error_differs_from_answer_but_not_from_error(run: Run, files: Path) -> None:
    (files / "broken.yaml").write_text(
        "{apiVersion: example.io/v1, kind: Job, metadata: {name: x}, spec: {replicas: many, template: {spec: {}}}}"
    )
    (files / "fixed.yaml").write_text((files / "karta.yaml").read_text().replace(".spec.replicas", ".spec.count"))

    both = _diff(run, "karta.yaml", "doubled.yaml", "--object", "broken.yaml", "-o", "json")
    one = _diff(run, "karta.yaml", "fixed.yaml", "--object", "broken.yaml", "-o", "json")

    assert "InterpretReplica" not in _changes(both)
    ((path, before, after),) = _changes(one)["InterpretReplica"]
    assert (path, after) == ("", {"replica": 1, "requires": None})
    assert str(before).startswith("error: ")


def test_diff_asks_calls_of_a_suite(run: Run, files: Path) -> None:
    (files / "testdata").mkdir()
    (files / "testdata" / "suite.yaml").write_text(SUITE)

    for given in ("testdata/suite.yaml", "testdata"):
        result = _diff(run, "karta.yaml", "doubled.yaml", "--object", given)

        assert "testdata/suite.yaml:1: Job four pods: InterpretReplica\n  replica\n  - 4\n  + 8\n" in result.stdout
        assert result.stderr == "1 question: 1 answer differs\n"


@rows(
    "arguments",
    ["a.yaml b.yaml", "--to b.yaml", "job.yaml karta.yaml", "job.yaml new.yaml", "--from karta.yaml job.yaml"],
)
def test_line_without_two_sides_is_wrong_usage(run: Run, files: Path, arguments: str) -> None:
    (files / "new.yaml").write_text((files / "job.yaml").read_text())
    result = run("diff", *arguments.split())
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)


def test_desired_replica_is_asked(run: Run) -> None:
    result = _diff(run, "karta.yaml", "doubled.yaml", "--object", "job.yaml", "--desired-replica", "10")

    assert "  revised.spec.replicas\n  - 10\n  + 5\n" in result.stdout


def test_kind_of_the_catalogue_is_compared_with_a_folder(run: Run, files: Path) -> None:
    (job,) = (entry.definition for entry in load_catalogue().entries if entry.definition.gvk.kind == "JobSet")
    (files / "kartas").mkdir()
    (files / "kartas" / "karta.yaml").write_text(Path(job.source).read_text().replace("// 1", "// 2"))
    template = {"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}
    spec = {"replicatedJobs": [{"name": "workers", "template": template}]}
    api = {"apiVersion": job.gvk.api_version, "kind": "JobSet", "metadata": {"name": "x"}}
    (files / "jobset.yaml").write_text(json.dumps({**api, "spec": spec}))

    result = _diff(run, "kartas", "JobSet", "--object", "jobset.yaml")
    same = _diff(run, "catalogue", "catalogue", "--object", "jobset.yaml")
    others = _diff(run, "JobSet", "JobSet", "--object", "job.yaml")

    assert result.exit_code == 1
    assert "InterpretReplica" in result.stdout
    assert (same.exit_code, same.stdout) == (0, "")
    assert (others.exit_code, others.stdout) == (1, "")
    assert others.stderr.splitlines()[0] == "warning: neither side has a definition for example.io/v1, Kind=Job"
    assert others.stderr.endswith(" questions: nothing was compared\n")


@pytest.mark.parametrize(
    ("before", "after", "option"), [("karta.yaml", "JobSet", "--to"), ("JobSet", "karta.yaml", "--from")]
)
def test_side_without_a_definition_is_named(run: Run, before: str, after: str, option: str) -> None:
    first = _diff(run, before, after).stderr.splitlines()[0]

    assert first == f"warning: {option} has no definition for example.io/v1, Kind=Job"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(("Jobset", "Job", "--object", "none.yaml"), 2, "error: none.yaml: No such file or directory",
            id="no file"),
        pytest.param(("RayClster", "Job", "--object", "job.yaml"), 2,
            "error: RayClster is neither a file nor a kind of the catalogue; did you mean RayCluster?",
            id="a typo in a kind"),
        pytest.param(("karta.yaml", "Job", "--object", "karta.yaml"), 1,
            "error: karta.yaml: there is no object and no suite in it", id="definitions only"),
        pytest.param(("-", "Job", "--object", "-"), 2, "error: only one option can read standard input",
            id="stdin twice"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(run: Run, files: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    (files / "list.yaml").write_text("[1, 2]")

    result = _diff(run, *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_explained_diff_names_cause_in_definition(run: Run) -> None:
    result = _diff(run, "karta.yaml", "doubled.yaml", "--object", "job.yaml", "--explain")

    assert "  + 6\n  cause: rootComponent.scaleDefinition.replicasPath: .spec.replicas * 2\n" in result.stdout


def test_operation_of_only_one_side_is_one_line(run: Run) -> None:
    result = _diff(run, "customization.yaml", "karta.yaml")
    back = _diff(run, "karta.yaml", "customization.yaml")

    assert "InterpretDependency\n  answered now\n\n" in result.stdout
    assert "InterpretDependency\n  no longer answered\n\n" in back.stdout


def test_text_is_distinguished_from_a_number_and_from_nothing(run: Run, files: Path) -> None:
    for name, status in (("before.yaml", "{cpu = '3', message = ''}"), ("after.yaml", "{cpu = 3}")):
        script = f"function ReflectStatus(obj) return {status} end"
        (files / name).write_text(
            CUSTOMIZATION.partition("    replicaResource")[0] + f"    statusReflection:\n      luaScript: {script!r}\n"
        )
    result = _diff(run, "before.yaml", "after.yaml", "--object", "job.yaml")

    assert '  status.cpu\n  - "3"\n  + 3\n  status.message\n  - ""\n' in result.stdout


def test_long_value_is_shown_with_full(run: Run, files: Path) -> None:
    for name, letter in (("before.yaml", "a"), ("after.yaml", "b")):
        script = f"function ReflectStatus(obj) return {{message = '{letter * 300}'}} end"
        (files / name).write_text(
            CUSTOMIZATION.partition("    replicaResource")[0] + f"    statusReflection:\n      luaScript: {script}\n"
        )

    assert f'  + "{"b" * 159}… (302 characters: --full)\n' in _diff(run, "before.yaml", "after.yaml").stdout
    assert f'  + "{"b" * 300}"\n' in _diff(run, "before.yaml", "after.yaml", "--object", "job.yaml", "--full").stdout


def test_difference_to_script_of_karmada_shows_reason(run: Run, files: Path) -> None:
    script = CUSTOMIZATION.replace("example.io/v1, kind: Job", "ray.io/v1, kind: RayCluster")
    (files / "ray.yaml").write_text(script.replace("== 'Running'", "== 'ready'"))
    cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "x"}, "status": {"state": "ready"}}
    (files / "cluster.yaml").write_text(json.dumps(cluster))

    result = _diff(run, "ray.yaml", "RayCluster", "--object", "cluster.yaml")
    table = _diff(run, "ray.yaml", "RayCluster", "--object", "cluster.yaml", "-o", "json")

    (health,) = [each for each in json.loads(table.stdout) if each["operation"] == "InterpretHealth"]
    assert health["known"].startswith("The Karta reads `state` where there are no conditions")
    assert f"  known: {health['known']}\n" in result.stdout


@pytest.mark.parametrize(("divided", "is_known"), [("share", True), ("count", False)])
def test_reason_is_for_the_fields_that_it_names(run: Run, files: Path, divided: str, *, is_known: bool) -> None:
    script = "function ReviseReplica(obj, count) obj.spec.replicas = count return obj end"
    lost = "function ReviseReplica(obj, count) return obj end"
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "cloneset"},
        "spec": {
            "target": {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet"},
            "customizations": {"replicaRevision": {"luaScript": script if divided == "share" else lost}},
        },
    }
    (files / "cloneset.yaml").write_text(json.dumps(customization))
    suite = Path(__file__).parents[2] / "docs" / "examples" / "lua" / "testdata" / "replicas.yaml"

    shown = _diff(run, "cloneset.yaml", "CloneSet", str(suite)).stdout

    assert "updateStrategy.partition" in shown
    assert ("  known: " in shown, "spec.replicas" in shown) == (is_known, not is_known)


def test_known_reason_is_said_once(run: Run, files: Path) -> None:
    script = CUSTOMIZATION.replace("example.io/v1, kind: Job", "ray.io/v1, kind: RayCluster")
    (files / "ray.yaml").write_text(script)
    cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "status": {"state": "ready"}}
    for name in ("a", "b"):
        (files / f"{name}.yaml").write_text(json.dumps({**cluster, "metadata": {"name": name}}))

    shown = _diff(run, "ray.yaml", "RayCluster", "a.yaml", "b.yaml").stdout

    assert shown.count("  known: The Karta reads `state`") == 1
    assert shown.count("The Karta reads `state`") == 1
    assert shown.count("  known: the reason above\n") == 1


@pytest.mark.parametrize(
    ("answer", "is_known"),
    [
        pytest.param("0, {resourceRequest = {cpu = '1'}}", True, id="replicas that are left unset"),
        pytest.param("1, nil", False, id="requests, which the reason does not name"),
    ],
)
def test_reason_of_a_count_is_for_the_count(run: Run, files: Path, answer: str, *, is_known: bool) -> None:
    text = CUSTOMIZATION.replace("example.io/v1, kind: Job", "apps.kruise.io/v1alpha1, kind: CloneSet")
    (files / "script.yaml").write_text(text.replace("return obj.spec.replicas, nil", f"return {answer}"))
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    spec = {"template": {"spec": {"containers": [container]}}}
    clone_set = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "metadata": {"name": "x"}, "spec": spec}
    (files / "cloneset.yaml").write_text(json.dumps(clone_set))

    changes = json.loads(_diff(run, "script.yaml", "CloneSet", "cloneset.yaml", "-o", "json").stdout)

    (count,) = [change for change in changes if change["operation"] == "InterpretReplica"]
    assert [place["path"] for place in count["differences"]] == ["replica" if is_known else "requires"]
    assert ("known" in count) == is_known


def _annotated(text: str, name: str, value: str) -> str:
    return text.replace("\nspec:", f"\n  annotations: {{karta-interpreter.io/{name}: '{value}'}}\nspec:", 1)


@pytest.mark.parametrize(
    ("retain", "place"),
    [
        pytest.param("- .spec.a", "retained.spec.a", id="a field that neither object has"),
        pytest.param("- .spec.replicas", "retained.spec.replicas", id="a field with another value"),
        pytest.param("- .metadata.annotations", "retained.metadata.annotations", id="a field of another writer"),
    ],
)
def test_diff_asks_retain_beside_a_member_with_other_values(
    run: Run, files: Path, karta: Callable[..., str], retain: str, place: str
) -> None:
    (files / "before.yaml").write_text(_annotated(karta(), "retain", retain))
    (files / "job.yaml").write_text(
        (files / "job.yaml").read_text().replace("name: demo", "name: demo\n  annotations: {}")
    )

    changes = _changes(_diff(run, "before.yaml", "karta.yaml", "--object", "job.yaml", "-o", "json"))

    assert any(path.startswith(place) for path, *_ in changes["Retain"])


def test_diff_asks_retain_of_a_workload_in_a_queue(run: Run, files: Path, karta: Callable[..., str]) -> None:
    switch = (
        "suspendActions: [{path: .spec.suspend, value: true}], resumeActions: [{path: .spec.suspend, value: false}]"
    )
    text = karta().replace("      scaleDefinition", f"      suspendDefinition: {{{switch}}}\n      scaleDefinition")
    (files / "before.yaml").write_text(_annotated(text, "queue-labels", "example.io/queue"))
    (files / "after.yaml").write_text(_annotated(text, "queue-labels", "none"))
    (files / "job.yaml").write_text((files / "job.yaml").read_text().replace("spec:", "spec:\n  suspend: false", 1))

    result = _diff(run, "before.yaml", "after.yaml")

    assert "Job team/demo with the label example.io/queue: Retain\n  retained.spec.suspend" in result.stdout


def test_diff_asks_for_one_more_pod_of_each_component(run: Run, files: Path) -> None:
    folder = Path(__file__).parents[2] / "docs/examples/search"
    text = (folder / "karta/karta.yaml").read_text()
    (files / "other.yaml").write_text(text.replace(".spec.dashboard.replicas // 1", ".spec.dashboard.replicas + 0"))

    result = _diff(run, str(folder / "karta"), "other.yaml", "--object", str(folder / "logs.yaml"))

    assert "logs with one more dashboard: ReviseComponents\n" in result.stdout
    assert "logs with one more leader" not in result.stdout
