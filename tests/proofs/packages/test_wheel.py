import subprocess
import sys
import zipfile
from pathlib import Path

from karta_interpreter.definitions.sources.files import load_catalogue

_CHECKOUT = Path(__file__).parents[3]


def test_sdist_builds_the_same_wheel(wheel: Path, built: Path) -> None:
    assert wheel.read_bytes() == (built / "direct" / wheel.name).read_bytes()


def test_wheel_carries_the_catalogue_with_its_suites(wheel: Path) -> None:
    """The console shows the cases of a kind."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    carried = {name for name in names if name.startswith("karta_interpreter/kartas/")}
    files = {path.relative_to(_CHECKOUT) for path in (_CHECKOUT / "kartas").rglob("*.yaml")}
    assert carried == {f"karta_interpreter/{path}" for path in files if path.name != "facts.yaml"}
    assert not [name for name in names if name.startswith(("kartas/", "tests/"))]


def test_installed_package_finds_its_catalogue(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "from karta_interpreter.definitions.sources import files\n"
        "from karta_interpreter.definitions.sources.files import load_catalogue\n"
        "files._from_text = None  # the compiled form has all of it\n"
        "print(*sorted(entry.definition.name for entry in load_catalogue().entries), sep='\\n')"
    )

    # -P and the folder in front: what is imported is the wheel, not the checkout.
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"]
    installed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    assert installed == sorted(entry.definition.name for entry in load_catalogue().entries)
