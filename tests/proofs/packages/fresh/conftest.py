"""The package in an environment of its own, installed as a user does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import HANG

_LOCK = Path(__file__).parents[4] / "requirements" / "run.txt"


class Environment:
    """A virtual environment, and a folder outside of every checkout in which its programs run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.programs = folder / "venv" / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        self._constraints = folder / "constraints.txt"
        pinned = re.findall(r"^([\w.-]+==[^\\\n]+)", _LOCK.read_text(), flags=re.MULTILINE)
        self._constraints.write_text("\n".join(pinned))

    def install(self, requirement: str) -> None:
        """Install the locked versions of what a requirement needs, or skip the test where no index has them."""
        probe = self.run("pip", "download", "--quiet", "--no-deps", "--dest", "download", "typing-inspection")
        if probe.returncode:
            pytest.skip("no package index can be reached")
        installed = self.run("pip", "install", "--quiet", "--constraint", str(self._constraints), requirement)
        assert installed.returncode == 0, installed.stderr

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment."""
        command = [str(self.programs / program), *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False, timeout=5 * HANG
        )

    @property
    def variables(self) -> dict[str, str]:
        left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
