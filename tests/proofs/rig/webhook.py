"""A mutating webhook of the member, as a policy engine has one: it defaults, and overwrites what a template says."""

import base64
import copy
import json
import ssl
import threading
from collections.abc import Callable, Iterable
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

from karta_interpreter.base.k8s.patch import diff
from tests.proofs.rig.api import Object, named
from tests.proofs.rig.cluster import Cluster
from tests.support.serving import QuietServer, answer

Mutate = Callable[[Object], None]


def install_webhook(cluster: Cluster, namespace: str, things: Iterable[Object], mutate: Mutate) -> None:
    """Let a webhook change each object of the kinds of these that is written in a namespace of the member."""
    server = QuietServer(("127.0.0.1", 0), partial(_Handler, mutate))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cluster.certificates / "tls.crt", cluster.certificates / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, name="webhook", daemon=True).start()
    kinds = {(thing["apiVersion"], cluster.member.collection(thing).rpartition("/")[2]) for thing in things}
    webhook = {
        "name": "policy.example.org",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {
            "url": f"https://127.0.0.1:{server.server_port}/",
            "caBundle": base64.b64encode(cluster.layout.authority.bundle).decode(),
        },
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [
            {
                "operations": ["CREATE", "UPDATE"],
                "apiGroups": [version.rpartition("/")[0]],
                "apiVersions": ["*"],
                "resources": [plural],
            }
            for version, plural in sorted(kinds)
        ],
    }
    policy = named("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", f"policy-{namespace}")
    cluster.member.apply(policy | {"webhooks": [webhook]})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, mutate: Mutate, *more: Any) -> None:
        self.mutate = mutate
        super().__init__(*more)

    def do_POST(self) -> None:
        review: Object = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        thing = review["request"]["object"]
        changed = copy.deepcopy(thing)
        self.mutate(changed)
        patch = base64.b64encode(json.dumps(diff(thing, changed)).encode()).decode()
        response = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch", "patch": patch}
        answered = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
        answer(self, json.dumps(answered).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""
