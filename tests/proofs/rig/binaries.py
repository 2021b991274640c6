"""The programs of a Karmada control plane, built from the Go module proxy once and kept in the user's cache.

One module requires Karmada, Kubernetes and etcd together, so that what they share is compiled once; metrics-server
requires other libraries than they do, and so do API servers of another release than that of Karmada's libraries. A
Karmada from a folder or an archive of its source is built by its own go.mod, and runs with the etcd and the API servers
of the newest. Run as a program it builds what the tests need, and prints the time of each build.
"""

import os
import re
import shutil
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.proofs.rig.toolchain import (
    BuildError,
    build_package,
    go,
    kubernetes_replaces,
    locked,
    module_folder,
    require_go,
)


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one control plane."""

    karmada: str
    kubernetes: str
    """Release of the API servers."""
    libraries: str
    """Release of Kubernetes whose libraries Karmada is built with."""
    source: Path | None = None
    """The folder of Karmada's source; without one it comes from the module proxy."""

    @property
    def folder(self) -> Path:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        versions = f"karmada-{self.karmada}-kubernetes-{self.kubernetes}-etcd-{ETCD}"
        return Path(home) / "karta-interpreter" / "e2e" / versions


ETCD = "v3.6.7"
METRICS_SERVER = "v0.9.0"
SUITE = "karmada-suite.test"
"""Karmada's own end-to-end tests; ginkgo takes a program for tests by the end of its name."""
NEWEST = Versions("v1.18.2", "v1.35.3", "v1.35.3")
OLDEST = Versions("v1.17.1", "v1.30.14", "v1.35.3")
KARMADA, KUBERNETES = NEWEST.karmada, NEWEST.kubernetes

_KARMADA = "github.com/karmada-io/karmada"
_PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "karmada-aggregated-apiserver": f"{_KARMADA}/cmd/aggregated-apiserver",
    "karmada-webhook": f"{_KARMADA}/cmd/webhook",
    "karmada-controller-manager": f"{_KARMADA}/cmd/controller-manager",
    "karmada-scheduler": f"{_KARMADA}/cmd/scheduler",
    "karmada-agent": f"{_KARMADA}/cmd/agent",
    "karmada-scheduler-estimator": f"{_KARMADA}/cmd/scheduler-estimator",
    "karmadactl": f"{_KARMADA}/cmd/karmadactl",
    SUITE: f"{_KARMADA}/test/e2e/suites/base",
    "ginkgo": "github.com/onsi/ginkgo/v2/ginkgo",
}
_METRICS_SERVER = f"metrics-server-{METRICS_SERVER}"
_CALLER = Path(__file__).with_name("caller.go")
_KUBERNETES = "k8s.io/kubernetes/"
_OPTIONAL = {"karmadactl", "karmada-agent"}
_ON_DEMAND = {"karmada-scheduler-estimator", SUITE, "ginkgo"}
_SOURCES = {".go", ".mod", ".sum", ".yaml"}
_AS_IT_IS = {"GOFLAGS": "-trimpath -buildvcs=false"}
"""Leaves the go.mod of a module alone."""
_MANIFESTS = {"crds": "charts/karmada/_crds/bases", "deploy": "artifacts/deploy"}


def chosen() -> Versions:
    """Return the versions for the Karmada at KARMADA_SOURCE, or of the name in KARMADA; by default the newest.

    The API servers are those of the release in KUBERNETES, by default the one that goes with this Karmada.
    """
    if path := os.environ.get("KARMADA_SOURCE"):
        versions = of_source(Path(path))
    else:
        name = os.environ.get("KARMADA") or NEWEST.karmada
        known = {each.karmada: each for each in (NEWEST, OLDEST)}
        versions = known.get(name, replace(NEWEST, karmada=name))
    release = os.environ.get("KUBERNETES")
    return replace(versions, kubernetes=release) if release else versions


def of_source(path: Path) -> Versions:
    """Return the versions for a folder or an archive of Karmada's source, named by what is in it.

    Raises BuildError where it is not there, or is not Karmada.
    """
    if not path.exists():
        raise BuildError(f"{path} of KARMADA_SOURCE does not exist")
    folder = path.resolve() if path.is_dir() else _unpacked(path)
    found = next((file for pattern in ("go.mod", "*/go.mod") for file in sorted(folder.glob(pattern))), None)
    text = found.read_text(encoding="utf-8") if found else ""
    libraries = re.search(r"^\tk8s\.io/component-base v0\.(\S+)$", text, re.MULTILINE)
    if found is None or f"module {_KARMADA}\n" not in text or libraries is None:
        raise BuildError(f"{path} of KARMADA_SOURCE is not the source of Karmada: its go.mod is missing")
    files = sorted(file for file in found.parent.rglob("*") if file.suffix in _SOURCES)
    states = "".join(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}\n" for file in files)
    name = f"source-{sha256(states.encode()).hexdigest()[:12]}"
    return Versions(name, NEWEST.kubernetes, f"v1.{libraries[1]}", found.parent)


def _unpacked(archive: Path) -> Path:
    digest = sha256(archive.read_bytes()).hexdigest()[:12]
    folder = NEWEST.folder.with_name(f"source-{digest}")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as new, tarfile.open(archive) as files:
            files.extractall(new, filter="data")
            Path(new).rename(folder)
            Path(new).mkdir()  # for the block to remove
    return folder


def build(say: Callable[[str], None] = print, versions: Versions = NEWEST) -> Path:
    """Return the folder of the binaries, and of Karmada's manifests in ``crds`` and ``deploy``; build what is missing.

    Raises BuildError where there is no Go, or when Go fails.
    """
    folder = build_some(_PACKAGES.keys() - _ON_DEMAND, say, versions)
    with locked(folder / "lock"):
        if not (folder / _METRICS_SERVER).exists():
            _make_metrics_server(folder, say)
        _make_caller(folder, versions)
    return folder


def build_core(say: Callable[[str], None], versions: Versions) -> Path:
    """Return the folder of the binaries as `build` does; it has the control plane and its API servers only."""
    return build_some(_PACKAGES.keys() - _OPTIONAL - _ON_DEMAND, say, versions)


def build_some(names: Iterable[str], say: Callable[[str], None], versions: Versions = NEWEST) -> Path:
    """Return the folder of the binaries as `build` does; it has these programs only."""
    folder = versions.folder
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [*sorted(names), *_MANIFESTS]
    # What exists is complete: nobody waits for the programs of others.
    if not all((folder / name).exists() for name in wanted):
        with locked(folder / "lock"):
            missing = [name for name in wanted if not (folder / name).exists()]
            if missing:
                _make(versions, [name for name in missing if name not in _MANIFESTS], say)
    return folder


def karmada_source(versions: Versions = NEWEST) -> Path:
    """Return the folder of Karmada's source."""
    return versions.source or module_folder(_KARMADA, versions.karmada)


def metrics_server(folder: Path) -> Path:
    return folder / _METRICS_SERVER


def caller(folder: Path) -> Path:
    """Return where the program is that calls as Karmada does."""
    return folder / _CALLER.stem


def _make(versions: Versions, missing: Iterable[str], say: Callable[[str], None]) -> None:
    require_go()
    karmada = karmada_source(versions)
    for name, source in _MANIFESTS.items():
        if not (versions.folder / name).exists():
            _copy(karmada / source, versions.folder / name)
    if versions.source:
        _make_of_source(versions, versions.source, missing, say)
        return
    for name in missing:
        package = _PACKAGES[name]
        own = package.startswith(_KUBERNETES) and versions.kubernetes != versions.libraries
        lines = kubernetes_mod(versions.kubernetes) if own else go_mod(versions)
        release = versions.kubernetes if own else versions.libraries
        # Members report the version of their API server, and a development version is none that Karmada can compare.
        link = f"-s -w -X k8s.io/component-base/version.gitVersion={release}"
        module = _module(versions.folder / ("kubernetes" if own else "module"), lines)
        build_package(package, versions.folder / name, module, link, say)


def _make_of_source(versions: Versions, source: Path, missing: Iterable[str], say: Callable[[str], None]) -> None:
    own = {name for name in missing if _PACKAGES[name].startswith(f"{_KARMADA}/")}
    pinned = build_some(set(missing) - own, say, replace(NEWEST, kubernetes=versions.kubernetes))
    for name in set(missing) - own:
        shutil.copy2(pinned / name, versions.folder / name)
    link = f"-s -w -X k8s.io/component-base/version.gitVersion={versions.libraries}"
    for name in sorted(own):
        build_package(_PACKAGES[name], versions.folder / name, source, link, say, **_AS_IT_IS)


def _module(folder: Path, lines: Iterable[str]) -> Path:
    folder.mkdir(exist_ok=True)
    if not (folder / "go.mod").exists():
        (folder / "go.mod").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def _make_metrics_server(folder: Path, say: Callable[[str], None]) -> None:
    require_go()
    begun = time.monotonic()
    package = f"sigs.k8s.io/metrics-server/cmd/metrics-server@{METRICS_SERVER}"
    # -mod is for a module of one's own.
    released = {"GOFLAGS": "-trimpath -buildvcs=false", "GOBIN": str(folder)}
    go("install", "-ldflags", "-s -w", package, within=folder, **released)
    (folder / "metrics-server").rename(folder / _METRICS_SERVER)
    say(f"built {_METRICS_SERVER:<28} {time.monotonic() - begun:6.0f} s")


def _make_caller(folder: Path, versions: Versions) -> None:
    target = folder / _CALLER.stem
    if target.exists() and target.stat().st_mtime > _CALLER.stat().st_mtime:
        return
    require_go()
    module, environment = (versions.source, _AS_IT_IS) if versions.source else (folder / "module", {})
    go("build", "-ldflags", "-s -w", "-o", str(target), str(_CALLER), within=module, **environment)


def _copy(source: Path, target: Path) -> None:
    with TemporaryDirectory(dir=target.parent) as name:
        new = Path(name) / target.name
        for file in source.rglob("*.yaml"):
            copy = new / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
        new.rename(target)


def go_mod(versions: Versions = NEWEST) -> list[str]:
    """Return the lines of the go.mod that all programs but metrics-server are built with."""
    return [
        "module karta-interpreter.io/e2e",
        "go 1.25.0",
        f"require {_KARMADA} {versions.karmada}",
        f"require k8s.io/kubernetes {versions.libraries}",
        f"require go.etcd.io/etcd/server/v3 {ETCD}",
        *kubernetes_replaces(versions.libraries),
    ]


def kubernetes_mod(release: str) -> list[str]:
    required = f"require k8s.io/kubernetes {release}"
    return ["module karta-interpreter.io/kubernetes", "go 1.25.0", required, *kubernetes_replaces(release)]


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build()}\n{build_core(print, OLDEST)}\n")
    except BuildError as error:
        sys.exit(str(error))
