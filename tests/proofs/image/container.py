"""Programs in the image, started by an OCI runtime with the restrictions of the chart's Deployment."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml

from tests.proofs.image.building import ROOT, Image
from tests.support.waiting import HANG

_DEPLOYMENT = ROOT / "deploy" / "kustomize" / "base" / "deployment.yaml"
_UNITS = {"Mi": 2**20, "Gi": 2**30}
# crun accepts no hybrid of the two versions of cgroups: it sees version 1 where there are both.
_START = """
if [ -e /sys/fs/cgroup/unified/cgroup.controllers ]; then umount /sys/fs/cgroup/unified; fi
exec crun --root "$1/state" --cgroup-manager=cgroupfs run --bundle "$1" "$2"
"""


@dataclass
class Container:
    """A container that runs; ``log`` is what it writes."""

    folder: Path
    child: "subprocess.Popen[bytes]"
    name: str

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")

    @property
    def pid(self) -> int:
        """The process, as this machine sees it."""
        state = self._crun("state")
        pid: int = json.loads(state.stdout)["pid"]
        return pid

    def signal(self, name: str) -> None:
        self._crun("kill", name)

    def wait(self, seconds: float = HANG) -> int:
        """Wait for the end and return the exit code; raises TimeoutExpired."""
        return self.child.wait(seconds)

    def _crun(self, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        line = ["crun", "--root", str(self.folder / "state"), command, self.name, *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=True)


@dataclass(frozen=True)
class Restrictions:
    """What the chart's Deployment allows its container."""

    uid: int
    gid: int
    memory: int
    seconds_to_end: int
    arguments: tuple[str, ...]
    mounts: Mapping[str, Path] = field(default_factory=dict)
    """Folders of this machine by their path in the container; they are read-only there."""

    @classmethod
    def of_chart(cls, mounts: Mapping[str, Path]) -> "Restrictions":
        """Read them from what the chart renders; everything else that it sets is what `_config` has."""
        spec = yaml.safe_load(_DEPLOYMENT.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }
        limit = container["resources"]["limits"]["memory"]
        user = spec["securityContext"]
        return cls(
            user["runAsUser"],
            user["runAsGroup"],
            int(limit[:-2]) * _UNITS[limit[-2:]],
            spec["terminationGracePeriodSeconds"],
            tuple(container["args"]),
            mounts,
        )


@contextmanager
def running(
    folder: Path, image: Image, restrictions: Restrictions, *command: str, memory: int | None = None
) -> Iterator[Container]:
    """Start a command in the image; kill it at the end of the block."""
    folder.mkdir(parents=True)
    name = f"karta-interpreter-{uuid4().hex[:12]}"
    config = _config(image, restrictions, command, name, memory or restrictions.memory)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    start = ["unshare", "--mount", "sh", "-euc", _START, "sh", str(folder), name]
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(start, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ)
    container = Container(folder, child, name)
    try:
        yield container
    finally:
        if child.poll() is None:
            container.signal("KILL")
            child.wait(HANG)


def output(folder: Path, image: Image, restrictions: Restrictions, *command: str) -> str:
    """Run a command to its end, which is a success, and return what it wrote."""
    with running(folder, image, restrictions, *command) as container:
        code = container.wait()
    assert code == 0, container.log
    return container.log


def _config(
    image: Image, restrictions: Restrictions, command: tuple[str, ...], name: str, memory: int
) -> dict[str, Any]:
    shown = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["size=16m", "mode=1777"]},  # noqa: S108 - as in the chart
    ]
    shown += [
        {"destination": path, "type": "bind", "source": str(source), "options": ["rbind", "ro"]}
        for path, source in restrictions.mounts.items()
    ]
    return {
        "ociVersion": "1.0.2",
        "root": {"path": str(image.root), "readonly": True},
        "process": {
            "args": list(command),
            "cwd": image.config.get("WorkingDir") or "/",
            "env": image.config["Env"],
            "user": {"uid": restrictions.uid, "gid": restrictions.gid},
            "capabilities": {kind: [] for kind in ("bounding", "effective", "permitted", "inheritable", "ambient")},
            "noNewPrivileges": True,
        },
        "mounts": shown,
        "linux": {
            # The network is that of this machine, so that tests reach the server on loopback.
            "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
            "cgroupsPath": f"/{name}",
            "resources": {"memory": {"limit": memory}},
        },
    }
