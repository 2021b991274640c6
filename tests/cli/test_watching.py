"""Commands that run again when a file changes."""

import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue

import pytest

from tests.support.waiting import HANG

KARTA = Path(__file__).parents[2] / "docs" / "examples" / "first" / "karta.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "karta.yaml").write_text(KARTA.read_text())
    return tmp_path


def test_validate_runs_again_when_a_definition_changes(folder: Path) -> None:
    command = [sys.executable, "-m", "karta_interpreter", "validate", ".", "--watch"]
    lines: Queue[str] = Queue()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        stream = process.stdout

        def read() -> None:
            for line in stream:
                lines.put(line)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            while "0 errors" not in (line := lines.get(timeout=HANG)):
                assert "error" not in line
            (folder / "karta.yaml").write_text("kind: Karta\n")
            while "changed" not in lines.get(timeout=HANG):
                pass
            while " error" not in lines.get(timeout=HANG):
                pass
            assert process.poll() is None, "a finding does not end it"
        finally:
            process.kill()
            reader.join()


@pytest.mark.parametrize("path", ["-", "https://example.invalid/karta.yaml"])
def test_unwatchable_path_is_a_mistake(path: str) -> None:
    command = [sys.executable, "-m", "karta_interpreter", "validate", path, "--watch"]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: --watch needs a file or folder that is there\n"
