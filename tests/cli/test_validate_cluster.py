"""``validate --kubeconfig``: the CRDs come from a cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from tests.webhook.registration.control_plane import CRDS, ControlPlane, running

Run = Callable[..., Result]

_EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
_TYPO = str(_EXAMPLES / "trainjob-typo.yaml")
_CRD = _EXAMPLES / "trainjob-crd.yaml"


@pytest.fixture
async def plane() -> AsyncIterator[ControlPlane]:
    async with running() as plane:
        yield plane


async def _validate(run: Run, plane: ControlPlane, folder: Path, *options: str) -> Result:
    # The command has an event loop of its own.
    arguments = ("validate", _TYPO, "--kubeconfig", str(plane.kubeconfig(folder)), *options)
    return await asyncio.to_thread(run, *arguments)


def _write(plane: ControlPlane, crd: dict[str, object]) -> None:
    # The items of a list have neither apiVersion nor kind.
    plane.write(CRDS, "trainjobs.example.io", {key: crd[key] for key in ("metadata", "spec")})


async def test_findings_of_cluster_are_those_of_crd_file(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    _write(plane, yaml.safe_load(_CRD.read_text()))

    ours = await _validate(run, plane, tmp_path)

    assert ours.exit_code == 1
    assert "error [crd-unknown-field]" in ours.stdout
    assert ours.output == run("validate", _TYPO, "--crd", str(_CRD)).output


async def test_crd_file_counts_in_addition_to_cluster(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    crd = yaml.safe_load(_CRD.read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["wroker"] = spec["properties"]["worker"]
    _write(plane, crd)

    ours = await _validate(run, plane, tmp_path, "--crd", str(_CRD))

    assert "crd-unknown-field" not in ours.stdout
    assert "crd-wrong-type" in ours.stdout


async def test_cluster_without_crd_is_a_warning(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    ours = await _validate(run, plane, tmp_path)

    assert ours.exit_code == 0
    assert "warning [crd-missing]" in ours.stdout


async def test_missing_right_is_named(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    plane.refused["GET", CRDS] = 403

    ours = await _validate(run, plane, tmp_path)

    assert ours.exit_code == 1
    assert '"verbs": ["list"]' in ours.stderr


def test_empty_context_is_the_current_one(run: Run, tmp_path: Path) -> None:
    kubeconfig = str(tmp_path / "missing")
    result = run("validate", _TYPO, "--context", "", env={"KUBECONFIG": kubeconfig, "KUBERNETES_SERVICE_HOST": None})

    assert (result.exit_code, kubeconfig in result.stderr) == (2, True)
