"""The programs in Go, built into the user's cache: Karmada's example webhook, the load, Karmada's client, gojq."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).parent / "go"
_KARMADA = "github.com/karmada-io/karmada"
_GOJQ = "github.com/itchyny/gojq"
_MODULE = "karta-interpreter.io/benchmarks"
_EXAMPLE = "examples/customresourceinterpreter/webhook/app"
_LOGGING = ("klog.Infof(", '"k8s.io/klog/v2"')
_GO = {"GOFLAGS": "-mod=readonly -trimpath -buildvcs=false", "CGO_ENABLED": "0", "GOWORK": "off"}


class BuildError(Exception):
    """Go is there but does not do what it is asked."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The files of the programs, and the versions of what is in them.

    ``quiet`` is the example webhook without the log line that it writes per request; ``blank`` knows the answers
    beforehand; ``source`` is Karmada's.
    """

    go: str
    karmada: str
    gojq: str
    source: Path
    webhook: Path
    quiet: Path
    blank: Path
    load: Path
    client: Path
    core: Path


def build() -> Programs | None:
    """Build what is not yet there, None where there is no Go; its own cache makes the second time fast.

    Raises BuildError.
    """
    if not shutil.which("go"):
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "karta-interpreter" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    karmada: dict[str, str] = json.loads(_go("mod", "download", "-json", _KARMADA))
    gojq: dict[str, str] = json.loads(_go("mod", "download", "-json", _GOJQ))
    source = Path(karmada["Dir"])
    overlay = _without_log_line(folder, source)
    programs = Programs(
        _go("env", "GOVERSION").strip(),
        karmada["Version"],
        gojq["Version"],
        source,
        **{name: folder / name for name in ("webhook", "quiet", "blank", "load", "client", "core")},
    )
    for name in ("webhook", "blank", "load", "client", "core"):
        _go("build", "-o", str(folder / name), f"./{name}")
    _go("build", "-overlay", str(overlay), "-o", str(programs.quiet), "./webhook")
    return programs


def _without_log_line(folder: Path, source: Path) -> Path:
    """Write what shows Go a copy of the example that logs no request; return the name of the file."""
    lines = (source / _EXAMPLE / "workloadwebhook.go").read_text().splitlines(keepends=True)
    kept = [line for line in lines if not any(sign in line for sign in _LOGGING)]
    if len(kept) != len(lines) - len(_LOGGING):
        raise BuildError("Karmada's example does not log as it did: look at it again")
    main = (_SOURCE / "webhook" / "main.go").read_text()
    (folder / "workloadwebhook.go").write_text("".join(kept))
    (folder / "main.go").write_text(main.replace(f"{_KARMADA}/{_EXAMPLE}", f"{_MODULE}/app"))
    shown = {
        _SOURCE / "app" / "webhook.go": source / _EXAMPLE / "webhook.go",
        _SOURCE / "app" / "workloadwebhook.go": folder / "workloadwebhook.go",
        _SOURCE / "webhook" / "main.go": folder / "main.go",
    }
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": {str(place): str(file) for place, file in shown.items()}}))
    return overlay


def _go(*arguments: str) -> str:
    done = subprocess.run(
        ["nice", "go", *arguments], cwd=_SOURCE, env=os.environ | _GO, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout
