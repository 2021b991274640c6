"""The recipes of docs/developers/changing.md run: their commands find what they name, and they say what tests want."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogue.test_families import FEWEST, WANTED
from tests.support.rows import rows
from tests.support.waiting import HANG

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs/developers/changing.md").read_text(encoding="utf-8")
_NAMES = {
    "FILE": "kartas/batch/v1/CronJob/karta.yaml",
    "FOLDER": "kartas/batch/v1/CronJob",
    "KIND": "CronJob",
    "NAME": "retain",
    "WORD": "CronJob",
}
_COMMAND = re.compile(r"(?:[A-Z]+=\w+ )?(?:\.venv/bin/|make )[^`#\n]+")


def _commands() -> list[str]:
    """Return the commands in code and in blocks, with names of things that exist."""
    blocks = "\n".join(re.findall(r"^```bash\n(.*?)^```$", _PAGE, re.MULTILINE | re.DOTALL))
    codes = re.findall(r"`([^`]+)`", _PAGE.replace("```", ""))
    texts = [*blocks.splitlines(), *(" ".join(code.split()) for code in codes)]
    found = [match[0].strip() for text in texts if (match := _COMMAND.match(text))]
    return list(dict.fromkeys(re.sub(r"\b[A-Z]{4,}\b(?!=)", lambda name: _NAMES[name[0]], text) for text in found))


_COMMANDS = _commands()
_TESTS = [text for text in _COMMANDS if ".venv/bin/pytest" in text]
_FILES = [text for text in _TESTS if not re.search(r" -k | --rows ", text)]


def _run(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": "interpreter"}
    done = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


def test_every_path_of_a_recipe_has_tests() -> None:
    paths = {_ROOT / word for text in _FILES for word in shlex.split(text) if word.startswith("tests/")}
    assert paths
    without = [path for path in paths if not (path.is_file() or any(path.rglob("test_*.py")))]
    assert without == []


@pytest.mark.parametrize("text", [text for text in _TESTS if text not in _FILES])
def test_tests_of_one_name_are_found(text: str) -> None:
    """They are collected only, and those of a few examples, which takes less time."""
    arguments = text.partition(".venv/bin/pytest ")[2]
    text = _run(sys.executable, "-m", "pytest", *shlex.split(arguments), "--collect-only", "-q")
    assert sum(int(number) for number in re.findall(r"^\S+: (\d+)$", text, re.MULTILINE)) > 1


@rows("text", [text for text in _COMMANDS if text.startswith("make ")])
def test_target_of_make_exists(text: str) -> None:
    _run(*shlex.split(text), "--dry-run")


@rows("text", [text for text in _COMMANDS if text.startswith(".venv/bin/karta-interpreter")])
def test_command_of_the_program_runs(text: str) -> None:
    _run(sys.executable, "-m", "karta_interpreter", *shlex.split(text)[1:])


def test_program_that_a_recipe_runs_exists() -> None:
    modules = re.findall(r"python -m ([\w.]+)", _PAGE)
    assert modules
    assert [name for name in modules if not (_ROOT / f"{name.replace('.', '/')}.py").exists()] == []


def test_recipe_of_a_kind_says_which_cases_are_wanted() -> None:
    text = " ".join(_PAGE.split())
    for operation, families in WANTED.items():
        assert f"- {operation}: {', '.join(families)}" in text
    for operation, number in FEWEST.items():
        # As many as there are families need no number.
        assert f"{operation}: {number} cases" in text or number <= len(WANTED.get(operation, ())) or "are 4" in text
