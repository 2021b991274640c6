"""The resources of deploy/kustomize, rendered from the charts, so that both install the same.

Needs the helm of `make tools`, or one in the path.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
FOLDER = HERE / "kustomize"
TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "karta-interpreter" / "tools"
KUBERNETES = "1.33.0"
"""What charts are rendered for; it changes nothing but has to be something that they allow."""

SERVER = {
    "base": "",
    "components/cert-manager": "certificate.mode=certManager",
    "components/dashboard": "dashboard.enabled=true",
    "components/existing-certificate": (
        "certificate.mode=existingSecret,certificate.existingSecret=karta-interpreter-tls"
    ),
    "components/hpa": "autoscaling.enabled=true",
    "components/network-policy": "networkPolicy.enabled=true",
    "components/prometheus-rule": "prometheusRule.enabled=true",
    "components/service-monitor": "serviceMonitor.enabled=true",
}
CONTROL_PLANE = {"control-plane/base": "", "control-plane/components/admission": "admission.enabled=true"}

Resource = dict[str, Any]


def tool(name: str) -> str | None:
    """Return where a program is."""
    return shutil.which(name, path=f"{TOOLS}{os.pathsep}{os.environ['PATH']}")


def template(chart: str, values: str, *options: str, release: str = "karta-interpreter") -> list[Resource]:
    """Return everything that a chart makes of values."""
    helm = tool("helm")
    if not helm:
        sys.exit("helm is missing: run `make tools`")
    command = [helm, "template", release, str(HERE / "helm" / chart), *options]
    command += ["--namespace", "karmada-system", "--kube-version", KUBERNETES, "--set", values]
    return [resource for resource in yaml.load_all(_output(*command), _Loader) if resource]


@cache
def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 - our own words


def render(chart: str, values: str) -> list[Resource]:
    """Return what a chart installs with values, without what only Helm uses."""
    return [plain(resource) for resource in template(chart, values) if not is_hook(resource)]


def is_hook(resource: Resource) -> bool:
    """Tell whether it is not installed, but run by Helm."""
    return "helm.sh/hook" in resource["metadata"].get("annotations", {})


def plain(resource: Resource) -> Resource:
    """Return a resource without the marks of Helm."""
    metadata = dict(resource["metadata"])
    for field in ("labels", "annotations"):
        marks = {"app.kubernetes.io/managed-by"}
        kept = {k: v for k, v in metadata.pop(field, {}).items() if k not in marks and not k.startswith("helm.sh/")}
        if kept:
            metadata[field] = kept
    return {**resource, "metadata": metadata}


def identity(resource: Resource) -> tuple[str, str]:
    """Return what tells a resource from the others of its chart."""
    return resource["kind"], resource["metadata"]["name"]


def files() -> dict[Path, str]:
    """Return every resource of every folder as text, by its path."""
    found: dict[Path, str] = {}
    for chart, folders in (("karta-interpreter", SERVER), ("karta-interpreter-control-plane", CONTROL_PLANE)):
        base = {identity(resource) for resource in render(chart, "")}
        for folder, values in folders.items():
            known = base if values else set()
            own = [resource for resource in render(chart, values) if identity(resource) not in known]
            found |= {FOLDER / folder / file_name(resource): text(resource) for resource in own}
    return found


def present() -> set[Path]:
    """Return the paths of all resources that are there; a kustomization.yaml is written by hand."""
    return {path for path in FOLDER.rglob("*.yaml") if path.name != "kustomization.yaml"}


def file_name(resource: Resource) -> str:
    """Return the name of the file that holds a resource."""
    kind, name = identity(resource)
    suffix = name.removeprefix("karta-interpreter").lstrip("-").replace(".", "-")
    return f"{'-'.join(filter(None, (kind.lower(), suffix)))}.yaml"


def text(resource: Resource) -> str:
    """Return a resource as YAML."""
    return "# Written by deploy/write_kustomize.py\n" + yaml.dump(resource, Dumper=_Dumper, sort_keys=False)


class _Loader(yaml.CSafeLoader):
    """Refuses a mapping with the same key twice: PyYAML and Helm take the last one, an API server warns or refuses."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(found) != len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "a key is there twice", node.start_mark)
        return found


class _Dumper(yaml.SafeDumper):
    """Writes blocks of text as blocks, lists indented, and nothing by reference."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - PyYAML's signature
        super().increase_indent(flow, False)

    def ignore_aliases(self, _data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
