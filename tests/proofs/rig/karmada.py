"""What has to be in karmada-apiserver before Karmada works, and the members that it pushes to."""

import base64
from pathlib import Path

import yaml

from tests.proofs.rig.api import Api, Object, named, until
from tests.proofs.rig.layout import Layout

_CONVERTED = ("resourcebindings.work.karmada.io", "clusterresourcebindings.work.karmada.io")
_NAMESPACES = ("karmada-system", "karmada-cluster")


def install_types(api: Api, layout: Layout) -> None:
    """Install Karmada's namespaces, its CRDs and the APIService of its aggregated API server."""
    authority = layout.authority.bundle
    for name in _NAMESPACES:
        api.add_namespace(name)
    for file in sorted((layout.binaries / "crds").rglob("*.yaml")):
        definition = yaml.safe_load(file.read_text(encoding="utf-8"))
        if definition["metadata"]["name"] in _CONVERTED:
            definition["spec"]["conversion"] = _conversion(authority, layout.ports["webhook"])
        api.apply(definition)
    for thing in _rendered(layout.binaries / "deploy" / "karmada-aggregated-apiserver-apiservice.yaml", authority):
        if thing["kind"] == "Service":
            thing["spec"]["externalName"] = "localhost"
        else:
            thing["spec"]["service"]["port"] = layout.ports["aggregated"]
        api.apply(thing)


def install_admission(api: Api, layout: Layout) -> None:
    """Install the admission webhooks that karmada-webhook serves."""
    file = layout.binaries / "deploy" / "webhook-configuration.yaml"
    moved = "karmada-webhook.karmada-system.svc:443", layout.local("webhook")
    for thing in _rendered(file, layout.authority.bundle, moved):
        api.apply(thing)


def join(api: Api, name: str, port: int, token: str, authority: bytes) -> None:
    """Register a member in Push mode."""
    secret = {"namespace": "karmada-cluster", "name": name}
    data = {"token": _base64(token.encode()), "caBundle": _base64(authority)}
    api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": secret, "type": "Opaque", "data": data})
    spec = {"syncMode": "Push", "apiEndpoint": f"https://127.0.0.1:{port}", "secretRef": secret}
    api.apply(_cluster(name) | {"spec": spec})


def leave(api: Api, name: str) -> None:
    api.delete(_cluster(name))
    until(f"{name} has left", lambda: api.find(_cluster(name)) is None)


def is_ready(api: Api, name: str) -> bool:
    """Whether Karmada says that it can work with the member."""
    cluster = api.find(_cluster(name)) or {}
    conditions = cluster.get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def serves(api: Api, name: str, api_version: str, kind: str) -> bool:
    """Whether Karmada knows that the member serves the kind; the scheduler looks at that."""
    enabled = (api.find(_cluster(name)) or {}).get("status", {}).get("apiEnablements", [])
    served = (group["resources"] for group in enabled if group["groupVersion"] == api_version)
    return any(resource["kind"] == kind for resources in served for resource in resources)


def _cluster(name: str) -> Object:
    return named("cluster.karmada.io/v1alpha1", "Cluster", name)


def _conversion(authority: bytes, port: int) -> Object:
    client = {"url": f"https://127.0.0.1:{port}/convert", "caBundle": _base64(authority)}
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}


def _rendered(file: Path, authority: bytes, *replacements: tuple[str, str]) -> list[Object]:
    text = file.read_text(encoding="utf-8").replace("{{caBundle}}", _base64(authority))
    for old, new in replacements:
        text = text.replace(old, new)
    return [thing for thing in yaml.safe_load_all(text) if thing]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
