"""The documents that this project implements: their examples, as they are printed.

Karmada's examples come with its source. `examples/karmadactlinterpret` has commands of karmadactl, and
`examples/customresourceinterpreter` is a webhook in Go with a kind of its own.
"""

import http.client
import json
import os
import re
import ssl
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import jsonpatch
import yaml

from karta_interpreter.base.k8s.values import JSON, Object
from tests.proofs.benchmarks.golang import build
from tests.proofs.benchmarks.servers import ROOT, Bay, Server

_COMMAND: Final = re.compile(r"^karmadactl (interpret .*)$", re.MULTILINE)
_EXAMPLE: Final = ROOT / "docs" / "examples" / "webhook"
_COUNTS: Final = (0, 1, 3)
_READY: Final = (0, 1, 3)


def readme(karmada: Path) -> Iterator[str]:
    """Run the commands of `examples/karmadactlinterpret/README.md` in its folder, and yield those that fail."""
    folder = karmada / "examples" / "karmadactlinterpret"
    commands = _COMMAND.findall((folder / "README.md").read_text())
    if len(commands) < 8:
        yield f"{folder.name}/README.md has {len(commands)} commands: they are written in another way"
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "karta_interpreter", *command.split()],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "interpreter")},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            yield f"karta-interpreter {command}\n{done.stdout}{done.stderr}"


def webhook(folder: Path) -> Iterator[str]:
    """Ask Karmada's example webhook and this server, and yield the calls with different answers."""
    programs = build("webhook")
    if programs is None:
        return
    bay = Bay(folder)
    with (
        bay.peer("Go example", programs.webhook) as example,
        bay.ours("Karta", "--kartas", _EXAMPLE / "karta.yaml") as ours,
    ):
        clients = [_Client(server, bay.authority) for server in (example, ours)]
        for request in _requests():
            theirs, answer = (client.results(request) for client in clients)
            if theirs != answer:
                yield f"{request['operation']} {json.dumps(request)}\nGo: {theirs}\nKarta: {answer}"


def compare(karmada: Path) -> Iterator[str]:
    """Yield every example that does not answer as printed."""
    yield from readme(karmada)
    with TemporaryDirectory() as folder:
        yield from webhook(Path(folder))


class _Client:
    """Asks a server as Karmada does, and reads the answers as Karmada does."""

    def __init__(self, server: Server, authority: bytes) -> None:
        context = ssl.create_default_context(cadata=authority.decode())
        self._connection = http.client.HTTPSConnection("localhost", server.port, context=context)
        self._path = server.path

    def results(self, request: Object) -> JSON:
        """Return the results of a call. The object is the one that Karmada has after the patch."""
        body = {
            "apiVersion": "config.karmada.io/v1alpha1",
            "kind": "ResourceInterpreterContext",
            "request": request,
        }
        self._connection.request("POST", self._path, json.dumps(body), {"Content-Type": "application/json"})
        response: dict[str, Any] = json.loads(self._connection.getresponse().read())["response"]
        patch = json.loads(b64decode(response["patch"])) if response.get("patch") else []
        results = {key: response[key] for key in _RESULTS[request["operation"]] if key in response}
        if request["operation"] in _CHANGING:
            results["object"] = _without_empty(jsonpatch.apply_patch(request["object"], patch))
        return _without_empty(results)


_CHANGING: Final = frozenset(("ReviseReplica", "Retain", "AggregateStatus"))
_RESULTS: Final = {
    "InterpretReplica": ("successful", "replicas", "replicaRequirements"),
    "InterpretComponent": ("successful", "components"),
    "ReviseReplica": ("successful",),
    "Retain": ("successful",),
    "AggregateStatus": ("successful",),
    "InterpretStatus": ("successful", "rawStatus"),
    "InterpretHealth": ("successful", "healthy"),
    "InterpretDependency": ("successful", "dependencies"),
}


def _without_empty(value: JSON) -> JSON:
    """Return a value without its empty parts: the webhook in Go writes the zero values of its types."""
    if isinstance(value, dict):
        fields = {key: _without_empty(field) for key, field in value.items()}
        return {key: field for key, field in fields.items() if field not in (None, {}, [], False, 0, "")}
    if isinstance(value, list):
        return [_without_empty(entry) for entry in value]
    return value


def _requests() -> Iterator[Object]:
    sample: dict[str, Any] = yaml.safe_load((_EXAMPLE / "workload.yaml").read_text())
    for count in _COUNTS:
        for ready in _READY:
            obj = {**sample, "spec": {**sample["spec"], "replicas": count}, "status": {"readyReplicas": ready}}
            for paused in (False, True):
                member = {**obj, "spec": {**obj["spec"], "paused": paused}}
                yield _request("Retain", obj, observedObject=member)
                yield _request("Retain", member, observedObject=obj)
            for operation in _RESULTS.keys() - _CHANGING:
                yield _request(operation, obj)
            yield _request("ReviseReplica", obj, replicas=ready)
            for statuses in ([], [ready], [ready, count]):
                yield _request("AggregateStatus", obj, aggregatedStatus=_items(statuses))


def _items(ready: Sequence[int]) -> list[Object]:
    return [
        {"clusterName": f"member{number}", "status": {"readyReplicas": replicas}, "applied": True}
        for number, replicas in enumerate(ready, start=1)
    ]


def _request(operation: str, obj: Object, **arguments: JSON) -> Object:
    group, _, version = obj["apiVersion"].partition("/")
    return {
        "uid": "1",
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "name": obj["metadata"]["name"],
        "namespace": obj["metadata"]["namespace"],
        "operation": operation,
        "object": obj,
        **arguments,
    }
