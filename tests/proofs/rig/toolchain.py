"""Go: sources from the module proxy, and programs built from them once and kept in the user's cache."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_GO = {"GOFLAGS": "-mod=mod -trimpath -buildvcs=false", "CGO_ENABLED": "0", "GOWORK": "off"}


class BuildError(Exception):
    """The binaries are not there and cannot be built."""


def require_go() -> None:
    """Raise BuildError where there is no Go."""
    if not shutil.which("go"):
        raise BuildError("the programs are built once from source: install Go 1.25 or newer")


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold a lock between processes until the end of the block."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def module_folder(module: str, version: str) -> Path:
    """Return the folder of a module's source."""
    answer: dict[str, str] = json.loads(go("mod", "download", "-json", f"{module}@{version}", within=Path.home()))
    return Path(answer["Dir"])


def kubernetes_replaces(version: str) -> list[str]:
    """Return the lines of a go.mod that build Kubernetes with its published libraries."""
    # Its own go.mod takes them from folders of its repository, which a module does not carry.
    text = (module_folder("k8s.io/kubernetes", version) / "go.mod").read_text(encoding="utf-8")
    libraries = re.findall(r"^\t(k8s\.io/\S+) => \./staging/", text, re.MULTILINE)
    published = version.replace("v1.", "v0.")
    return [f"replace {library} => {library} {published}" for library in libraries]


def build_package(
    package: str, target: Path, module: Path, link: str, say: Callable[[str], None], **environment: str
) -> None:
    """Build a program within a module, and print the time that it took.

    A target whose name ends with ``.test`` is the program of a package's tests.
    """
    begun = time.monotonic()
    verb = ("test", "-c", "-vet=off") if target.suffix == ".test" else ("build",)
    # Built next to its path: a binary that exists is complete.
    go(*verb, "-ldflags", link, "-o", f"{target}.new", package, within=module, **environment)
    Path(f"{target}.new").rename(target)
    say(f"built {target.name:<28} {time.monotonic() - begun:6.0f} s")


def go(*arguments: str, within: Path, **environment: str) -> str:
    """Run Go and return its output; raises BuildError with the end of what it wrote."""
    variables = os.environ | _GO | environment
    done = subprocess.run(
        ["nice", "go", *arguments], cwd=within, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout
