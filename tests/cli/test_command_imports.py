"""What a command imports before it answers. Modules are counted, because a test must pass on a slow machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.rows import rows

_ROOT = Path(__file__).parents[2]
_PROGRAM = """
import sys
from karta_interpreter.cli import main
try:
    main()
except SystemExit as end:
    print(end.code or 0, *sys.modules, file=sys.stderr)
"""
_OBJECT = str(_ROOT / "docs/examples/workload.yaml")
_KARTA = str(_ROOT / "docs/examples/trainjob.yaml")


def _imported(*command: str) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", _PROGRAM, *command], capture_output=True, text=True, check=True)
    code, *modules = ran.stderr.splitlines()[-1].split()
    assert code == "0", ran.stderr
    return modules


@rows(
    ("command", "most"),
    [
        pytest.param(("catalogue", "list"), 20, id="a written list"),
        pytest.param(("interpret", "-f", _KARTA, _OBJECT), 174, id="answers"),
        pytest.param(("tree", "-f", _KARTA, _OBJECT), 184, id="components"),
        pytest.param(("validate", _KARTA), 168, id="findings"),
    ],
)
def test_command_imports_few_modules(command: tuple[str, ...], most: int) -> None:
    """Each costs a few million instructions, most of them for dataclasses and patterns."""
    own = [name for name in _imported(*command) if name.startswith("karta_interpreter.")]
    assert len(own) <= most, sorted(own)


def test_list_of_catalogue_imports_no_definition() -> None:
    needless = {"asyncio", "pydantic", "yaml", "karta_interpreter.definitions", "karta_interpreter.engine"}
    assert needless.isdisjoint(_imported("catalogue", "list"))


def test_answers_import_no_suites_and_no_tree() -> None:
    needless = {"karta_interpreter.engine.suites", "karta_interpreter.engine.workload"}
    assert needless.isdisjoint(_imported("interpret", "-f", _KARTA, _OBJECT))
