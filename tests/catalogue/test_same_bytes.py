"""Two replicas answer with the same bytes: Karmada stores some of them and compares what it stores."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogue.answers import answers, asked

_TOP = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.sweep
def test_processes_give_the_same_bytes() -> None:
    """Each has its own hashes of strings, its own addresses, and its own order of calls."""
    own_seed = os.environ.get("PYTHONHASHSEED", "random")
    environment = {**os.environ, "PYTHONHASHSEED": "2" if own_seed == "1" else "1"}
    command = [sys.executable, "-m", "tests.catalogue.answers", "back"]
    with subprocess.Popen(command, cwd=_TOP, env=environment, stdout=subprocess.PIPE, text=True) as process:
        one, other = answers("forth"), process.communicate()[0].splitlines()
    assert process.returncode == 0
    assert len(one) == len(other) == len(asked()) > 0
    assert sorted(set(one) ^ set(other)) == []
