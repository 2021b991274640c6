"""Two replicas answer with the same bytes: Karmada stores some of them and compares what it stores."""

import os
import subprocess
import sys
from pathlib import Path

from tests.catalogue.entries import entries

_TOP = Path(__file__).parents[2]


def test_two_processes_give_the_same_bytes() -> None:
    """Each has its own hashes of strings, its own addresses, and its own order of calls."""
    processes = [_answering(seed, order) for seed, order in (("1", "forth"), ("2", "back"))]
    one, other = (process.communicate()[0].splitlines() for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert len(one) == sum(len(entry.cases) for entry in entries()) > 0
    assert sorted(set(one) ^ set(other)) == []


def _answering(seed: str, order: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.catalogue.answers", order]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.Popen(command, cwd=_TOP, env=environment, stdout=subprocess.PIPE, text=True)
