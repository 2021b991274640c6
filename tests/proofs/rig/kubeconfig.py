"""The files that programs and people use to reach an API server."""

import base64
from pathlib import Path

import yaml

from tests.proofs.rig.api import Object
from tests.proofs.rig.authority import Authority


def administrator(authority: Authority) -> Object:
    """Return the user that may do everything, by the authority's certificate ``admin``."""
    return certified(authority.folder / "admin.crt", authority.folder / "admin.key")


def certified(certificate: Path, key: Path) -> Object:
    return {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}


def write_kubeconfig(file: Path, port: int, authority: Authority, user: Object | None = None) -> Path:
    """Write a kubeconfig for an API server on loopback, by default of an administrator; return the file."""
    file.write_text(kubeconfig(port, authority, user or administrator(authority)), encoding="utf-8")
    return file


def kubeconfig(port: int, authority: Authority, user: Object) -> str:
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority-data": _base64(authority.file)}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "karmada", "cluster": cluster}],
            "users": [{"name": "user", "user": user}],
            "contexts": [{"name": "karmada", "context": {"cluster": "karmada", "user": "user"}}],
            "current-context": "karmada",
        }
    )


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
