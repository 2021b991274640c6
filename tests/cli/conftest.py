import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from karta_interpreter.cli.program import program
from karta_interpreter.webhook.log import NAME
from tests.support.karta import karta_text
from tests.support.waiting import HANG

# As in tests/server: aiohttp reads the authorities of this machine in each process that imports it.
os.environ["SSL_CERT_FILE"] = os.devnull

WORKLOAD = """\
apiVersion: example.io/v1
kind: Job
metadata:
  name: demo
  namespace: team
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: main
        resources:
          requests:
            cpu: "2"
            memory: 8Gi
      volumes:
      - name: v
        configMap:
          name: settings
status:
  phase: Running
"""

STATUSES = """\
clusterName: member1
applied: true
status:
  phase: Running
---
clusterName: member2
applied: true
"""


@pytest.fixture
def karta() -> Callable[..., str]:
    return karta_text


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a definition, a workload of its kind and the statuses of two clusters."""
    (tmp_path / "karta.yaml").write_text(karta_text())
    (tmp_path / "job.yaml").write_text(WORKLOAD)
    (tmp_path / "desired.yaml").write_text(WORKLOAD.replace("replicas: 3", "replicas: 5"))
    (tmp_path / "statuses.yaml").write_text(STATUSES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def _own_log() -> Iterator[None]:
    """Let a command configure the log of this process, and take that back at the end."""
    loggers = [logging.getLogger(), logging.getLogger(NAME)]
    levels = [logger.level for logger in loggers]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loggers[0], "handlers", [])
        for module, hook in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
            patch.setattr(module, hook, getattr(module, hook))
        try:
            yield
        finally:
            logging.captureWarnings(capture=False)
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command line in this process."""

    def run(*arguments: str, stdin: str | None = None, env: Mapping[str, str] | None = None) -> Result:
        with _own_log():
            return CliRunner().invoke(program, arguments, input=stdin, env=env)

    return run


@pytest.fixture
def start() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command line in a process of its own."""

    def start(
        arguments: Sequence[str], *, stdin: str = "", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "karta_interpreter", *arguments]
        return subprocess.run(command, input=stdin, cwd=cwd, text=True, capture_output=True, check=False, timeout=HANG)

    return start
