from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

pytestmark = pytest.mark.catalogue


@pytest.mark.parametrize(
    ("command", "tool"), [("argocd-health", "Argo CD 3.2.1"), ("flux-health", "Flux with kstatus 1.2.3")]
)
def test_given_file_of_kind_that_tool_judges_is_left_out(
    run: Callable[..., Result], files: Path, karta: Callable[..., str], command: str, tool: str
) -> None:
    (files / "jobs.yaml").write_text(karta().replace("example.io", "batch"))

    assert yaml.safe_load(run("export", command, "-f", "jobs.yaml", "Job").stdout)
    result = run("export", command, "-f", "jobs.yaml")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "name a KIND to export its check: batch/v1/Job\n0 health checks, 0 of 0 rejected\n" in result.stderr
    listed = run("export", command, "-f", "jobs.yaml", "--check")
    assert listed.stdout.endswith(f"  left out: {tool} judges it itself\n")
