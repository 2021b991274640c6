"""What a user installs on karmada-apiserver: our manifests."""

from pathlib import Path

import yaml

from tests.proofs.rig.api import Api, Object

_PROJECT = Path(__file__).parents[3]
_CONTROL_PLANE = _PROJECT / "deploy" / "kustomize" / "control-plane"


def install(api: Api) -> str:
    """Install the manifests; return a token of the service account that the server runs as."""
    for thing in _manifests(_CONTROL_PLANE / "base"):
        if thing["kind"] == "Service":
            thing["spec"]["externalName"] = "localhost"
        api.apply(thing)
    return api.token("karta-interpreter")


def admission(port: int) -> list[Object]:
    """Return what installs admission by a server behind the Service, at a port."""
    manifests = _manifests(_CONTROL_PLANE / "components" / "admission")
    for manifest in manifests:
        for webhook in manifest.get("webhooks", ()):
            webhook["clientConfig"]["service"]["port"] = port
    return manifests


def _manifests(folder: Path) -> list[Object]:
    return [_read(file) for file in sorted(folder.glob("*.yaml")) if file.name != "kustomization.yaml"]


def _read(file: Path) -> Object:
    content: Object = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content
