"""Other programs, run to their end."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from deploy.write_kustomize import tool

_BUILT = ("helm", "kustomize", "crane")


def find(name: str) -> str:
    """Return where a program is; there is no release without it."""
    found = tool(name)
    if not found:
        raise SystemExit(f"{name} is missing" + (": run `make tools`" if name in _BUILT else ""))
    return found


def run(
    program: str, *arguments: str, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program, given by its name or its path, and stop with what it printed if it fails."""
    command = [program if "/" in program else find(program), *arguments]
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=folder, env={**os.environ, **(variables or {})}, check=False, text=True, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join([program, *arguments])} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done
