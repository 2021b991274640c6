"""Programs that this process starts find the packages that it has, wherever those are."""

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import HANG

TOP = Path(__file__).parents[3]
# Not the interpreter of a virtual environment, which finds packages by itself.
PYTHON = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
LARGE = 3 * 2**20


@contextmanager
def serving() -> Iterator[int]:
    """Run a server that only ``PYTHONPATH`` tells of its packages, as in the image; yield its port."""
    command = [
        str(PYTHON),
        "-m",
        "karta_interpreter",
        "serve",
        "--plain-http",
        "--port",
        "0",
        "--grace-period",
        "0",
        "--webhook-timeout=30",
        "--no-catalogue",  # to load all of it takes half of the start
        "--kartas",
        str(TOP / "kartas" / "apps" / "v1" / "Deployment" / "karta.yaml"),
    ]
    path = os.pathsep.join([str(TOP / "interpreter"), *filter(None, sys.path)])
    with subprocess.Popen(command, env={"PYTHONPATH": path}, stderr=subprocess.PIPE, text=True, cwd="/") as server:
        assert server.stderr
        try:
            said = ""
            for line in server.stderr:
                said += line
                if found := re.search(r'"url":"http://127\.0\.0\.1:(\d+)"', line):
                    yield int(found[1])
                    break
            else:
                pytest.fail(said)
        finally:
            server.terminate()
            server.stderr.read()


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="this Python has no other one below it")
def test_server_in_image_answers_large_calls() -> None:
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"replicas": 2}}
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    request = {"uid": "1", "kind": kind, "name": "a", "operation": "InterpretStatus", "object": obj}
    body = {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": request}
    obj["status"] = {"note": "x" * LARGE}
    with serving() as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
        connection.request("POST", "/interpret", json.dumps(body), {"Content-Type": "application/json"})
        response = json.loads(connection.getresponse().read())["response"]
        connection.close()
    assert response["successful"], response
