"""A look for vulnerabilities that has not looked does not pass."""

import os
import subprocess
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_look_without_an_answer_of_the_index_fails() -> None:
    # Nobody listens at this port. The packages of the look are not installed for it.
    environment = {**os.environ, "https_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1"}
    command = ["make", "--silent", "--old-file", ".venv/vulnerabilities.stamp", "pip-audit"]
    done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1].startswith("make pip-audit has checked nothing")
