"""The commit that is released: files are built from it, never from the work tree."""

import io
import subprocess
import tarfile
from pathlib import Path


def git(root: Path, *arguments: str) -> str:
    """Return what a command of git prints."""
    done = subprocess.run(  # noqa: S603 - our own words
        ["git", *arguments],  # noqa: S607 - the git of the path
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.rstrip("\n")


def revision(root: Path, name: str = "HEAD") -> str | None:
    """Return the hash of a commit, or None where there is no such commit."""
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except (subprocess.CalledProcessError, FileNotFoundError):
        return None


def epoch(root: Path) -> int:
    """Return when the commit was made, in seconds; every time in a built file is this one."""
    return int(git(root, "log", "-1", "--format=%ct"))


def uncommitted(root: Path) -> list[str]:
    """Return the files that differ from the commit, and those that git does not know."""
    return [line[3:] for line in git(root, "status", "--porcelain=v1").splitlines()]


def checkout(root: Path, folder: Path) -> Path:
    """Write the files of the commit into a new folder."""
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=root, check=True, stdout=subprocess.PIPE)  # noqa: S607
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder
