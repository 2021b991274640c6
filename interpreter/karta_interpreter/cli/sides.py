"""The two sides of ``diff`` and ``replay``: what answers for a kind, as the command line names it."""

import io
import subprocess
import tarfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli.definitions import (
    DefinitionFiles,
    Interpreter,
    NoDefinition,
    interpreter_of,
    print_findings,
    read_existing,
)
from karta_interpreter.cli.files import STDIN, is_url
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.definitions.karta.catalogue import CORE
from karta_interpreter.definitions.sources.files import find_in_catalogue, load_catalogue
from karta_interpreter.definitions.sources.snapshot import SourceDefinitions, combine

CATALOGUE = "catalogue"
_FOLDER = "kartas"
"""The catalogue's folder in a repository, with a folder for each group, version and kind."""


class _Catalogue(NamedTuple):
    """A catalogue, or one kind of it: the embedded one without a ``folder``."""

    name: str
    folder: Path | None

    def find(self, gvk: GVK) -> DefinitionFiles | None:
        """Return the definition of a kind."""
        if not _is_about(self.name, gvk):
            return None
        if self.folder is None:
            entry = find_in_catalogue(gvk)
            return DefinitionFiles(SourceDefinitions((entry,))) if entry else None
        place = self.folder / (gvk.group or CORE) / gvk.version / gvk.kind
        return read_existing([str(place)])[0] if place.is_dir() else None

    def check(self) -> None:
        """Raise UsageProblem for a kind that the catalogue does not have."""
        known = [entry.definition.gvk for entry in load_catalogue().entries]
        if self.folder:
            known += [GVK(*path.parts[-4:-1]) for path in self.folder.glob("*/*/*/karta.yaml")]
        if not any(_is_about(self.name, gvk) for gvk in known):
            is_path = Path(self.name).suffix in (".yaml", ".yml", ".json")
            hint = (
                "there is no such file"
                if is_path
                else did_you_mean(self.name, sorted({CATALOGUE, *(gvk.kind for gvk in known)}))
            )
            known_sides = "a kind of the catalogue or catalogue[@REVISION]"
            raise UsageProblem(f"error: {self.name} is not a file, {known_sides}; {hint}")


class Side:
    """What answers for each kind: files and folders in their order, then catalogues, as `serve` has them."""

    def __init__(self, paths: Sequence[str], catalogues: Sequence[_Catalogue]) -> None:
        self._paths, self._catalogues = paths, catalogues
        self._interpreters: dict[GVK, Interpreter | None] = {}

    def find(self, gvk: GVK) -> Interpreter | None:
        """Return the interpreter of a kind, or None if nothing answers for it. Findings about it go to stderr once."""
        if gvk not in self._interpreters:
            self._interpreters[gvk] = None
            catalogues = [found for catalogue in self._catalogues if (found := catalogue.find(gvk))]
            with suppress(NoDefinition):
                self._interpreters[gvk] = interpreter_of(gvk, [*self._files, *catalogues])
        return self._interpreters[gvk]

    @cached_property
    def _files(self) -> list[DefinitionFiles]:
        files = read_existing(self._paths)
        for path, read in zip(self._paths, files, strict=True):
            if not (read.layer.entries or read.customizations):
                print_findings(combine([read.layer]))
                raise Problem(f"error: {path}: there is no definition in it that can be used")
        return files


def side_of(texts: Sequence[str], opened: ExitStack) -> Side:
    """Read a side as the command line names it. Raises UsageProblem for an unknown name.

    A path holds Kartas or customizations. ``catalogue`` is the embedded one, a kind is one definition of it, and
    ``@REVISION``, on its own or after either, takes the catalogue from a git revision. ``opened`` removes the checkout.
    """
    paths = [text for text in texts if text == STDIN or is_url(text) or Path(text).exists()]
    return Side(paths, [_catalogue(text, opened) for text in texts if text not in paths])


def _catalogue(text: str, opened: ExitStack) -> _Catalogue:
    name, at, revision = text.partition("@")
    if at and (not revision or revision.startswith("-")):  # git would take it for an option
        raise UsageProblem(f"error: {text}: give a git revision after the @")
    catalogue = _Catalogue(name or CATALOGUE, _checked_out(revision, opened) if revision else None)
    if catalogue.name != CATALOGUE:
        catalogue.check()
    return catalogue


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (CATALOGUE, *gvk.names)


def _checked_out(revision: str, opened: ExitStack) -> Path:
    """Return a folder with the catalogue of a git revision of the repository around the current folder."""
    top = _git(revision, "rev-parse", "--show-toplevel").decode().strip()
    # git archive takes a path relative to the current folder, which may be below the top.
    content = _git(revision, "-C", top, "archive", "--format=tar", revision, "--", _FOLDER)
    folder = Path(opened.enter_context(TemporaryDirectory(prefix="karta-interpreter-")))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")  # no links or paths out of the folder: a repository may be hostile
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
