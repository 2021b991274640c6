"""The workflows of GitHub: what can be known of them without running them there."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.release import project
from deploy.write_kustomize import tool
from tests.support.rows import rows

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
RELEASE = yaml.safe_load((FOLDER / "release.yml").read_text())
JOBS: dict[str, dict[str, Any]] = RELEASE["jobs"]
KEYLESS = {"image", "files", "registry", "pypi"}


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", ())


@pytest.mark.skipif(not tool("actionlint"), reason="actionlint is missing: run `make tools`")
def test_actionlint_finds_nothing() -> None:
    program = tool("actionlint")
    assert program
    done = subprocess.run([program, *FILES], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


@rows("file", [pytest.param(file, id=file.name) for file in FILES])
def test_scripts_have_no_expression_that_could_be_a_command(file: Path) -> None:
    scripts = [step["run"] for step in steps(yaml.safe_load(file.read_text())) if "run" in step]
    assert scripts
    assert [script for script in scripts if "${{" in script] == []


@rows("file", [pytest.param(file, id=file.name) for file in FILES])
def test_checkout_keeps_no_token(file: Path) -> None:
    checkouts = [step for step in steps(yaml.safe_load(file.read_text())) if "checkout@" in step.get("uses", "")]
    assert [step for step in checkouts if step["with"]["persist-credentials"] is not False] == []


def test_what_make_test_leaves_out_runs_in_make_laws() -> None:
    left_out, chosen = re.findall(r'-m "(?:not )?([\w ]+)"', (ROOT / "Makefile").read_text())
    assert set(left_out.split(" or ")) <= set(chosen.split(" or "))
    commands = (ROOT / ".ci" / "run").read_text().splitlines()
    assert {"make test", "make laws"} <= {*commands}
    assert {"run": ".ci/run"} in steps(yaml.safe_load((FOLDER / "ci.yml").read_text()))


def test_jobs_of_a_release_have_the_least_permissions() -> None:
    writing = {
        name: {scope for scope, access in job["permissions"].items() if access == "write"} for name, job in JOBS.items()
    }
    assert RELEASE["permissions"] == {}
    assert writing == {
        "check": set(),
        "tests": set(),
        "image": {"packages", "id-token", "attestations"},
        "files": {"id-token", "attestations"},
        "registry": {"packages", "id-token"},
        "pypi": {"id-token"},
        "page": {"contents"},
    }
    assert [name for name, job in JOBS.items() if "uses" not in job and "timeout-minutes" not in job] == []


def after(job: str) -> set[str]:
    """The jobs that a job waits for, directly or not."""
    needs = JOBS[job].get("needs", [])
    direct = {needs} if isinstance(needs, str) else set(needs)
    return direct.union(*(after(each) for each in direct))


def test_irrevocable_jobs_come_last() -> None:
    """A version on PyPI cannot be uploaded again, and the page announces it."""
    assert after("page") == JOBS.keys() - {"page"}
    assert after("pypi") == JOBS.keys() - {"page", "pypi"}
    assert {"tests", "image", "files"} < after("registry")
    assert {name: job["environment"] for name, job in JOBS.items() if "environment" in job} == {
        "image": "release",
        "registry": "release",
        "pypi": "pypi",
    }
    assert RELEASE["concurrency"]["cancel-in-progress"] is False


def test_version_tag_starts_a_release() -> None:
    [pattern] = RELEASE[True]["push"]["tags"]  # YAML 1.1 reads the key `on` as true
    tag = re.compile(pattern.replace(".", r"\.").replace("*", ".*"))
    assert all(map(tag.fullmatch, (project.read().tag, "v1.0.0-rc.1")))
    assert not tag.fullmatch("v1")


def test_commands_are_goals_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    goals = set(re.findall(r"\bmake ([\w-]+)", "\n".join(step.get("run", "") for step in steps(RELEASE))))
    assert goals == {"console", "tools", "release-check", "release", "release-push-charts", "release-page"}
    goals |= set(re.findall(r"(?:`|^ *)make ([\w-]+)", (ROOT / "RELEASING.md").read_text(), re.MULTILINE))
    assert [goal for goal in goals if not re.search(rf"^(?:[\w-]+ )*{goal}(?: [\w-]+)*:", makefile, re.MULTILINE)] == []


def test_image_job_has_announced_arguments_and_platforms() -> None:
    [build] = [step["with"] for step in JOBS["image"]["steps"] if "build-push-action" in step.get("uses", "")]
    given = {line.partition("=")[0] for line in build["build-args"].splitlines()}
    known = re.findall(r"^ARG (\w+)", (ROOT / build["file"]).read_text(), re.MULTILINE)
    assert "VERSION" in known
    assert set(known) - given == set()
    assert build["platforms"] == "linux/amd64,linux/arm64"
    assert build["sbom"] is True
    assert build["provenance"] == "mode=max"
    assert "push-by-digest=true" in build["outputs"]
