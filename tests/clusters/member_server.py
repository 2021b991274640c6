"""A member's API server on loopback: lists in pages, and what goes wrong with them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import yaml

from tests.engine.verification.member import Thing, container, deployment, pod
from tests.support.serving import serving as served

PODS, DEPLOYMENTS, REPLICA_SETS = "/api/v1/pods", "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets"
_CORE = {"pods": "Pod", "configmaps": "ConfigMap", "persistentvolumeclaims": "PersistentVolumeClaim"}
_KINDS = {
    "/api/v1": {**_CORE, "serviceaccounts": "ServiceAccount"},
    "/apis/apps/v1": {"deployments": "Deployment", "replicasets": "ReplicaSet"},
    "/apis/flow.volcano.sh/v1alpha1": {"jobflows": "JobFlow", "jobtemplates": "JobTemplate"},
    "/apis/autoscaling/v2": {"horizontalpodautoscalers": "HorizontalPodAutoscaler"},
}


@dataclass
class MemberServer:
    """Collections by path. ``page`` is the most objects of a part. ``faults`` are statuses by path, 0 for a lost
    connection and -1 for none until the end, which come after the first part.
    """

    collections: dict[str, list[Thing]] = field(default_factory=dict)
    page: int = 2
    faults: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """The requests with their queries, as they came."""
    karmada: bool = False
    kinds: dict[str, dict[str, str]] = field(default_factory=lambda: _KINDS)
    """The kinds of each API version by the plural of their names."""
    url: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def kubeconfig(self, folder: Path) -> str:
        """Write the kubeconfig of this server."""
        config = {
            "current-context": "member1",
            "contexts": [{"name": "member1", "context": {"cluster": "member1", "user": "u", "namespace": "team"}}],
            "clusters": [{"name": "member1", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {"token": "token"}}],
        }
        file = folder / "member.config"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        return str(file)

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
        """Return the status and the answer to a request."""
        self.asked.append(path)
        start = int(query.get("continue", ["0"])[0])
        if path in self.faults and (start or path not in self.collections):
            return self.faults[path], {"kind": "Status", "message": "no"}
        if path == "/version":
            return 200, {"gitVersion": "v1.35.3"}
        if path == "/apis":
            groups = [root.removeprefix("/apis/") for root in self.kinds if root.startswith("/apis/")]
            return 200, {"groups": [{"preferredVersion": {"groupVersion": each}} for each in groups]}
        if path in self.kinds:
            names = self.kinds[path].items()
            return 200, {"resources": [{"name": name, "kind": kind, "namespaced": True} for name, kind in names]}
        if path.startswith("/apis/config.karmada.io/") and not self.karmada:
            return 404, {"kind": "Status", "message": "the server could not find the requested resource"}
        namespace, everywhere = "", path
        if "/namespaces/" in path:
            root, _, rest = path.partition("/namespaces/")
            namespace, _, name = rest.partition("/")
            everywhere = f"{root}/{name}"
        found = [
            each
            for each in self.collections.get(everywhere, [])
            if namespace in ("", each["metadata"].get("namespace"))
        ]
        if "labelSelector" in query:
            label, _, value = query["labelSelector"][0].partition("=")
            found = [each for each in found if each["metadata"].get("labels", {}).get(label) == value]
        more = {"continue": str(start + self.page)} if start + self.page < len(found) else {}
        # As from an API server: the items of built-in kinds lack apiVersion and kind.
        items = [{name: each[name] for name in each.keys() - {"apiVersion", "kind"}} for each in found]
        return 200, {"metadata": more, "items": items[start : start + self.page]}


class _Handler(BaseHTTPRequestHandler):
    server_state: ClassVar[MemberServer]

    def do_GET(self) -> None:
        self.server_state.requests.append(self.path)
        parts = urlsplit(self.path)
        status, answer = self.server_state.answer(parts.path, parse_qs(parts.query))
        if status < 0:
            self.server_state.ended.wait()
        if status <= 0:
            self.close_connection = True
            return
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(member: MemberServer) -> Iterator[MemberServer]:
    """Serve until the end of a block."""
    with served(_Handler, server_state=member) as member.url:
        try:
            yield member
        finally:
            member.ended.set()


def shops(*names: str, replicas: int = 2, proxied: bool = True) -> dict[str, list[Thing]]:
    """Return Deployments with their ReplicaSets and pods, which a webhook has given a proxy."""
    found: dict[str, list[Thing]] = {DEPLOYMENTS: [], REPLICA_SETS: [], PODS: []}
    for name in names:
        obj = deployment(replicas=replicas)
        obj["metadata"] |= {"name": name, "uid": name}
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": name, "controller": True}
        between = {"name": f"{name}-1", "namespace": "team", "uid": f"{name}-1", "ownerReferences": [owner]}
        found[DEPLOYMENTS].append(obj)
        found[REPLICA_SETS].append({"metadata": between, "spec": {"template": obj["spec"]["template"]}})
        for number in range(replicas):
            proxy = (
                [container("istio-proxy", "100m", env=[{"name": "TOKEN", "value": "hidden-value"}])] if proxied else []
            )
            one = pod(number, container(), *proxy)
            one["metadata"] |= {"name": f"{name}-1-{number}", "uid": f"{name}-1-{number}"}
            owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "uid": f"{name}-1", "controller": True}
            one["metadata"]["ownerReferences"] = [owner]
            found[PODS].append(one)
    return found
