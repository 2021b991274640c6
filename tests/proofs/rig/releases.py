"""Helm, and the charts to upgrade from."""

import io
import os
import re
import shlex
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from deploy.write_kustomize import tool
from tests.support.waiting import HANG

_ROOT = Path(__file__).parents[3]
_DEPLOY = _ROOT / "deploy"
_ORIGIN = "UPGRADE_FROM"


@dataclass(frozen=True, slots=True)
class Release:
    """The charts and the program of a version."""

    name: str
    charts: Path
    program: Mapping[str, str]
    """The variables with which the installed program runs the code of this version."""

    @property
    def image(self) -> str:
        """What the chart of the server calls its image by default."""
        chart = self.charts / "karta-interpreter"
        values = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
        return f"{values['image']['repository']}:{_version((chart / 'Chart.yaml').read_text(encoding='utf-8'))}"


CURRENT = Release("this version", _DEPLOY / "helm", {})


def last_release(folder: Path) -> Release:
    """Unpack the last release: the revision of ``$UPGRADE_FROM``, or the last tag before this commit.

    Without either, as in a shallow clone, it is this version under a lower number.
    """
    revision = (
        os.environ.get(_ORIGIN) or _git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^").decode().strip()
    )
    archive = _git("archive", revision or "HEAD", "deploy/helm", "interpreter")
    assert archive or not revision, f"git has no revision {revision}"
    if revision:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
    else:
        _copy(_DEPLOY, folder / "deploy")
    charts = folder / "deploy" / "helm"
    current = CURRENT.image.rpartition(":")[2]
    for chart in charts.glob("*/Chart.yaml"):
        text = chart.read_text(encoding="utf-8")
        if _version(text) == current:
            chart.write_text(text.replace(current, "0.0.0"), encoding="utf-8")
    program = {"PYTHONPATH": str(folder / "interpreter")} if revision else {}
    return Release(revision or "this version under a lower number", charts, program)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs Helm as the documentation shows it: in a folder with ``deploy`` and the kubeconfig of karmada-apiserver.

    The host cluster is the one that Helm uses by default.
    """

    folder: Path
    host: Path
    karmada: Path

    def use(self, release: Release) -> None:
        """Have the charts of that release in ``deploy``."""
        for name, target in (("deploy", release.charts.parent), ("karmada-apiserver.config", self.karmada)):
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).symlink_to(target)

    def __call__(self, command: str) -> str:
        """Run a command to its end and return what it printed; raises AssertionError when it fails."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        name, *arguments = shlex.split(command)
        assert name == "helm"
        variables = {**os.environ, "KUBECONFIG": str(self.host)}
        return subprocess.run(
            [_helm(), *arguments],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=5 * HANG,
            check=False,
        )


def shown(page: str, heading: str, beginning: str) -> list[str]:
    """Return the commands that a section of the documentation shows, which begin like that; raises LookupError."""
    text = (_ROOT / "docs" / page).read_text(encoding="utf-8").replace("\\\n", "")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
    found = [" ".join(line.split()) for line in lines if re.match(beginning, line)]
    if not found:
        raise LookupError(f"{page} shows nothing like {beginning} under {heading}")
    return found


def _helm() -> str:
    if not tool("helm"):
        subprocess.run([_DEPLOY / "tools.sh"], check=True)
    helm = tool("helm")
    assert helm
    return helm


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, check=False).stdout


def _copy(source: Path, target: Path) -> None:
    for file in (source / "helm").rglob("*"):
        if file.is_file():
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())


def _version(chart: str) -> str:
    (version,) = re.findall(r"^appVersion: (\S+)$", chart, re.MULTILINE)
    return str(version)
