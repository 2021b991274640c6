#!/usr/bin/env python3
"""Ask a server as Karmada would: is it ready, does its certificate fit its name, does it answer?

Arguments: host, port and, if the system does not trust it, the file of the certificate's authority.
"""

import json
import ssl
import sys
from http.client import HTTPSConnection
from typing import Any

PODS = 3
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "test", "namespace": "default"},
    "spec": {"parallelism": PODS, "template": {"spec": {"containers": [{"name": "main", "image": "none"}]}}},
}
CONTEXT = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterContext",
    "request": {
        "uid": "test",
        "kind": {"group": "batch", "version": "v1", "kind": "Job"},
        "name": "test",
        "namespace": "default",
        "operation": "InterpretReplica",
        "object": JOB,
    },
}
UNKNOWN_KIND = 404
"""What a server answers that serves no definition of Jobs: an answer, too."""


def main(host: str, port: str, authority: str | None = None) -> str | None:
    """Ask, and return what is wrong."""
    server = HTTPSConnection(host, int(port), timeout=10, context=ssl.create_default_context(cafile=authority))
    try:
        server.connect()
    except ssl.SSLCertVerificationError as error:
        return f"the certificate of {host}:{port} is not one for Karmada: {error.verify_message}"
    except OSError as error:
        return f"no connection to {host}:{port}, are its pods ready? {error}"
    server.request("GET", "/readyz")
    ready = server.getresponse().read().decode().strip()
    if ready != "ok":
        return f"not ready: {ready}"
    server.request("POST", "/interpret", json.dumps(CONTEXT), {"Content-Type": "application/json"})
    answer = server.getresponse().read().decode().strip()
    sys.stdout.write(f"{answer}\n")
    return None if _is_right(json.loads(answer).get("response", {})) else "not the answer of an interpreter"


def _is_right(response: dict[str, Any]) -> bool:
    if response.get("uid") != "test":
        return False
    if response.get("successful"):
        return bool(response.get("replicas") == PODS)
    return bool(response.get("status", {}).get("code") == UNKNOWN_KIND)


sys.exit(main(*sys.argv[1:]))
