"""The page of a release on GitHub, with its files."""

import subprocess
from pathlib import Path

from deploy.release import notes
from deploy.release.programs import find
from deploy.release.project import Project


def publish(target: Path, stated: Project) -> None:
    """Write the page as a draft, add all files, then publish it; continue where an earlier attempt has failed."""
    options = ["--title", stated.tag, "--notes-file", str(target / notes.FILE), "--verify-tag", "--draft"]
    if stated.prerelease:
        options.append("--prerelease")
    if _gh("view", stated.tag).returncode:
        _must("create", stated.tag, *options)
    paths = sorted(path for path in target.iterdir() if path.name != notes.FILE)
    _must("upload", stated.tag, "--clobber", *map(str, paths))
    _must("edit", stated.tag, "--draft=false")


def _must(*arguments: str) -> None:
    done = _gh(*arguments)
    if done.returncode:
        raise SystemExit(f"gh release {arguments[0]} failed: {done.stderr}")


def _gh(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [find("gh"), "release", *arguments]
    return subprocess.run(command, check=False, text=True, capture_output=True)  # noqa: S603 - our own words
