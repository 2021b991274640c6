"""What the charts make of values, and what is in the repository of that."""

import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.write_kustomize import KUBERNETES, template, tool

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SERVER, CONTROL_PLANE = "karta-interpreter", "karta-interpreter-control-plane"
CHARTS = (SERVER, CONTROL_PLANE)

TYPES_API = "-types-api"
"""The end of the names of what belongs to the workload types API."""

Resource = dict[str, Any]

needs_helm = pytest.mark.skipif(not tool("helm"), reason="helm is missing: run `make tools`")
needs_kustomize = pytest.mark.skipif(not tool("kustomize"), reason="kustomize is missing: run `make tools`")

VALUES: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "values.yaml").read_text(encoding="utf-8"))
EVERYTHING = VALUES["everything on"][1]


@lru_cache
def of(case: str) -> list[Resource]:
    """Everything that a chart makes of one of the values above."""
    chart, *values = VALUES[case]
    return template(chart, ",".join(filter(None, values)))


def of_kind(resources: list[Resource], kind: str) -> list[Resource]:
    """Those of a kind."""
    return [resource for resource in resources if resource["kind"] == kind]


def the(resources: list[Resource], kind: str, *, of_types: bool = False) -> Resource:
    """The only one of a kind, of the server or of the workload types API."""
    (resource,) = [
        each for each in of_kind(resources, kind) if each["metadata"]["name"].endswith(TYPES_API) is of_types
    ]
    return resource


def pod_of(resources: list[Resource]) -> Resource:
    """The pod spec of the server."""
    spec: Resource = the(resources, "Deployment")["spec"]["template"]["spec"]
    return spec


def container_of(resources: list[Resource]) -> Resource:
    """The only container of the server."""
    (container,) = pod_of(resources)["containers"]
    assert isinstance(container, dict)
    return container


def arguments(resources: list[Resource]) -> list[tuple[str, str]]:
    """The arguments of the server in its Deployment, each with its value."""
    first, *flags = container_of(resources)["args"]
    assert first == "serve"
    return [(name, value) for name, _, value in (flag.partition("=") for flag in flags)]


def run_helm(command: str, chart: str | Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of Helm on a chart of `CHARTS` or in a folder."""
    helm = tool("helm")
    assert helm
    name = ["k"] if command == "template" else []
    line = [helm, command, *name, DEPLOY / "helm" / chart, "--kube-version", KUBERNETES, *options]
    return subprocess.run(line, check=False, capture_output=True, text=True)


def committed(folder: str) -> list[Resource]:
    """The resources of a folder of deploy/kustomize."""
    files = sorted((DEPLOY / "kustomize" / folder).glob("*.yaml"))
    return [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files if file.name != "kustomization.yaml"]
