"""Go: where it keeps Karmada's source, and the programs that we compare with, built in the user's cache."""

import json
import os
import shutil
import subprocess
from pathlib import Path

_KARMADA = "github.com/karmada-io/karmada"
_ARGO_CD = "github.com/argoproj/argo-cd/v3"
_GITOPS_ENGINE = "github.com/argoproj/gitops-engine"
_THIRDPARTY = "pkg/resourceinterpreter/default/thirdparty"
_PROGRAM = Path(__file__).parent / "karmada"
_GOJQ = Path(__file__).parent / "gojq"
_GITOPS = Path(__file__).parent / "gitops"
_CRDS = Path(__file__).parent / "crds"
_GO = {"GOFLAGS": "-mod=readonly -trimpath -buildvcs=false", "CGO_ENABLED": "0", "GOWORK": "off"}


class ToolchainError(Exception):
    """Go is there but does not do what it is asked."""


def has_go() -> bool:
    """Whether there is a Go toolchain."""
    return shutil.which("go") is not None


def karmada_source() -> tuple[str, Path]:
    """Return the version of Karmada that the program's go.mod pins, and the folder of its source."""
    return _source(_PROGRAM, _KARMADA)


def argocd_source() -> tuple[str, Path]:
    """Return the version and the folder of Argo CD, as `karmada_source`."""
    return _source(_GITOPS, _ARGO_CD)


def engine_source() -> tuple[str, Path]:
    """Return the version and the folder of Argo CD's gitops-engine."""
    return _source(_GITOPS, _GITOPS_ENGINE)


def build_program() -> Path:
    """Build the program that answers as Karmada does; Go's own cache makes the second time fast."""
    return _build(_PROGRAM, "karmada-luavm")


def build_thirdparty() -> Path:
    """Build Karmada's own test of its third-party interpreters."""
    return _build(_PROGRAM, "karmada-thirdparty", "test", "-c", package=f"{_KARMADA}/{_THIRDPARTY}")


def build_gojq() -> Path:
    """Build the program that answers as gojq does."""
    return _build(_GOJQ, "gojq")


def build_gitops() -> Path:
    """Build the program that judges as Argo CD, kubectl and Flux do: the first time takes minutes."""
    return _build(_GITOPS, "gitops")


def build_crds() -> Path:
    """Build the program that validates statuses as an API server does."""
    return _build(_CRDS, "crds")


def cache_folder() -> Path:
    """Return the folder for what is built or made once, which exists."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "karta-interpreter" / "conformance"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _source(program: Path, module: str) -> tuple[str, Path]:
    found: dict[str, str] = json.loads(_go(program, "mod", "download", "-json", module))
    return found["Version"], Path(found["Dir"])


def _build(source: Path, name: str, *command: str, package: str = ".") -> Path:
    program = cache_folder() / name
    _go(source, *(command or ("build",)), "-ldflags", "-s -w", "-o", str(program), package)
    return program


def _go(source: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["go", *arguments], cwd=source, env=os.environ | _GO, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ToolchainError(f"go {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout
