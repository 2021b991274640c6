"""The table of rooms in docs/developers/architecture.md: what each holds, and which others it imports."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "developers" / "architecture.md"
_PACKAGE = "karta_interpreter"
_SOURCE = ROOT / "interpreter" / _PACKAGE
_TABLE = re.compile(r"^\| room \|.*\n(\|.*\n)*", re.MULTILINE)


def pages() -> dict[Path, str]:
    """Return the page with the table as the code has it, from the top of the layers to the bottom."""
    rows = "".join(
        f"| `{room}` | {_holds(room)} | {', '.join(sorted(_imports(room))) or 'none'} |\n" for room in _rooms()
    )
    table = f"| room | holds | imports |\n|---|---|---|\n{rows}"
    return {PAGE: _TABLE.sub(lambda _: table, PAGE.read_text(encoding="utf-8"), count=1)}


def _rooms() -> list[str]:
    """Return the rooms in the order of the contract that import-linter checks."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][1]["layers"]
    names = [name.strip().removeprefix(f"{_PACKAGE}.") for layer in layers for name in layer.split("|")]
    return [name.replace(".", "/") for name in names]


def _files(room: str) -> list[Path]:
    folder = _SOURCE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def _holds(room: str) -> str:
    folder = _SOURCE / room
    module = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].rstrip(".").replace("``", "`")


def _imports(room: str) -> set[str]:
    names = {name for file in _files(room) for name in _imported(file)}
    prefixes = {each: f"{_PACKAGE}.{each.replace('/', '.')}." for each in _rooms()}
    return {each for each, prefix in prefixes.items() for name in names if f"{name}.".startswith(prefix)} - {room}


def _imported(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports, but those for types alone."""
    parts: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while parts:
        node = parts.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        parts += ast.iter_child_nodes(node)
