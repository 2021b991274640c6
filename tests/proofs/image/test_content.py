"""What is in the image."""

import json
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proofs.image.building import ROOT, Image, commit
from tests.proofs.image.container import Restrictions, output

_MIB = 2**20
_MOST_ADDED = 90 * _MIB
_SHELLS = ("sh", "bash", "dash", "ash", "busybox")
_LABELS = "org.opencontainers.image."
# Runs in the image: imports all modules of the program, and prints why the byte code of a module is not used.
_BYTE_CODE = """
import importlib.util, json, pkgutil, sys
import karta_interpreter
for module in pkgutil.walk_packages(karta_interpreter.__path__, "karta_interpreter."):
    if not module.name.endswith((".__main__", ".child")):
        importlib.import_module(module.name)
def problem(module):
    try:
        code = open(importlib.util.cache_from_source(module.__file__), "rb").read()
    except FileNotFoundError:
        return "is missing"
    if code[:4] != importlib.util.MAGIC_NUMBER:
        return "is of another Python"
    if code[4] == 3 and code[8:16] != importlib.util.source_hash(open(module.__file__, "rb").read()):
        return "is of another source"
    return "" if code[4] in (1, 3) else "depends on times"
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
modules = [sys.modules[name] for name, file in files.items() if file.endswith(".py")]
problems = {module.__name__: problem(module) for module in modules if problem(module)}
print(json.dumps({"modules": len(modules), "problems": problems}))
"""
_EXTENSIONS = """
import ctypes, json, pathlib
found = sorted(map(str, pathlib.Path("/app").rglob("*.so*")))
for name in found:
    ctypes.PyDLL(name)
print(json.dumps(found))
"""


def test_labels_say_what_it_is_and_of_what_it_was_made(image: Image) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    labels = {name.removeprefix(_LABELS): value for name, value in image.config["Labels"].items()}
    wanted = {
        "title": project["name"],
        "description": project["description"],
        "licenses": project["license"],
        "version": project["version"],
        "revision": commit(),
        "base.digest": image.digest_of_base,
    }
    assert {name: labels[name] for name in wanted} == wanted
    assert all(labels[name].startswith("https://") for name in ("url", "source", "documentation"))
    assert labels["created"].endswith("Z")


def test_image_adds_little_to_its_base(image: Image) -> None:
    added = _size(image.root) - _size(image.base)
    parts = sorted(((_size(part), part.name) for part in (image.root / "app").iterdir()), reverse=True)
    largest = ", ".join(f"{name} {size / _MIB:.1f}" for size, name in parts[:8])
    print(f"\nadded to the base: {added / _MIB:.1f} MiB; in /app: {largest}")  # noqa: T201 - what the run measured
    assert added <= _MOST_ADDED


def test_image_adds_only_the_program_and_byte_code(image: Image) -> None:
    names = {str(path.relative_to(image.base)) for path in _files(image.base)}
    added = [path.relative_to(image.root) for path in _files(image.root)]
    others = [path for path in added if str(path) not in names and path.parts[0] != "app"]
    assert [path for path in others if path.suffix != ".pyc" and path.name != "__pycache__"] == []
    assert not (image.root / "app" / "pip").exists()
    assert list((image.root / "app").glob("pip-*")) == []


def test_image_needs_no_shell(image: Image) -> None:
    found = [path for path in _files(image.root) if path.name in _SHELLS and path.is_file()]
    assert found == [], "the base has one, so that the other tests show nothing about that"


def test_user_can_write_to_no_file(image: Image, restrictions: Restrictions) -> None:
    found = list(_files(image.root / "app"))
    assert found
    for path in (image.root / "app", *found):
        status = path.lstat()
        assert (status.st_uid, status.st_gid) == (0, 0) != (restrictions.uid, restrictions.gid)
        assert stat.S_ISLNK(status.st_mode) or not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH), path
        assert not status.st_mode & (stat.S_ISUID | stat.S_ISGID), path


def test_byte_code_of_all_modules_is_there_and_used(image: Image, restrictions: Restrictions, tmp_path: Path) -> None:
    found = json.loads(output(tmp_path / "run", image, restrictions, "python3", "-c", _BYTE_CODE))
    assert found["modules"] > 300, "those of the standard library too"
    assert found["problems"] == {}


def test_extensions_can_be_loaded(image: Image, restrictions: Restrictions, tmp_path: Path) -> None:
    found = json.loads(output(tmp_path / "run", image, restrictions, "python3", "-c", _EXTENSIONS))
    assert any("lua52" in name for name in found)


@pytest.mark.parametrize("name", ["karta-interpreter", "python3 -m karta_interpreter"])
def test_commands_run(image: Image, restrictions: Restrictions, tmp_path: Path, name: str) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shown = output(tmp_path / "run", image, restrictions, *name.split(), "--version")
    assert shown == f"karta-interpreter, version {version}\n"


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in _files(folder) if stat.S_ISREG(path.lstat().st_mode))


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))
