import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

Run = Callable[..., Result]

_OBSERVED = ("--observed-file", "job.yaml")
_MINE = ("-f", "karta.yaml")
_NO_REPORT = (
    "is not what a cluster reports: {clusterName: NAME, status: {…}}, as in a binding's status.aggregatedStatus"
)


@pytest.fixture(autouse=True)
def _files(files: Path) -> None:
    del files


def _rows(table: str) -> dict[str, list[str]]:
    """The answer of each operation, line by line."""
    rows: dict[str, list[str]] = {}
    name = ""
    for line in table.splitlines()[3:]:
        first, _, answer = line.partition("  ")
        name = first or name
        rows.setdefault(name, []).append(answer.strip())
    return rows


def test_single_operation_prints_blocks_of_karmadactl(run: Run) -> None:
    result = run("interpret", *_MINE, *_OBSERVED, "--operation", "interpretreplica")

    assert (result.exit_code, result.stderr) == (0, "")
    # As karmadactl/pkg/karmadactl/interpret/execute.go prints it.
    assert result.stdout == (
        '---\n# [1/2] replica:\n3\n---\n# [2/2] requires:\nresourceRequest:\n  cpu: "2"\n  memory: 8Gi\n'
    )


def test_absent_result_prints_null(run: Run, files: Path) -> None:
    (files / "bare.yaml").write_text("{apiVersion: example.io/v1, kind: Job, spec: {template: {spec: {}}}}")

    result = run("interpret", *_MINE, "--desired-file", "bare.yaml", "--operation", "InterpretReplica")

    assert result.stdout == "---\n# [1/2] replica:\n1\n---\n# [2/2] requires:\nnull\n"


@pytest.mark.parametrize(
    ("arguments", "result_name", "expected"),
    [
        pytest.param([*_OBSERVED, "--operation", "InterpretHealth"], "healthy", True, id="health"),
        pytest.param([*_OBSERVED, "--operation", "InterpretDependency"], "dependencies",
            [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "team", "name": "settings"}], id="dependencies"),
    ],
)  # fmt: skip
def test_answers_of_one_operation(run: Run, arguments: list[str], result_name: str, expected: object) -> None:
    result = run("interpret", *_MINE, *arguments)

    head, _, body = result.stdout.partition(":\n")
    assert head == f"---\n# [1/1] {result_name}"
    assert yaml.safe_load(body) == expected


def test_replicas_are_revised_in_the_object(run: Run) -> None:
    result = run("interpret", *_MINE, *_OBSERVED, "--operation", "ReviseReplica", "--desired-replica", "7")

    revised = yaml.safe_load(result.stdout)
    assert revised == yaml.safe_load(Path("job.yaml").read_text().replace("replicas: 3", "replicas: 7"))


def test_retain_takes_both_files(run: Run) -> None:
    result = run("interpret", *_MINE, "--desired-file", "desired.yaml", *_OBSERVED, "--operation", "Retain")

    assert result.exit_code == 0
    assert result.stdout.startswith("---\n# [1/1] retained:\napiVersion: example.io/v1\nkind: Job\n")


_BOTH = ("--desired-file", "desired.yaml", *_OBSERVED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            [*_OBSERVED, "--operation", "Nope"],
            "error: operation Nope is not supported. Use one of: Retain, InterpretReplica, InterpretComponent, "
            "ReviseReplica, ReviseComponents, InterpretStatus, AggregateStatus, InterpretHealth, InterpretDependency",
            id="unknown operation",
        ),
        pytest.param(
            ["--operation", "InterpretHealth"],
            "Execute InterpretHealth error: give the object: FILE or --object FILE,"
            ' "-" for stdin; -f is for definitions',
            id="no object",
        ),
        pytest.param([*_BOTH, "--operation", "interpretHealth"],
            "Execute InterpretHealth error: you can not specify both desired-file and observed-file options",
            id="two objects"),
        pytest.param(["--desired-file", "job.yaml", "--operation", "Retain"],
            "Execute Retain error: observed, observed-file options are not set",
            id="Retain without the observed object"),
        pytest.param([*_OBSERVED, "--operation", "ReviseReplica"],
            "Execute ReviseReplica error: desired-replica option is not set", id="ReviseReplica without a number"),
        *(
            pytest.param(
                [*_OBSERVED, option, ""],
                "error: a path is empty; is a variable of the shell not set?",
                id=f"an empty {option}",
            )
            for option in ("--desired-file", "--status-file")
        ),
        pytest.param(["--observed-file", "-", "--status-file", "-"],
            'error: only one option can read standard input ("-")', id="stdin twice"),
        pytest.param(["--desired-file", "other.yaml", *_OBSERVED],
            "error: the desired object is v1, Kind=Pod, but the observed one is example.io/v1, Kind=Job",
            id="objects of two kinds"),
    ],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(run: Run, files: Path, arguments: list[str], message: str) -> None:
    (files / "other.yaml").write_text("{apiVersion: v1, kind: Pod}")

    result = run("interpret", *_MINE, *arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{message}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("a: [", "error: it.yaml:", id="not YAML"),
        pytest.param("", "error: it.yaml: it contains no object", id="an empty file"),
        pytest.param("- 1", "error: it.yaml:1: this is not an object but [1]; `kubectl get", id="not an object"),
        pytest.param(
            "kind: Job", "error: it.yaml: an object needs a string in apiVersion", id="not a Kubernetes object"
        ),
        pytest.param(
            "{apiVersion: v1, kind: Pod}",
            "error: the given files have no definition for v1, Kind=Pod; they define example.io/v1, Kind=Job",
            id="another kind",
        ),
    ],
)
def test_unusable_object_is_exit_code_1(run: Run, files: Path, content: str, message: str) -> None:
    (files / "it.yaml").write_text(content)

    result = run("interpret", *_MINE, "--observed-file", "it.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(message)


def test_failed_operation_is_reported_on_stderr(run: Run, files: Path) -> None:
    (files / "job.yaml").write_text("{apiVersion: example.io/v1, kind: Job, spec: {replicas: x, template: {spec: {}}}}")

    result = run("interpret", *_MINE, *_OBSERVED, "--operation", "InterpretReplica")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Execute InterpretReplica error: definition job")


def test_broken_definition_shows_its_findings(run: Run, files: Path, karta: Callable[..., str]) -> None:
    (files / "karta.yaml").write_text(karta(replicas=".spec.replicas |"))

    result = run("interpret", *_MINE, *_OBSERVED)

    assert result.exit_code == 1
    assert "karta.yaml:16:" in result.stderr
    assert "there is none in them that can be used" in result.stderr


def test_undefined_kind_is_an_error(run: Run) -> None:
    result = run("interpret", *_OBSERVED)

    assert result.exit_code == 1
    names = "batch.volcano.sh/v1alpha1/Job, batch/v1/Job"
    assert result.stderr == (
        f"error: the catalogue has no definition for example.io/v1, Kind=Job; give one with -f; there are: {names}\n"
    )


def test_catalogue_answers_without_being_named(run: Run, files: Path) -> None:
    (files / "deployment.yaml").write_text(
        "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {spec: {containers: []}}}}"
    )

    result = run("interpret", "--desired-file", "deployment.yaml", "--operation", "InterpretReplica")

    assert result.stdout.startswith("---\n# [1/2] replica:\n2\n")


def test_first_definition_wins_and_others_are_named(run: Run, files: Path, karta: Callable[..., str]) -> None:
    (files / "mine.yaml").write_text(karta(name="mine", replicas='"7"'))

    result = run("interpret", "-f", "mine.yaml", "-f", "karta.yaml", *_OBSERVED, "--operation", "InterpretReplica")

    assert result.stdout.startswith("---\n# [1/2] replica:\n7\n")
    assert "mine from mine.yaml hides job from karta.yaml" in result.stderr


def test_broken_definition_before_good_one_is_reported(run: Run, files: Path, karta: Callable[..., str]) -> None:
    (files / "mine.yaml").write_text(karta(replicas=".a |"))
    (files / "unrelated.yaml").write_text(karta("Other", replicas=".b |"))

    result = run("interpret", "-f", "mine.yaml", "-f", "unrelated.yaml", *_MINE, *_OBSERVED, "-o", "json")

    assert result.exit_code == 0
    assert "mine.yaml:16:23: error [expression-syntax]" in result.stderr
    assert "unrelated.yaml" not in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("- 1", f"it.yaml:1:3: the item {_NO_REPORT}", id="a list of numbers"),
        pytest.param("applied: 1", "it.yaml:1:1: the item.applied must be a boolean, but is a number",
            id="a number for a boolean"),
        pytest.param("clusterName: m1\n---\nclusterName: m1",
            "it.yaml:3:1: the item is a second one of m1: each cluster has one", id="a cluster twice"),
        pytest.param("{clusterName: m1, heath: Healthy}",
            "it.yaml:1:1: the item has no field heath; did you mean health?", id="a typo"),
    ],
)  # fmt: skip
def test_statuses_that_cannot_be_read(run: Run, files: Path, content: str, message: str) -> None:
    (files / "it.yaml").write_text(content)

    result = run("interpret", *_MINE, *_OBSERVED, "--status-file", "it.yaml")

    assert (result.exit_code, result.stderr) == (1, f"error: {message}\n")


@pytest.mark.parametrize("option", ["-f", "--observed-file"])
def test_standard_input_is_a_file(run: Run, option: str) -> None:
    paths = {"-f": "karta.yaml", "--observed-file": "job.yaml"}
    stdin = Path(paths[option]).read_text()
    arguments = [part for name, path in {**paths, option: "-"}.items() for part in (name, path)]

    result = run("interpret", *arguments, "--operation", "InterpretReplica", stdin=stdin)

    assert result.stdout.startswith("---\n# [1/2] replica:\n3\n")


def test_list_with_one_object_is_that_object(run: Run) -> None:
    stdin = json.dumps({"kind": "List", "items": [yaml.safe_load(Path("job.yaml").read_text())]})

    result = run("interpret", *_MINE, "--observed-file", "-", "--operation", "InterpretHealth", stdin=stdin)

    assert result.stdout == "---\n# [1/1] healthy:\ntrue\n"


def test_without_an_operation_all_that_can_be_asked_are(run: Run) -> None:
    result = run("interpret", *_MINE, *_OBSERVED)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "Job team/demo, interpreted by job (karta.yaml)"
    assert _rows(result.stdout) == {
        "InterpretReplica": ["3 pods, cpu 2, memory 8Gi each"],
        "InterpretComponent": ["main  3 pods, cpu 2, memory 8Gi each"],
        "InterpretStatus": ["phase  Running"],
        "InterpretHealth": ["yes (status Running)"],
        "InterpretDependency": ["v1  ConfigMap  team/settings"],
    }
    assert result.stderr.splitlines() == [
        "ReviseReplica skipped: pass --desired-replica",
        "Retain skipped: pass --desired-file",
        "AggregateStatus skipped: pass --status-file",
    ]


def test_object_without_status_is_not_judged(run: Run, files: Path) -> None:
    (files / "job.yaml").write_text(Path("job.yaml").read_text().partition("status:")[0])

    assert _rows(run("interpret", *_MINE, *_OBSERVED).stdout)["InterpretHealth"] == [
        "no (the object has no status yet)"
    ]
    assert "status Undefined (the object has no status yet); a kind" in " ".join(
        run("explain", *_MINE, *_OBSERVED[1:], "--operation", "InterpretHealth").stdout.split()
    )


def test_complete_inputs_answer_every_operation(run: Run) -> None:
    result = run("interpret", *_MINE, *_BOTH, "--status-file", "statuses.yaml", "--desired-replica", "9")

    rows = _rows(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert list(rows) == [
        "InterpretReplica",
        "InterpretComponent",
        "ReviseReplica",
        "Retain",
        "AggregateStatus",
        "InterpretStatus",
        "InterpretHealth",
        "InterpretDependency",
    ]
    assert rows["ReviseReplica"] == ["spec.replicas: 5 -> 9"]
    assert rows["AggregateStatus"] == ["no change"]


def test_failed_operation_does_not_hide_the_others(run: Run, files: Path) -> None:
    text = Path("job.yaml").read_text().replace("replicas: 3", "replicas: x")
    (files / "job.yaml").write_text(text)

    result = run("interpret", *_MINE, *_OBSERVED)

    rows = _rows(result.stdout)
    assert result.exit_code == 1
    assert rows["InterpretReplica"][0].startswith("error: definition job")
    assert rows["InterpretHealth"] == ["yes (status Running)"]


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_answers_for_programs(run: Run, output: str) -> None:
    result = run("interpret", *_MINE, *_OBSERVED, "-o", output)

    assert json.loads(result.stdout) if output == "json" else True
    document = yaml.safe_load(result.stdout)
    assert document["definition"] == "job"
    assert document["name"] == "team/demo"
    assert document["operations"]["InterpretHealth"] == {"results": {"healthy": True}}
    assert document["operations"]["InterpretReplica"]["results"]["replica"] == 3


def test_errors_for_programs(run: Run, files: Path) -> None:
    (files / "job.yaml").write_text("{apiVersion: example.io/v1, kind: Job, spec: {replicas: x, template: {spec: {}}}}")

    result = run("interpret", *_MINE, *_OBSERVED, "--operation", "InterpretReplica", "-o", "json")

    assert result.exit_code == 1
    (outcome,) = json.loads(result.stdout)["operations"].values()
    assert list(outcome) == ["error"]


def test_operations_annotation_is_respected(run: Run, files: Path, karta: Callable[..., str]) -> None:
    annotation = "metadata:\n  annotations:\n    karta-interpreter.io/operations: InterpretHealth\n"
    (files / "karta.yaml").write_text(karta().replace("metadata:\n", annotation))

    result = run("interpret", *_MINE, *_OBSERVED)

    assert (result.exit_code, list(_rows(result.stdout))) == (0, ["InterpretHealth"])
    assert "InterpretReplica skipped: the definition's annotation" in result.stderr


def test_health_says_when_the_status_is_out_of_date(run: Run, tmp_path: Path) -> None:
    stale = {"status": {"observedGeneration": 1, "readyReplicas": 1}, "metadata": {"name": "web", "generation": 2}}
    live = tmp_path / "live.json"
    live.write_text(json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", **stale}))
    assert "no (its status belongs to an older generation)" in run("interpret", "--observed-file", str(live)).stdout


_TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: nlp}
spec: {runtimeRef: {name: torch}, trainer: {numNodes: 4}}
"""
_RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, resources: {requests: {cpu: "2"}}}]}}}
"""


@pytest.fixture
def trainjob(files: Path) -> tuple[str, ...]:
    (files / "trainjob.yaml").write_text(_TRAINJOB)
    (files / "runtimes").mkdir()
    (files / "runtimes" / "torch.yaml").write_text(_RUNTIME)
    return ("interpret", "--observed-file", "trainjob.yaml")


def test_objects_that_are_referred_to_come_from_files(run: Run, trainjob: tuple[str, ...]) -> None:
    for path in ("runtimes", "runtimes/torch.yaml"):
        result = run(*trainjob, "--reference-file", path)
        assert _rows(result.stdout)["InterpretReplica"] == ["4 pods, cpu 2 each"]


def test_missing_referenced_object_is_named(run: Run, trainjob: tuple[str, ...]) -> None:
    result = run(*trainjob, "--operation", "InterpretReplica")
    assert result.exit_code == 0
    assert "replica:\n4\n" in result.stdout
    assert "the launcher, the initializers and the other containers of a runtime that is not here" in result.stderr
    assert "given, with --reference-file" in " ".join(result.stderr.split())
    assert (
        "Kind=ClusterTrainingRuntime torch cannot be looked up: it is not among the references that were given"
        in result.stderr
    )


def test_absent_object_of_known_count_is_warning(run: Run, files: Path) -> None:
    (files / "rollout.yaml").write_text(
        "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: shop},"
        " spec: {replicas: 3, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: shop}}}"
    )
    result = run("interpret", "--desired-file", "rollout.yaml", "--operation", "InterpretReplica")
    assert result.exit_code == 0
    assert "replica:\n3\n" in result.stdout
    assert (
        "apps/v1, Kind=Deployment shop cannot be looked up: it is not among the references that were given"
        in result.stderr
    )
    assert "what its pods request there is not answered" in result.stderr


def test_standard_input_is_read_once(run: Run, trainjob: tuple[str, ...]) -> None:
    result = run(*trainjob[:2], "-", "--reference-file", "-", stdin=_TRAINJOB)
    assert result.exit_code == 2
    assert "only one option can read standard input" in result.stderr
