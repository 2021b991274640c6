"""The examples of Karta's and Karmada's documents, as they are printed (docs/developers/proofs.md has the list)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter import ComponentNotFoundError, Karta, Workload
from tests.support.rows import rows

Run = Callable[..., Result]
_FOLDER = Path(__file__).parent / "documents"
_COMPLETE, _DEPLOYMENT = str(_FOLDER / "complete.yaml"), str(_FOLDER / "deployment.yaml")
_COMPONENTS, _WORKLOAD = str(_FOLDER / "components.yaml"), str(_FOLDER / "workload.yaml")
_REQUIREMENTS = {"resourceRequest": {"cpu": "100m"}}


def _results(text: str) -> list[Any]:
    """The values of the blocks that karmadactl prints for one operation."""
    return [document for document in yaml.safe_load_all(text) if document is not None]


@rows(
    ("operation", "arguments", "expected"),
    [
        pytest.param("InterpretReplica", (), [2, _REQUIREMENTS], id="count and requests"),
        pytest.param("InterpretStatus", (), [{"replicas": 2, "readyReplicas": 2}], id="the whole status"),
        pytest.param("InterpretHealth", (), [True], id="all replicas are ready"),
        pytest.param(
            "InterpretDependency",
            (),
            [[{"apiVersion": "v1", "kind": "ServiceAccount", "namespace": "library", "name": "reader"}]],
            id="the account of the pods",
        ),
    ],
)
def test_complete_customization_answers(run: Run, operation: str, arguments: tuple[str, ...], expected: Any) -> None:
    done = run("interpret", "-f", _COMPLETE, "--observed-file", _DEPLOYMENT, "--operation", operation, *arguments)
    assert (done.exit_code, _results(done.stdout)) == (0, expected)


@rows(
    ("operation", "arguments", "changed"),
    [
        pytest.param("ReviseReplica", ("--desired-replica", "5"), {"replicas": 5}, id="another count"),
        pytest.param("Retain", ("--desired-file", _DEPLOYMENT), {"paused": True}, id="the switch of the member"),
    ],
)
def test_complete_customization_changes_the_object(
    run: Run, operation: str, arguments: tuple[str, ...], changed: dict[str, Any]
) -> None:
    done = run("interpret", "-f", _COMPLETE, "--observed-file", _DEPLOYMENT, "--operation", operation, *arguments)
    (result,) = _results(done.stdout)
    assert {key: result["spec"][key] for key in changed} == changed


def test_complete_customization_aggregates(run: Run) -> None:
    items = str(_FOLDER / "status.yaml")
    done = run(
        *("interpret", "-f", _COMPLETE, "--desired-file", _DEPLOYMENT),
        *("--status-file", items, "--operation", "AggregateStatus"),
    )
    (result,) = _results(done.stdout)
    assert result["status"]["readyReplicas"] == 3


def test_several_components_answer_with_the_object_as_f(run: Run) -> None:
    done = run("interpret", "-f", _WORKLOAD, "--operation=InterpretComponent", f"--customization={_COMPONENTS}")
    (components,) = _results(done.stdout)
    assert components == [
        {
            "name": "frontend",
            "replicas": 3,
            "replicaRequirements": {"resourceRequest": {"cpu": "500m", "memory": "512Mi"}},
        },
        {"name": "backend", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}},
    ]


def test_customization_needs_one_object_in_f(run: Run) -> None:
    asked = ("interpret", "--customization", _COMPONENTS, "--operation", "InterpretComponent")
    none, two = run(*asked), run(*asked, "-f", _JOBSET, "-f", _COMPLETE)
    assert (none.exit_code, "give the object: FILE" in none.stderr) == (2, True)
    assert (two.exit_code, "-f is the object, here" in two.stderr) == (2, True)


def test_check_says_what_validate_says(run: Run) -> None:
    broken = str(Path("docs/examples/trainjob-scripts-broken.yaml").absolute())
    for path in (_COMPLETE, broken):
        checked, validated = run("interpret", "-f", path, "--check"), run("validate", "-f", path)
        assert (checked.exit_code, checked.output) == (validated.exit_code, validated.output)
    assert checked.exit_code == 1, "a script that cannot be used"


def test_check_asks_nothing(run: Run) -> None:
    done = run("interpret", "-f", _COMPLETE, "--check", "--operation", "InterpretReplica")
    assert (done.exit_code, "--check asks nothing" in done.stderr) == (2, True)


_JOBSET = str(_FOLDER / "jobset.yaml")
_NAMES = ("master", "worker")


@pytest.fixture(params=["karta-jobset.yaml", "resourceinterface-jobset.yaml"])
def jobset_definition(request: pytest.FixtureRequest) -> str:
    return str(_FOLDER / request.param)


def test_definition_of_jobset_is_served_with_warnings(run: Run, jobset_definition: str) -> None:
    validated = run("validate", jobset_definition)
    assert validated.exit_code == 0
    assert 'pods of the component "replicatedjob" cannot be told apart by instance' in validated.output

    kinds = run(
        *("export", "webhook-configuration", "-f", jobset_definition, "--no-catalogue"), *("--service", "karta/server")
    )
    assert "InterpretHealth" in kinds.stdout


def test_definition_of_jobset_counts_and_judges(run: Run, jobset_definition: str) -> None:
    def answered(operation: str) -> list[Any]:
        done = run("interpret", "-f", jobset_definition, "--observed-file", _JOBSET, "--operation", operation)
        assert done.exit_code == 0, done.output
        return _results(done.stdout)

    (components,) = answered("InterpretComponent")
    assert [(each["name"], each["replicas"]) for each in components] == [("master", 1), ("worker", 3)]
    assert answered("InterpretReplica")[0] == 4
    assert answered("InterpretHealth") == [True]


def test_definition_of_jobset_answers_requests_of_pod_templates(run: Run) -> None:
    definition = str(_FOLDER / "karta-jobset.yaml")
    done = run("interpret", "-f", definition, "--observed-file", _JOBSET, "--operation", "InterpretComponent")
    (components,) = _results(done.stdout)
    requests = [each["replicaRequirements"]["resourceRequest"] for each in components]
    assert requests == [{"cpu": "2"}, {"nvidia.com/gpu": "8"}]


def test_path_that_ends_at_the_template_of_a_job_leaves_requests_unknown(run: Run) -> None:
    definition = str(_FOLDER / "resourceinterface-jobset.yaml")
    done = run("interpret", "-f", definition, _JOBSET)
    assert "spec.replicatedJobs[1].template has no containers; its spec.template is one level further in" in done.stderr


def test_library_reads_the_definition_of_jobset(jobset_definition: str) -> None:
    karta = Karta.load(Path(jobset_definition).read_text(encoding="utf-8"))
    workload = Workload(karta, yaml.safe_load(Path(_JOBSET).read_text(encoding="utf-8")))

    component = workload.component("replicatedjob")
    assert component.owner == workload.component("jobset")
    assert {name: scale.replicas for name, scale in component.scales.items()} == {"master": 1, "worker": 3}
    assert [str(status) for status in workload.status.matched] == ["Running"]
    pod = {"metadata": {"name": "my-training-job-worker-0-0-x7k2p"}}
    assert workload.infer_component(pod) == "replicatedjob"
    with pytest.raises(ComponentNotFoundError, match="pods cannot be told apart by instance"):
        workload.infer_instance(pod)
