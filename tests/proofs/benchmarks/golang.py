"""The programs in Go, built into the user's cache: Karmada's example webhook, the load, Karmada's client."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.conformance.toolchain import built, source
from tests.proofs.rig.toolchain import go

_MODULE = Path(__file__).parent / "go"
_KARMADA = "github.com/karmada-io/karmada"


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
    names = names or ("webhook", "load", "client")
    files = {name: built(_MODULE, name, package=f"./{name}") for name in names}
    version, folder = source(_MODULE, _KARMADA)
    programs = [files.get(name, Path()) for name in ("webhook", "load", "client")]
    return Programs(go("env", "GOVERSION", within=_MODULE).strip(), version, folder, *programs)
