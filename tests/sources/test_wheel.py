import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from karta_interpreter.karta.loading import catalogue_files
from karta_interpreter.sources.files import load_catalogue

_CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*command, "--disable-pip-version-check", "--wheel-dir", folder, _CHECKOUT], check=True)
    (path,) = folder.iterdir()
    return path


def test_it_carries_the_catalogue_without_suites(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    carried = sorted(name for name in names if name.startswith("karta_interpreter/kartas/"))
    assert carried == sorted(f"karta_interpreter/{path.relative_to(_CHECKOUT)}" for path in catalogue_files())
    assert not [name for name in names if "testdata" in name or name.startswith(("kartas/", "tests/"))]


def test_an_installed_package_finds_its_catalogue(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "from karta_interpreter.sources.files import load_catalogue\n"
        "print(*sorted(entry.definition.name for entry in load_catalogue().entries), sep='\\n')"
    )

    # -P and the folder in front: what is imported is the wheel, not the checkout.
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"]
    installed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    assert installed == sorted(entry.definition.name for entry in load_catalogue().entries)
