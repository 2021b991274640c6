"""The programs in Go, built into the user's cache: Karmada's example webhook, the load, Karmada's client."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).parent / "go"
_KARMADA = "github.com/karmada-io/karmada"
_NAMES = ("webhook", "load", "client")
_GO = {"GOFLAGS": "-mod=readonly -trimpath -buildvcs=false", "CGO_ENABLED": "0", "GOWORK": "off"}


class BuildError(Exception):
    """Go is there but does not do what it is asked."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The files of the programs, and the versions of what is in them; ``source`` is Karmada's."""

    go: str
    karmada: str
    source: Path
    webhook: Path
    load: Path
    client: Path


def build(*names: str) -> Programs | None:
    """Build what is not yet there, all or some of them; its own cache makes the second time fast.

    Returns None where there is no Go. Raises BuildError.
    """
    if not shutil.which("go"):
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "karta-interpreter" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    karmada: dict[str, str] = json.loads(_go("mod", "download", "-json", _KARMADA))
    for name in names or _NAMES:
        _go("build", "-o", str(folder / name), f"./{name}")
    files = {name: folder / name for name in _NAMES}
    return Programs(_go("env", "GOVERSION").strip(), karmada["Version"], Path(karmada["Dir"]), **files)


def _go(*arguments: str) -> str:
    done = subprocess.run(
        ["nice", "go", *arguments], cwd=_SOURCE, env=os.environ | _GO, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout
