import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

Run = Callable[..., Result]

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "tests" / "catalogue" / "manifests"
JOB = ("tree", "-f", "karta.yaml", "--object")

PODS = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, spec: {nodeName: n1},
   metadata: {name: head-x, labels: {ray.io/cluster: batch-inference, ray.io/node-type: head}},
   status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: spot-y, labels: {ray.io/node-type: worker, ray.io/group: spot-cpu}},
   status: {phase: Pending}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: no-pod}}
"""
STRAY = """\
---
{apiVersion: v1, kind: Pod, metadata: {name: gone, labels: {ray.io/node-type: worker, ray.io/group: gone}}}
"""


@pytest.mark.usefixtures("files")
def test_tree_of_only_component_is_one_line(run: Run) -> None:
    result = run(*JOB, "job.yaml")

    assert (result.exit_code, result.stdout) == (0, "Job team/demo: Running, 3 pods, cpu 2, memory 8Gi each\n")


def test_pods_are_leaves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pods.yaml").write_text(PODS)

    result = run("tree", "--object", str(MANIFESTS / "raycluster.yaml"), "--pods", str(tmp_path / "pods.yaml"))

    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "RayCluster recommender/batch-inference: no status yet\n"
        "├── head: 1 pod, 1 current, 1 ready, cpu 4500m, memory 16896Mi each\n"
        "│   └── head-x: Running, ready, on n1\n"
        "├── worker\n"
        "│   ├── spot-cpu: 6 pods (2 to 40), 1 current, 0 ready, cpu 7500m, memory 28Gi each, "
        "cpu 45, memory 168Gi in all\n"
        "│   │   └── spot-y: Pending, not ready\n"
        "│   └── tpu-slice: 8 pods (0 to 16), 0 current, 0 ready, cpu 60, google.com/tpu 4, memory 180Gi each, "
        "cpu 480, google.com/tpu 32, memory 1440Gi in all\n"
        # The head, the least of spot-cpu, and all of tpu-slice, whose least is 0.
        "├── group raycluster batch-inference: of head and worker, at least 11 pods together, 1 run, 10 missing\n"
        # It has no label ray.io/cluster, the key of the group.
        "└── in no group: spot-y\n"
        "    └── definition ray-io-raycluster-v1, component worker, "
        'groupByKeyPaths `.metadata.labels["ray.io/cluster"]`, pod spot-y: '
        "gives null, which says nothing: is it a pod of another workload?\n"
    )


def test_rule_of_group_is_shown_without_pods(run: Run) -> None:
    result = run("tree", "--object", str(MANIFESTS / "raycluster.yaml"))

    assert result.stdout.endswith('└── group raycluster: of head and worker, by .metadata.labels["ray.io/cluster"]\n')


def test_pods_are_read_as_an_api_server_lists_them(run: Run) -> None:
    pods = "{kind: PodList, apiVersion: v1, items: [{metadata: {name: head-x, labels: {ray.io/node-type: head}}}]}"

    result = run("tree", "--object", str(MANIFESTS / "raycluster.yaml"), "--pods", "-", stdin=pods)

    assert result.exit_code == 0, result.output
    assert "head-x: not ready" in result.stdout


def test_stray_pod_is_reported_with_exit_code_1(run: Run) -> None:
    result = run("tree", "--object", str(MANIFESTS / "raycluster.yaml"), "--pods", "-", stdin=PODS + STRAY)

    assert result.exit_code == 1
    assert "pod gone is of the instance 'gone'" in result.stderr
    assert "head-x" in result.stdout


def test_pod_of_another_job_with_the_same_labels_is_left_out(run: Run, tmp_path: Path) -> None:
    template = {"spec": {"containers": [{"name": "mpi"}]}}
    parts = {"Launcher": {"template": template}, "Worker": {"replicas": 2, "template": template}}
    job: dict[str, Any] = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "spec": {"mpiReplicaSpecs": parts}}
    job["metadata"] = {"name": "pi", "uid": "ours"}
    labels = {"training.kubeflow.org/job-name": "pi", "training.kubeflow.org/job-role": "worker"}
    pods = []
    for name, uid, owner in (("mine", "ours", "pi"), ("other", "theirs", "another")):
        reference = {"apiVersion": job["apiVersion"], "kind": "MPIJob", "name": owner, "uid": uid}
        metadata = {"name": name, "labels": labels, "ownerReferences": [reference]}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
    (tmp_path / "job.yaml").write_text(json.dumps(job))
    (tmp_path / "pods.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))

    result = run("tree", str(tmp_path / "job.yaml"), "--pods", str(tmp_path / "pods.yaml"))

    assert result.exit_code == 1
    assert "mine: not ready" in result.stdout
    assert "other" not in result.stdout
    assert "pod other is owned by MPIJob another" in result.stderr


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_for_programs(run: Run, output: str, read: Callable[[str], dict[str, object]]) -> None:
    tree = read(run("tree", "--object", str(MANIFESTS / "jobset.yaml"), "-o", output).stdout)

    assert (tree["kind"], tree["replicas"], tree["status"]) == ("JobSet", 34, {"phases": ["Undefined"]})


@pytest.mark.parametrize("arguments", [("job.yaml",), ("--object", "job.yaml"), ("./job.yaml",)])
@pytest.mark.usefixtures("files")
def test_workload_is_file_or_option(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("tree", *arguments, "-f", "karta.yaml")

    assert (result.stdout, result.stderr) == ("Job team/demo: Running, 3 pods, cpu 2, memory 8Gi each\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param((*JOB, "job.yaml", "--pods", "karta.yaml"), 1, "no Pod; --pods takes", id="pods that are none"),
        pytest.param((*JOB, "-", "--pods", "-"), 2, "only one option can read standard input", id="stdin twice"),
        pytest.param((*JOB, "statuses.yaml"), 1,
            "no object of a kind that the definitions describe: this is the status of a member", id="two statuses"),
        pytest.param(("tree",), 2, 'give the object: FILE or --object FILE, "-" for stdin; -f is for definitions',
            id="no workload"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("files")
def test_wrong_usage(run: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_unanswerable_workload_is_an_error(run: Run, files: Path) -> None:
    workload = yaml.safe_load((files / "job.yaml").read_text())
    workload["spec"]["replicas"] = "many"
    (files / "job.yaml").write_text(yaml.safe_dump(workload))

    result = run(*JOB, "job.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    (error,) = result.stderr.splitlines()
    assert error.startswith("error: definition job, component main, replicasPath")


@pytest.mark.parametrize("kind", ["serving.kserve.io/v1beta1, InferenceService", "argoproj.io/v1alpha1, Workflow"])
def test_workload_without_its_optional_references_has_tree(run: Run, kind: str) -> None:
    api_version, _, name = kind.partition(", ")
    container = {"name": "main", "image": "main:1", "resources": {"requests": {"cpu": "2"}}}
    spec = {
        "InferenceService": {
            "predictor": {"model": {"modelFormat": {"name": "sklearn"}, "resources": container["resources"]}}
        },
        "Workflow": {"entrypoint": "main", "templates": [{"name": "main", "container": container}]},
    }[name]
    workload = {"apiVersion": api_version, "kind": name, "metadata": {"name": "demo"}, "spec": spec}

    result = run("tree", "-", stdin=yaml.safe_dump(workload))

    assert result.exit_code == 0, result.output
    assert "1 pod" in result.stdout
    assert ("there is no ClusterServingRuntime for sklearn" in result.stderr) is (name == "InferenceService")
