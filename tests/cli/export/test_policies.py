from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_policy_of_a_kind_in_two_versions_is_refused(run: Run) -> None:
    result = run("export", "propagation-policy", "MPIJob")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "write one of kubeflow.org/v1/MPIJob, kubeflow" in result.stderr
