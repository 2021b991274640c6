"""The wheel and the sdist, built twice: a difference means that nobody can check where they come from."""

import sys
import tarfile
from pathlib import Path

from deploy.release.programs import run
from deploy.write_kustomize import tool

_NAMES = {"sdist": "karta_interpreter-*.tar.gz", "wheel": "karta_interpreter-*.whl"}


def build_page(checkout: Path) -> None:
    """Build the page of the console into a checkout; a rehearsal without npm leaves it out, and a release has it."""
    if not tool("npm"):
        sys.stderr.write("the wheel has no page for the console: npm is missing\n")
        return
    for arguments in (("ci", "--silent"), ("run", "--silent", "build")):
        run("npm", *arguments, folder=checkout / "interpreter" / "console")


def compile_catalogue(checkout: Path) -> None:
    """Make the form of the catalogue that is read soonest. It is the same each time that it is made of the same."""
    program = "from karta_interpreter.definitions.sources import compile_catalogue; compile_catalogue()"
    variables = {"PYTHONPATH": str(checkout / "interpreter"), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    run(sys.executable, "-c", program, folder=checkout, variables=variables)


def build(checkouts: tuple[Path, Path], target: Path, scratch: Path, epoch: int) -> list[Path]:
    """Build from one checkout into ``target``; compare with an sdist of the other, and with a wheel of that sdist."""
    first, second = checkouts
    built = [_hatch(first, target, "sdist", epoch), _hatch(first, target, "wheel", epoch)]
    sdist = _hatch(second, scratch, "sdist", epoch)
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch, filter="data")
    again = [sdist, _hatch(scratch / sdist.name.removesuffix(".tar.gz"), scratch, "wheel", epoch)]
    different = [one.name for one, other in zip(built, again, strict=True) if one.read_bytes() != other.read_bytes()]
    if different:
        raise SystemExit(f"built twice from the same commit, these differ: {', '.join(different)}")
    return built


def _hatch(folder: Path, target: Path, kind: str, epoch: int) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(target)]
    run(*command, folder=folder, variables={"SOURCE_DATE_EPOCH": str(epoch)})
    [path] = target.glob(_NAMES[kind])
    return path
