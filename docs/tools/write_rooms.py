"""The table of rooms in docs/developers/architecture.md, with what each holds."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "developers" / "architecture.md"
_PACKAGE = "karta_interpreter"
_SOURCE = ROOT / "interpreter" / _PACKAGE
_TABLE = re.compile(r"^\| room \|.*\n(\|.*\n)*", re.MULTILINE)


def pages() -> dict[Path, str]:
    """Return the page with the table as the code has it, from the top of the layers to the bottom."""
    rows = "".join(f"| `{room}` | {_holds(room)} |\n" for room in _rooms())
    table = f"| room | holds |\n|---|---|\n{rows}"
    return {PAGE: _TABLE.sub(lambda _: table, PAGE.read_text(encoding="utf-8"), count=1)}


def _rooms() -> list[str]:
    """Return the rooms in the order of the contract that import-linter checks."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][1]["layers"]
    names = [name.strip().removeprefix(f"{_PACKAGE}.") for layer in layers for name in layer.split("|")]
    return [name.replace(".", "/") for name in names]


def _holds(room: str) -> str:
    folder = _SOURCE / room
    module = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].rstrip(".").replace("``", "`")
