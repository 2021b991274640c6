#!/usr/bin/env python3
"""Ask a server as Karmada would: is it ready, does its certificate fit its name, does it answer, is it registered?

Arguments: host, port and, if the system does not trust it, the file of the certificate's authority.
"""

import json
import ssl
import sys
import time
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
PATIENCE = 20
"""Seconds in which a new pod reads karmada-apiserver and registers. It is ready without, by its catalogue."""


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
    if not _is_right(json.loads(answer).get("response", {})):
        return "not the answer of an interpreter"
    for _ in range(PATIENCE):
        server.request("GET", "/metrics")
        # A server that does not register itself has no such metric.
        if "karta_interpreter_registration_in_step 0.0" not in server.getresponse().read().decode():
            return None
        time.sleep(1)
    name, namespace = host.split(".")[:2]
    return (
        "the server answers, but it is not registered, so Karmada does not call it. This says why:\n"
        f"  kubectl --namespace {namespace} exec deploy/{name} -- karta-interpreter doctor"
    )


def _is_right(response: dict[str, Any]) -> bool:
    if response.get("uid") != "test":
        return False
    if response.get("successful"):
        return bool(response.get("replicas") == PODS)
    return bool(response.get("status", {}).get("code") == UNKNOWN_KIND)


sys.exit(main(*sys.argv[1:]))
