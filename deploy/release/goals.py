"""What other goals of the Makefile build: the SBOM, and the image."""

import shutil
import subprocess
from pathlib import Path

from deploy.release.programs import run

_ENGINES = ("podman", "docker")
_BILL = "dist/karta-interpreter.cdx.json"


def bill_of_materials(root: Path) -> Path:
    """Write the SBOM of what the image installs; return its path."""
    run("make", "sbom", folder=root)
    return root / _BILL


def image(root: Path) -> str:
    """Build the image, unless no engine can fetch the base that it starts from; return what was done."""
    engines = [engine for engine in _ENGINES if _works(engine)]
    if not engines:
        return f"skipped: the image; neither {' nor '.join(_ENGINES)} works here, `make image-test` needs none of them"
    subprocess.run(["make", "image"], cwd=root, check=True)  # noqa: S607 - the make of the path
    return f"built: the image, by {engines[0]}"


def _works(engine: str) -> bool:
    program = shutil.which(engine)
    if not program:
        return False
    return subprocess.run([program, "info"], check=False, capture_output=True).returncode == 0  # noqa: S603
