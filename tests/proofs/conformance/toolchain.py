"""Go: where it keeps Karmada's source, and the programs that we compare with, built in the user's cache."""

import json
import os
from functools import cache
from pathlib import Path

from tests.proofs.rig.toolchain import go

_KARMADA = "github.com/karmada-io/karmada"
_ARGO_CD = "github.com/argoproj/argo-cd/v3"
_GITOPS_ENGINE = "github.com/argoproj/gitops-engine"
_THIRDPARTY = "pkg/resourceinterpreter/default/thirdparty"
_HERE = Path(__file__).parent
_FLAGS = "-mod=readonly -trimpath -buildvcs=false"


def karmada_source() -> tuple[str, Path]:
    """Return the version of Karmada that the program's go.mod pins, and the folder of its source."""
    return source(_HERE / "karmada", _KARMADA)


def argocd_source() -> tuple[str, Path]:
    """Return the version and the folder of Argo CD, as `karmada_source`."""
    return source(_HERE / "gitops", _ARGO_CD)


def engine_source() -> tuple[str, Path]:
    """Return the version and the folder of Argo CD's gitops-engine."""
    return source(_HERE / "gitops", _GITOPS_ENGINE)


def build_program() -> Path:
    """Build the program that answers as Karmada does; Go's own cache makes the second time fast."""
    return built(_HERE / "karmada", "karmada-luavm")


def build_thirdparty() -> Path:
    """Build Karmada's own test of its third-party interpreters."""
    return built(_HERE / "karmada", "karmada-thirdparty", "test", "-c", package=f"{_KARMADA}/{_THIRDPARTY}")


def build_gojq() -> Path:
    """Build the program that answers as gojq does."""
    return built(_HERE / "gojq", "gojq")


def build_gitops() -> Path:
    """Build the program that judges as Argo CD, kubectl and Flux do: the first time takes minutes."""
    return built(_HERE / "gitops", "gitops")


def build_crds() -> Path:
    """Build the program that validates statuses as an API server does."""
    return built(_HERE / "crds", "crds")


def cache_folder() -> Path:
    """Return the folder for what is built or made once, which exists."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "karta-interpreter" / "conformance"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def source(module: Path, required: str) -> tuple[str, Path]:
    """Return the version of a module that another one requires, and the folder of its source. Raises BuildError."""
    found: dict[str, str] = json.loads(go("mod", "download", "-json", required, within=module, GOFLAGS=_FLAGS))
    return found["Version"], Path(found["Dir"])


@cache
def built(module: Path, name: str, *command: str, package: str = ".") -> Path:
    """Build a package of a module, and return the program. Raises BuildError."""
    program = cache_folder() / name
    arguments = (*(command or ("build",)), "-ldflags", "-s -w", "-o", str(program), package)
    go(*arguments, within=module, GOFLAGS=_FLAGS)
    return program
