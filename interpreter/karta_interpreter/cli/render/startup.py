"""The startup summary of `serve`."""

import json
import shlex
from collections.abc import Sequence

import click

from karta_interpreter.cli.render.findings import findings_text
from karta_interpreter.cli.render.table import count, indent, one_line, table
from karta_interpreter.findings import Finding
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.operations import Operation
from karta_interpreter.sources.snapshot import Snapshot

_DEPLOYMENT = GVK("apps", "v1", "Deployment")


def startup_text(url: str, snapshot: Snapshot) -> str:
    """Where the server listens, what it serves, what it cannot serve, and how to try it."""
    parts = [
        f"Listening on {click.style(url, bold=True)}\n",
        _served(snapshot),
        _scripts(snapshot),
        _section(f"{count(len(snapshot.findings), 'conflict')}:", snapshot.findings),
        _quarantined(snapshot),
        f"Try it:\n\n  {curl(url, snapshot)}\n" if snapshot.entries else "",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def curl(url: str, snapshot: Snapshot) -> str:
    """A command line that asks the server at ``url`` about one of the kinds that it serves.

    ``--insecure``, because no client knows a certificate yet that the server has just signed for itself.
    """
    body = json.dumps(_review(snapshot), separators=(",", ":"))
    insecure = ["--insecure"] if url.startswith("https:") else []
    header = ["--header", "Content-Type: application/json"]
    return shlex.join(["curl", "--silent", *insecure, *header, "--data", body, url])


def _served(snapshot: Snapshot) -> str:
    if not snapshot.entries:
        return "No definition is served.\n"
    rows = [
        [str(gvk.api_version), gvk.kind, snapshot.entries[gvk].definition.name, snapshot.entries[gvk].origin]
        for gvk in snapshot.kinds()
    ]
    return table(rows, header=["APIVERSION", "KIND", "DEFINITION", "ORIGIN"])


def _scripts(snapshot: Snapshot) -> str:
    rows = [
        [str(gvk.api_version), gvk.kind, script.operation, script.name, script.source or snapshot.entries[gvk].origin]
        for gvk in snapshot.kinds()
        for script in sorted(snapshot.entries[gvk].definition.scripts, key=lambda script: script.operation)
    ]
    return table(rows, header=["APIVERSION", "KIND", "OPERATION", "SCRIPT", "ORIGIN"]) if rows else ""


def _section(title: str, findings: Sequence[Finding]) -> str:
    return f"{title}\n{indent(findings_text(findings))}" if findings else ""


def _quarantined(snapshot: Snapshot) -> str:
    text = ""
    for broken in snapshot.quarantined:
        usable = "Not wholly usable" if broken.in_part else "Not usable"
        kept = "; its last good version is served" if broken.serving_last_good else ""
        name = f"{broken.name} from {broken.source}" if broken.name else broken.source
        text += _section(one_line(f"{usable}: {name}{kept}"), broken.findings)
    return text


def _review(snapshot: Snapshot) -> JSON:
    """A request that needs little: the replicas of a Deployment, or else the status of any kind that is served."""
    deployment = snapshot.find(_DEPLOYMENT)
    if deployment and deployment.answers(Operation.INTERPRET_REPLICA):
        return _request(_DEPLOYMENT, Operation.INTERPRET_REPLICA, _deployment_spec())
    answered = (
        (gvk, operation)
        for operation in (Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH, *Operation)
        for gvk in snapshot.kinds()
        if snapshot.entries[gvk].definition.answers(operation)
    )
    gvk, operation = next(answered)
    return _request(gvk, operation, {"status": {}})


def _request(gvk: GVK, operation: Operation, content: Object) -> JSON:
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "sample"}, **content}
    kind = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    request = {"uid": "1", "kind": kind, "name": "sample", "operation": str(operation), "object": obj}
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterContext",
        "request": request,
    }


def _deployment_spec() -> Object:
    container = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}
    return {"spec": {"replicas": 3, "template": {"spec": {"containers": [container]}}}}
