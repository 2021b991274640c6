import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import HANG

pytestmark = pytest.mark.slow  # every run of the tests tries them on ordinary tests

_CONFTEST = """
import pytest
from tests.support.forked import Forked

def pytest_configure(config):
    config.pluginmanager.register(Forked({processes}, lambda item: item.path))

@pytest.fixture(scope="session", autouse=True)
def session():
    yield
    with open("ended", "a") as file:
        file.write("x")
"""


def _outcomes(folder: Path, files: dict[str, str], *options: str, processes: int = 1) -> tuple[int, set[str], str]:
    """Return the exit status, each test with its outcome, and the output."""
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "conftest.py").write_text(_CONFTEST.format(processes=processes))
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:schemathesis", "-q", "-rA", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=HANG
    )
    lines = [line.split(" - ")[0] for line in done.stdout.splitlines()]
    return done.returncode, {line for line in lines if line.startswith(("PASSED", "FAILED", "ERROR"))}, done.stdout


def test_all_tests_are_reported_by_several_processes(tmp_path: Path) -> None:
    files = {
        f"test_{each}.py": "def test_one(): pass\ndef test_two(tmp_path): assert tmp_path.exists()" for each in "abc"
    }
    files["test_d.py"] = "def test_wrong():\n    print('said')\n    assert 1 == 2"
    files["test_e.py"] = "import pytest\n@pytest.fixture\ndef bad():\n    yield\n    1 / 0\ndef test_end(bad): pass"

    status, outcomes, output = _outcomes(tmp_path, files, processes=3)

    passed = {f"PASSED test_{each}.py::test_{test}" for each in "abc" for test in ("one", "two")}
    others = {"FAILED test_d.py::test_wrong", "PASSED test_e.py::test_end", "ERROR test_e.py::test_end"}
    assert (status, outcomes) == (1, passed | others)
    assert "assert 1 == 2" in output
    assert "said" in output
    assert {*(tmp_path / "ended").read_text()} == {"x"}, "one process may have taken all files"


def test_crash_fails_its_test_alone(tmp_path: Path) -> None:
    crash = "import os\ndef test_before(): pass\ndef test_crash(): os._exit(7)"
    files = {"test_a.py": f"{crash}\ndef test_after(): pass", "test_b.py": crash, "test_c.py": crash}

    status, outcomes, output = _outcomes(tmp_path, files)

    before = {f"PASSED test_{each}.py::test_before" for each in "abc"}
    crashed = {f"FAILED test_{each}.py::test_crash" for each in "abc"}
    assert (status, outcomes) == (1, {*before, *crashed, "PASSED test_a.py::test_after"})
    assert output.count("the process of the test ended with status 7") >= 3


def test_no_file_is_begun_after_the_most_failures(tmp_path: Path) -> None:
    files = {f"test_{each}.py": "def test_wrong(): assert False" for each in "abcde"}

    status, outcomes, _ = _outcomes(tmp_path, files, "--maxfail=1")

    assert status == 1
    assert "FAILED test_a.py::test_wrong" in outcomes
    assert "FAILED test_e.py::test_wrong" not in outcomes


def test_failure_at_the_end_of_a_process_is_no_success(tmp_path: Path) -> None:
    ending = "import atexit, os\ndef test_one(): atexit.register(os._exit, 9)"

    status, _, output = _outcomes(tmp_path, {"test_a.py": ending})

    assert status == 3
    assert "a process ended with status 9 beside its tests" in output
