"""The image, built by `deploy/image.sh` on bases made from Debian's packages, and unpacked."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[3]
_NAME = f"localhost/karta-interpreter:test-{os.getpid()}"
_TOOLS = ("buildah", "crun", "git", "mmdebstrap")


class BuildError(Exception):
    """The image cannot be built."""


@dataclass(frozen=True)
class Image:
    """The image's configuration, its root file system, and that of its base; both can be written to."""

    config: dict[str, Any]
    root: Path
    base: Path
    digest_of_base: str


def missing() -> str:
    """Return what keeps this machine from building the image, or nothing."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux"
    absent = [tool for tool in _TOOLS if not shutil.which(tool)]
    if absent:
        return f"needs {', '.join(absent)}: apt-get install {' '.join(absent)}"
    may_mount = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
    return "" if may_mount else "needs the right to mount file systems"


@contextmanager
def built(source: Path, **environment: str) -> Iterator[Image]:
    """Build the image of the files in a folder; remove it at the end. Raises BuildError."""
    _run([source / "deploy" / "image.sh"], BASE="debian", IMAGE=_NAME, **environment)
    config = json.loads(_buildah("inspect", "--type", "image", _NAME))["OCIv1"]["config"]
    base = config["Labels"]["org.opencontainers.image.base.name"]
    containers = [_buildah("from", "--pull-never", image) for image in (_NAME, base)]
    digest = _buildah("inspect", "--type", "image", "--format", "{{.FromImageDigest}}", base)
    try:
        root, below = (Path(_buildah("mount", container)) for container in containers)
        yield Image(config, root, below, digest)
    finally:
        _buildah("rm", *containers)
        _buildah("rmi", _NAME)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Return a folder with the files of a commit, and nothing else."""
    with TemporaryDirectory() as folder:
        archive = Path(folder) / "source.tar"
        _run(["git", "-C", ROOT, "archive", "--output", archive, commit])
        with tarfile.open(archive) as files:
            files.extractall(Path(folder) / "source", filter="data")
        yield Path(folder) / "source"


def commit() -> str:
    """Return the name of the commit that is tested: ``COMMIT``, or else the last one."""
    return _run(["git", "-C", ROOT, "rev-parse", os.environ.get("COMMIT", "HEAD")])


def _buildah(*arguments: str) -> str:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "karta-interpreter" / "image"
    return _run(["buildah", *arguments], CONTAINERS_STORAGE_CONF=str(cache / "storage.conf"))


def _run(command: Sequence[str | Path], **environment: str) -> str:
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(map(str, command))} failed:\n{done.stderr[-4000:]}")
    return done.stdout.strip()
