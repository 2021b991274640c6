"""Ray's dashboard and Serve, as KubeRay's operator sees them through its HTTP proxy."""

import json
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from tests.proofs.rig.podstatus import FAILED, RUNNING, SUCCEEDED
from tests.support.serving import answer, start

_JOB = {RUNNING: "RUNNING", SUCCEEDED: "SUCCEEDED", FAILED: "FAILED"}
_BEGUN = 1_700_000_000_000


@dataclass
class Dashboard:
    """The Ray jobs and Serve applications of each namespace."""

    jobs: dict[str, str | None] = field(default_factory=dict)
    running: dict[str, bool] = field(default_factory=dict)
    applications: dict[str, list[str]] = field(default_factory=dict)

    def start(self) -> int:
        """Listen in a thread that ends with the program; return the port."""
        return start(_Handler, dashboard=self)

    def told(self, namespace: str, phase: str) -> None:
        """Have the jobs and applications of a namespace follow its pods."""
        self.jobs[namespace] = _JOB.get(phase)
        self.running[namespace] = phase == RUNNING

    def job(self, namespace: str, name: str) -> Any:
        """Return what is known of a job, None before it was submitted."""
        status = self.jobs.get(namespace)
        known = {"submission_id": name, "job_id": "01000000", "message": "", "start_time": _BEGUN}
        return known | {"status": status, "entrypoint": "python x.py"} if status else None

    def served(self, namespace: str) -> Any:
        running = self.running.get(namespace, False)
        status, deployment = ("RUNNING", "HEALTHY") if running else ("DEPLOYING", "UPDATING")
        deployments = {"d": {"name": "d", "status": deployment, "message": ""}}
        names = self.applications.get(namespace, [])
        state = {"status": status, "message": "", "deployments": deployments}
        return {"applications": {name: {"name": name, **state} for name in names}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    dashboard: Dashboard

    def do_GET(self) -> None:
        namespace, path = self._target()
        name = path.removeprefix("/api/jobs/").strip("/")
        if path.startswith("/api/serve/applications"):
            self._answer(self.dashboard.served(namespace))
        elif path.startswith("/-/healthz"):
            self._answer("success")
        elif path.startswith("/api/jobs/") and name:
            self._answer(self.dashboard.job(namespace, name))
        else:
            self._answer([] if path.startswith("/api/jobs") else None)

    def do_POST(self) -> None:
        self._body()
        namespace, path = self._target()
        if path.endswith("/stop"):
            self._answer({"stopped": True})
        else:
            self.dashboard.jobs[namespace] = self.dashboard.jobs.get(namespace) or "PENDING"
            self._answer({"job_id": "x"})

    def do_PUT(self) -> None:
        namespace, _ = self._target()
        self.dashboard.applications[namespace] = re.findall(r'"name": ?"([^"]+)"', self._body())[:1] or ["app"]
        self._answer({})

    def do_DELETE(self) -> None:
        self._answer({})

    def _target(self) -> tuple[str, str]:
        """Return namespace and path: a Service is NAME.NAMESPACE.svc..."""
        url = urlsplit(self.path)
        parts = (url.hostname or "").split(".")
        return (parts[1] if len(parts) > 1 else ""), url.path

    def _body(self) -> str:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def _answer(self, content: Any) -> None:
        data = json.dumps(content or {}).encode() if content != [] else b"[]"
        answer(self, data, status=HTTPStatus.NOT_FOUND if content is None else HTTPStatus.OK)
