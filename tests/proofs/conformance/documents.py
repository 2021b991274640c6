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
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import jsonpatch
import yaml

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from tests.proofs.benchmarks.golang import build
from tests.proofs.benchmarks.servers import ROOT, Bay, Server
from tests.webhook.process.conversations import request_of, written

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
        # The example takes 0 replicas as it takes any number.
        bay.ours("Karta", "--kartas", _EXAMPLE / "karta.yaml", "--empty-workload-propagation") as ours,
    ):
        clients = [_Client(server, bay.authority) for server in (example, ours)]
        for request in map(request_of, _calls()):
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

    def results(self, request: dict[str, Any]) -> JSON:
        """Return the results of a call. The object is the one that Karmada has after the patch."""
        self._connection.request("POST", self._path, written(request).encode(), {"Content-Type": "application/json"})
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


def _calls() -> Iterator[Call]:
    sample: dict[str, Any] = yaml.safe_load((_EXAMPLE / "workload.yaml").read_text())
    for count in _COUNTS:
        for ready in _READY:
            obj = {**sample, "spec": {**sample["spec"], "replicas": count}, "status": {"readyReplicas": ready}}
            for paused in (False, True):
                member = {**obj, "spec": {**obj["spec"], "paused": paused}}
                yield Call(Operation.RETAIN, obj, observed=member)
                yield Call(Operation.RETAIN, member, observed=obj)
            for operation in _RESULTS.keys() - _CHANGING:
                yield Call(Operation(operation), obj)
            yield Call(Operation.REVISE_REPLICA, obj, replicas=ready)
            for numbers in ([], [ready], [ready, count]):
                statuses = enumerate(({"readyReplicas": number} for number in numbers), start=1)
                items = tuple(StatusItem(f"member{number}", status, applied=True) for number, status in statuses)
                yield Call(Operation.AGGREGATE_STATUS, obj, items=items)
