import subprocess
import sys
import zipfile
from pathlib import Path

from karta_interpreter.karta.loading import catalogue_files
from karta_interpreter.sources.files import load_catalogue
from tests.packages.conftest import build_wheel

_CHECKOUT = Path(__file__).parents[2]


def test_an_sdist_holds_all_that_a_wheel_is_made_of(wheel: Path, tmp_path: Path) -> None:
    assert wheel.read_bytes() == build_wheel(_CHECKOUT, tmp_path / "wheel").read_bytes()


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
