"""The instance managers in the pods of PostgreSQL, as CloudNativePG's operator asks them over HTTP.

One that runs and is ready reports PostgreSQL as up. It also writes itself into the status of its cluster when the
operator has chosen it for the primary, as the real one does.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.proofs.rig.api import ApiError, Object
from tests.proofs.rig.client import Client
from tests.support.serving import answer, start

_MERGE = "application/merge-patch+json"
_CLUSTER = "cnpg.io/cluster"
_POSITION = "0/5000060"


@dataclass(frozen=True, slots=True)
class Instances:
    """Answers for the pods of a member by their addresses; ``executable`` is the hash of the operator's program."""

    member: Client
    executable: str
    architecture: str

    def start(self) -> int:
        """Listen in a thread that ends with the program; return the port."""
        return start(_Handler, status=self.status)

    def status(self, address: str) -> Any:
        """Return what the instance with an address reports, None while PostgreSQL does not answer in it."""
        found = self.member.request("GET", f"/api/v1/pods?fieldSelector=status.podIP={address}")["items"]
        if not found:
            return None
        pod = found[0]
        primary = self._primary(pod)
        if not _is_ready(pod):
            return None
        name = pod["metadata"]["name"]
        standby = {"isWalReceiverActive": True, "receivedLsn": _POSITION, "replayLsn": _POSITION}
        return {
            "isPrimary": name == primary,
            "systemID": "7400000000000000000",
            "timeLineID": 1,
            "node": pod["spec"].get("nodeName"),
            "executableHash": self.executable,
            "instanceManagerVersion": "",
            "instanceArch": self.architecture,
            "sessionID": pod["metadata"]["uid"],
            **({"currentLsn": _POSITION} if name == primary else standby),
        }

    def _primary(self, pod: Object) -> str:
        """Return the primary of a pod's cluster, which the pod becomes if it has been chosen."""
        metadata = pod["metadata"]
        root = f"/apis/postgresql.cnpg.io/v1/namespaces/{metadata['namespace']}/clusters"
        path = f"{root}/{metadata['labels'][_CLUSTER]}"
        status = (self.member.get(path) or {}).get("status") or {}
        current: str = status.get("currentPrimary", "")
        if current == metadata["name"] or status.get("targetPrimary") != metadata["name"]:
            return current
        # It writes in fractions of a second, too.
        became = {"currentPrimary": metadata["name"], "currentPrimaryTimestamp": status.get("targetPrimaryTimestamp")}
        self.member.request("PATCH", f"{path}/status", {"status": became}, _MERGE)
        return str(metadata["name"])


def _is_ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    status: Callable[[str], Any]

    def do_GET(self) -> None:
        address, content = (self.headers.get("Host") or "").partition(":")[0], None
        if self.path == "/pg/status":
            with suppress(ApiError):  # the cluster may be gone, or another one
                content = self.status(address)
        status = HTTPStatus.INTERNAL_SERVER_ERROR if content is None else HTTPStatus.OK
        answer(self, json.dumps(content or {}).encode(), status=status)
