"""The program of `helm test`, against a server."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.webhook.http.tls import SelfSignedCertificates
from tests.definitions.sources.scripted_api import write_kubeconfig
from tests.deploy.rendered import DEPLOY, ROOT
from tests.support.waiting import HANG
from tests.webhook.process.process import Process, running

PROGRAM = DEPLOY / "helm" / "karta-interpreter" / "files" / "answers.py"


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with running(folder=ROOT / "kartas" / "batch") as process:
        yield process


def ask(
    server: Process, authority: bytes, folder: Path, host: str = "localhost", patience: int = 20
) -> subprocess.CompletedProcess[str]:
    (folder / "ca.crt").write_bytes(authority)
    program = PROGRAM.read_text().replace("PATIENCE = 20", f"PATIENCE = {patience}")
    command = [sys.executable, "-c", program, host, str(server.port), str(folder / "ca.crt")]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=HANG)


def test_answering_server_passes(server: Process, tmp_path: Path) -> None:
    ran = ask(server, server.authority, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert '"replicas":3' in ran.stdout


def test_server_with_strange_certificate_fails(server: Process, tmp_path: Path) -> None:
    ran = ask(server, SelfSignedCertificates().read().authority, tmp_path)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"the certificate of localhost:{server.port} is not one for Karmada: ")
    assert "are its pods ready" not in ran.stderr, "they are"


def test_server_that_is_not_registered_is_named_with_a_command(tmp_path: Path) -> None:
    kubeconfig = str(write_kubeconfig(tmp_path / "config", "https://127.0.0.1:1"))
    registering: dict[str, Any] = {"register": True, "service": "a/karta", "kubeconfig": kubeconfig}
    with running(folder=ROOT / "kartas" / "batch", **registering) as process:
        ran = ask(process, process.authority, tmp_path, "127.0.0.1", patience=1)
    assert (ran.returncode, "but it is not registered" in ran.stderr) == (1, True), ran.stderr
    assert "kubectl --namespace 0 exec deploy/127 -- karta-interpreter doctor" in ran.stderr


def test_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        command = [sys.executable, "-c", PROGRAM.read_text(), "127.0.0.1", str(unused.getsockname()[1])]
        ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=HANG, cwd=tmp_path)
    assert (ran.returncode, "no connection to 127.0.0.1:" in ran.stderr, "Traceback" in ran.stderr) == (1, True, False)
