"""The two sides of ``karta-interpreter diff``: files, the catalogue, and the catalogue of a git revision."""

import io
import subprocess
import tarfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from karta_interpreter.cli.definitions import Interpreter, interpreter_for
from karta_interpreter.cli.files import STDIN, is_url
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.loading import CORE
from karta_interpreter.sources.files import load_catalogue
from karta_interpreter.suggestion import did_you_mean

CATALOGUE = "catalogue"
_FOLDER = "kartas"
"""Where a repository has the catalogue, a folder for each group, version and kind."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its name, and what answers for a kind, None where nothing does."""

    name: str
    find: Callable[[GVK], Interpreter | None]


def side_of(text: str, opened: ExitStack) -> Side:
    """Read a side as the command line names it; raises UsageProblem for a name that is none.

    A path holds Kartas or customizations. ``catalogue`` is the embedded one, a kind is one definition of it, and
    ``@REVISION`` after either takes the catalogue from a git revision. ``opened`` removes what was checked out.
    """
    if text == STDIN or is_url(text) or Path(text).exists():
        return Side(text, cache(lambda gvk: _given(gvk, [text])))
    name, at, revision = text.partition("@")
    if at and not revision:
        raise UsageProblem(f"error: {text}: give a git revision after the @")
    if name != CATALOGUE and not revision:
        _check_kind(name)
    find = partial(_at_revision, _checked_out(revision, opened)) if revision else _in_catalogue
    return Side(text, cache(lambda gvk: find(gvk) if _is_about(name, gvk) else None))


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (CATALOGUE, gvk.kind.lower(), f"{gvk.api_version}/{gvk.kind}".lower())


def _check_kind(name: str) -> None:
    known = [entry.definition.gvk for entry in load_catalogue().entries]
    if not any(_is_about(name, gvk) for gvk in known):
        hint = did_you_mean(name, sorted({gvk.kind for gvk in known}))
        raise UsageProblem(f"error: {name} is no file, no kind of the catalogue and not catalogue[@REVISION]; {hint}")


def _given(gvk: GVK, paths: list[str]) -> Interpreter | None:
    try:
        return interpreter_for(gvk, paths, [])
    except Problem as problem:
        if "no definition for" in problem.message:
            return None
        raise


def _in_catalogue(gvk: GVK) -> Interpreter | None:
    return _given(gvk, [])


def _at_revision(folder: Path, gvk: GVK) -> Interpreter | None:
    place = folder / (gvk.group or CORE) / gvk.version / gvk.kind
    return _given(gvk, [str(place)]) if place.is_dir() else None


def _checked_out(revision: str, opened: ExitStack) -> Path:
    """Return a folder with the catalogue of a git revision of the repository around the current folder."""
    top = _git(revision, "rev-parse", "--show-toplevel").decode().strip()
    content = _git(revision, "-C", top, "archive", "--format=tar", revision, "--", _FOLDER)
    folder = Path(opened.enter_context(TemporaryDirectory(prefix="karta-interpreter-")))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return folder / _FOLDER


def _git(revision: str, *arguments: str) -> bytes:
    problem = f"error: cannot read the catalogue of git revision {revision}"
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout  # noqa: S603, S607 - no shell
    except FileNotFoundError as error:
        raise Problem(f"{problem}: git is not installed") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()
        raise Problem(f"{problem}: {reason[-1] if reason else 'git failed'}") from error
