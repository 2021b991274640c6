"""The charts as they are published: with what Artifact Hub shows, and links that work outside of the repository."""

import re
from pathlib import Path
from typing import Any

import yaml

from deploy.release import archive
from deploy.release.changelog import Section
from deploy.release.programs import run
from deploy.release.project import Project
from deploy.write_kustomize import KUBERNETES

SERVER, CONTROL_PLANE = "karta-interpreter", "karta-interpreter-control-plane"
PLATFORMS = ("linux/amd64", "linux/arm64")
_HUB = "artifacthub.io/"
_EXAMPLE = "docs/examples/trainjob.yaml"
_CRD = f"deploy/helm/{CONTROL_PLANE}/files/kartas.run.ai.yaml"


def annotations(root: Path, chart: str, stated: Project, section: Section, digest: str | None) -> dict[str, str]:
    """Return the annotations that differ between releases; the others are in Chart.yaml."""
    changes = [{"kind": kind.lower(), "description": text} for kind, text in section.changes]
    found = {
        "changes": _yaml(changes),
        "containsSecurityUpdates": _boolean(any(kind == "Security" for kind, _ in section.changes)),
        "prerelease": _boolean(stated.prerelease),
    }
    if chart == SERVER:
        image = f"{stated.image}:{stated.version}" + (f"@{digest}" if digest else "")
        found["images"] = _yaml([{"name": "karta-interpreter", "image": image, "platforms": list(PLATFORMS)}])
    else:
        found["crds"] = _yaml(_crds(yaml.safe_load((root / _CRD).read_text(encoding="utf-8"))))
        found["crdsExamples"] = _yaml([yaml.safe_load((root / _EXAMPLE).read_text(encoding="utf-8"))])
    return {f"{_HUB}{name}": text for name, text in found.items()}


def publish(root: Path, chart: str, stated: Project, section: Section, digest: str | None) -> Path:
    """Change a chart in a checkout into what is published; return its folder."""
    folder = root / "deploy" / "helm" / chart
    path = folder / "Chart.yaml"
    metadata = yaml.safe_load(path.read_text(encoding="utf-8"))
    metadata["annotations"] |= annotations(root, chart, stated, section, digest)
    path.write_text(_yaml(metadata), encoding="utf-8")
    page = folder / "README.md"
    page.write_text(readme(page.read_text(encoding="utf-8"), chart, stated), encoding="utf-8")
    return folder


def readme(text: str, chart: str, stated: Project) -> str:
    """Return the page of a chart with links to the repository, and commands that install what is published.

    >>> stated = Project("0.2.0", "https://github.com/example/karta")
    >>> readme("[a](../../../docs/a.md)", "c", stated)
    '[a](https://github.com/example/karta/blob/v0.2.0/docs/a.md)'
    >>> readme("helm install x deploy/helm/c --set a=b", "c", stated)
    'helm install x oci://ghcr.io/example/charts/c --version 0.2.0 --set a=b'
    """
    text = stated.linked(text, f"deploy/helm/{chart}")
    return re.sub(r"(?<= )deploy/helm/(\S+)", rf"{stated.charts}/\1 --version {stated.version}", text)


def package(folder: Path, target: Path, epoch: int) -> Path:
    """Lint a chart and pack it, in the same bytes each time: helm writes the time of day into the archive."""
    run("helm", "lint", "--strict", "--quiet", str(folder), "--kube-version", KUBERNETES)
    packed = run("helm", "package", str(folder), "--destination", str(target)).stdout
    path = Path(packed.strip().rpartition(" ")[2])
    archive.write(path, archive.contents(path), epoch)
    return path


def _crds(crd: dict[str, Any]) -> list[dict[str, str]]:
    names, versions = crd["spec"]["names"], crd["spec"]["versions"]
    return [
        {
            "kind": names["kind"],
            "version": version["name"],
            "name": crd["metadata"]["name"],
            "displayName": names["kind"],
            "description": "What a kind of workload is made of: its pod templates, replica counts and statuses",
        }
        for version in versions
    ]


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)


def _boolean(value: bool) -> str:
    return str(value).lower()
