"""The programs of a Karmada control plane, built from the Go module proxy once and kept in the user's cache.

One module requires Karmada, Kubernetes and etcd together, so that what they share is compiled once; metrics-server
requires other libraries than they do. Run as a program it builds and says how long each binary took.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.e2e.rig.toolchain import (
    BuildError,
    build_package,
    go,
    kubernetes_replaces,
    locked,
    module_folder,
    require_go,
)

KARMADA = "v1.18.2"
KUBERNETES = "v1.35.3"  # the release whose libraries that Karmada requires
ETCD = "v3.6.7"
METRICS_SERVER = "v0.9.0"

_KARMADA = "github.com/karmada-io/karmada"
_PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "karmada-aggregated-apiserver": f"{_KARMADA}/cmd/aggregated-apiserver",
    "karmada-webhook": f"{_KARMADA}/cmd/webhook",
    "karmada-controller-manager": f"{_KARMADA}/cmd/controller-manager",
    "karmada-scheduler": f"{_KARMADA}/cmd/scheduler",
    "karmadactl": f"{_KARMADA}/cmd/karmadactl",
}
_METRICS_SERVER = f"metrics-server-{METRICS_SERVER}"
_CALLER = Path(__file__).with_name("caller.go")
_MANIFESTS = {"crds": "charts/karmada/_crds/bases", "deploy": "artifacts/deploy"}
# Members report the version of their API server, and a development version is none that Karmada can compare.
_LINK = f"-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES}"


def cache() -> Path:
    """Where this set of versions is kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    versions = f"karmada-{KARMADA}-kubernetes-{KUBERNETES}-etcd-{ETCD}"
    return Path(home) / "karta-interpreter" / "e2e" / versions


def build(say: Callable[[str], None] = print) -> Path:
    """Return the folder of the binaries, and of Karmada's manifests in ``crds`` and ``deploy``; build what is missing.

    Raises BuildError where there is no Go, or when Go fails.
    """
    folder = build_some(_PACKAGES, say)
    with locked(folder / "lock"):
        if not (folder / _METRICS_SERVER).exists():
            _make_metrics_server(folder, say)
        _make_caller(folder)
    return folder


def build_some(names: Iterable[str], say: Callable[[str], None]) -> Path:
    """Return the folder of the binaries as `build` does; of the programs it has these, and no metrics-server."""
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock"):
        missing = {name: _PACKAGES[name] for name in names if not (folder / name).exists()}
        if missing or not all((folder / name).exists() for name in _MANIFESTS):
            _make(folder, missing, say)
    return folder


def metrics_server(folder: Path) -> Path:
    """Return where metrics-server is."""
    return folder / _METRICS_SERVER


def caller(folder: Path) -> Path:
    """Return where the program is that calls as Karmada does."""
    return folder / _CALLER.stem


def _make(folder: Path, missing: Mapping[str, str], say: Callable[[str], None]) -> None:
    require_go()
    module = folder / "module"
    module.mkdir(exist_ok=True)
    if not (module / "go.mod").exists():
        (module / "go.mod").write_text("\n".join([*go_mod(), ""]), encoding="utf-8")
    for name, source in _MANIFESTS.items():
        _copy(module_folder(_KARMADA, KARMADA) / source, folder / name)
    for name, package in missing.items():
        build_package(package, folder / name, module, _LINK, say)


def _make_metrics_server(folder: Path, say: Callable[[str], None]) -> None:
    require_go()
    begun = time.monotonic()
    package = f"sigs.k8s.io/metrics-server/cmd/metrics-server@{METRICS_SERVER}"
    # -mod is for a module of one's own.
    released = {"GOFLAGS": "-trimpath -buildvcs=false", "GOBIN": str(folder)}
    go("install", "-ldflags", "-s -w", package, within=folder, **released)
    (folder / "metrics-server").rename(folder / _METRICS_SERVER)
    say(f"built {_METRICS_SERVER:<28} {time.monotonic() - begun:6.0f} s")


def _make_caller(folder: Path) -> None:
    target = folder / _CALLER.stem
    if target.exists() and target.stat().st_mtime > _CALLER.stat().st_mtime:
        return
    require_go()
    go("build", "-ldflags", "-s -w", "-o", str(target), str(_CALLER), within=folder / "module")


def _copy(source: Path, target: Path) -> None:
    for file in source.rglob("*.yaml"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())


def go_mod() -> list[str]:
    """Return the lines of the go.mod that all programs but metrics-server are built with."""
    return [
        "module karta-interpreter.io/e2e",
        "go 1.25.0",
        f"require {_KARMADA} {KARMADA}",
        f"require k8s.io/kubernetes {KUBERNETES}",
        f"require go.etcd.io/etcd/server/v3 {ETCD}",
        *kubernetes_replaces(KUBERNETES),
    ]


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build()}\n")
    except BuildError as error:
        sys.exit(str(error))
