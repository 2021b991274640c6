"""The charts in a registry of OCI artifacts."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.release.programs import find, run
from deploy.release.project import CHARTS, Project


def push(target: Path, stated: Project, address: str, *, sign: bool, plain_http: bool = False) -> list[str]:
    """Push the packed charts, and sign each by its digest; return what was pushed.

    A chart that is pushed again has the same digest, since its bytes are the same, so a step that failed is run again.
    """
    pushed = []
    for chart in CHARTS:
        options = ["--plain-http"] if plain_http else []
        done = run("helm", "push", str(target / f"{chart}-{stated.version}.tgz"), address, *options)
        digest = re.search(r"sha256:[0-9a-f]{64}", done.stdout + done.stderr)
        if not digest:
            raise SystemExit(f"helm push names no digest: {done.stdout}{done.stderr}")
        pushed.append(f"{address.removeprefix('oci://')}/{chart}@{digest[0]}")
        if sign:
            run("cosign", "sign", "--yes", pushed[-1])
    return pushed


def rehearse(target: Path, stated: Project) -> None:
    """Push the charts to a registry on this machine and pull them: they are the same bytes."""
    with local() as host, tempfile.TemporaryDirectory() as folder:
        address = f"oci://{host}/charts"
        push(target, stated, address, sign=False, plain_http=True)
        for chart in CHARTS:
            name = f"{chart}-{stated.version}.tgz"
            options = ["--version", stated.version, "--destination", folder, "--plain-http"]
            run("helm", "pull", f"{address}/{chart}", *options)
            if (target / name).read_bytes() != (Path(folder) / name).read_bytes():
                raise SystemExit(f"{name}: what was pulled is not what was pushed")


@contextmanager
def local() -> Iterator[str]:
    """Yield the address of an empty registry on this machine."""
    command = [find("crane"), "registry", "serve", "--address", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own words
        try:
            assert server.stderr  # noqa: S101 - it is a pipe
            port = re.search(r"port (\d+)", server.stderr.readline())
            if not port:
                raise SystemExit("crane serves no registry")
            yield f"127.0.0.1:{port[1]}"
        finally:
            server.terminate()
