from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

Run = Callable[..., Result]

_JOB = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: bert, namespace: nlp}, spec: {}}"


def test_override_policy_of_object_has_the_patches_that_it_needs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(_JOB)
    result = run("export", "override-policy", "--suspend", "--object", str(tmp_path / "job.yaml"), "--cluster", "m1")
    assert result.exit_code == 0
    policy = yaml.safe_load(result.stdout)
    assert policy["metadata"] == {"name": "suspend-kubeflow-org-pytorchjob-v1.bert", "namespace": "nlp"}
    assert policy["spec"]["resourceSelectors"] == [
        {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "bert", "namespace": "nlp"}
    ]
    (rule,) = policy["spec"]["overrideRules"]
    assert rule["targetCluster"] == {"clusterNames": ["m1"]}
    assert rule["overriders"]["plaintext"] == [
        {"operator": "add", "path": "/spec/runPolicy", "value": {"suspend": True}}
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["--suspend"], 2, "give either KIND or --object", id="nothing"),
        pytest.param(["JobSet"], 2, "give either --suspend or --resume", id="no direction"),
        pytest.param(["JobSet", "--suspend", "--resume"], 2, "give either --suspend or --resume", id="both directions"),
        pytest.param(["--suspend", "MPIJob"], 2, "write one of kubeflow.org/v1/MPIJob, kubeflow", id="two versions"),
        pytest.param(["--suspend", "Deployment"], 1, "has no suspendDefinition", id="no switch"),
    ],
)
def test_override_policy_refused_with_reason(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run("export", "override-policy", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
