"""Where the source of a project is had: Go modules from the module proxy, and checkouts of Git."""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Protocol, TypeAlias
from zipfile import ZipFile

from docs.tools.upstreams import Upstream
from tests.proofs.rig.toolchain import BuildError, go

_RELEASE: Final = re.compile(r"(?:release-)?v?(\d+)\.(\d+)(?:\.(\d+))?((?:-[a-z]+\.?\d+)*)(?:\+\w+)?")
Order: TypeAlias = tuple[int, int, int, bool, tuple[int, ...]]


class Source(Protocol):
    """The source of a project in all its versions."""

    def releases(self) -> Sequence[str]:
        """Return the names of its releases, as far as they are known."""

    def has(self, version: str) -> bool:
        """Return whether a version can be had."""

    def files(self, version: str, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the files of a version that fit a pattern, each with its text, by their paths."""


@dataclass(frozen=True)
class Checkout:
    """A repository of Git, with or without a work tree. Its files are read from tags and commits."""

    git: Path
    folder: str = ""

    def releases(self) -> Sequence[str]:
        """Return its tags."""
        return self._git("tag").split()

    def has(self, version: str) -> bool:
        """Return whether it has a tag or a commit."""
        try:
            self._git("cat-file", "-e", f"{version}^{{commit}}")
        except BuildError:
            return False
        return True

    def files(self, version: str, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield files as text."""
        listed = self._git("ls-tree", "-r", "-z", "--name-only", f"{version}:{self.folder}").split("\0")[:-1]
        for path in _fitting(listed, patterns):
            yield path, self._git("show", f"{version}:{self.folder}{'/' * bool(self.folder)}{path}")

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", self.git, *arguments], capture_output=True, check=False)
        if done.returncode:
            raise BuildError(f"git {' '.join(arguments)} in {self.git.name}: {done.stderr.decode()}")
        return done.stdout.decode(errors="replace")


@dataclass(frozen=True)
class Module:
    """A Go module. The proxy lists few versions, and has more.

    ``nested`` has the folders of its repository that are modules of their own, each with the path of its module.
    """

    path: str
    nested: Mapping[str, str] = field(default_factory=dict)

    def releases(self) -> Sequence[str]:
        """Return the versions that the proxy lists."""
        try:
            return go("list", "-m", "-versions", self.path, within=Path.home()).split()[1:]
        except BuildError:
            return ()

    def has(self, version: str) -> bool:
        """Return whether the proxy has a version."""
        return self._archive(version) is not None

    def files(self, version: str, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield files as text. Raises BuildError if the proxy lacks the module of a folder in a pattern."""
        for folder, path in self.nested.items():
            within = [pattern.removeprefix(f"{folder}/") for pattern in patterns if pattern.startswith(f"{folder}/")]
            if within:
                for name, text in _nested_files(Module(path), version, within):
                    yield f"{folder}/{name}", text
        archive = self._archive(version)
        assert archive, f"there is no {self.path} {version}"
        root = f"{self.path}@{version}/"
        with ZipFile(archive) as files:
            for path in _fitting((name.removeprefix(root) for name in files.namelist()), patterns):
                yield path, files.read(root + path).decode()

    def _archive(self, version: str) -> str | None:
        # A Go that is too old to build the module has its archive all the same, and fails.
        command = ["go", "mod", "download", "-json", f"{self.path}@{version}"]
        done = subprocess.run(command, cwd=Path.home(), capture_output=True, text=True, check=False)
        archive: str | None = json.loads(done.stdout or "{}").get("Zip")
        return archive


def _nested_files(module: Module, version: str, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    # Kubernetes 1.35 has its libraries as 0.35.
    for own in dict.fromkeys((version, re.sub(r"^v1\.", "v0.", version))):
        if module.has(own):
            yield from module.files(own, patterns)
            return
    raise BuildError(f"the module proxy has no {module.path} {version}")


def _fitting(paths: Iterable[str], patterns: Sequence[str]) -> list[str]:
    names = [pattern.replace("**/", "*") for pattern in patterns]
    return sorted(path for path in paths if any(fnmatchcase(path, name) for name in names))


def sources_of(upstream: Upstream, folder: Path | None) -> list[Source]:
    """Return where a project can be had: a checkout below a folder (OWNER+NAME or NAME), and its module."""
    owner, _, name = upstream.repository.partition("/")
    found: list[Source] = []
    for place in (folder / f"{owner}+{name}", folder / name) if folder else ():
        git = next((path for path in (place / "repo", place) if path.is_dir()), None)
        if git:
            found.append(Checkout(git, upstream.folder))
            break
    return [*found, *([Module(upstream.module, upstream.modules)] if upstream.module else ())]


def clone(upstream: Upstream, folder: Path) -> None:
    """Clone a repository without its files, which Git then gets as they are read, unless it is there."""
    place = folder / upstream.repository.replace("/", "+")
    if not place.exists():
        source = f"https://github.com/{upstream.repository}"
        subprocess.run(["git", "clone", "--quiet", "--bare", "--filter=blob:none", source, place], check=True)


def newest(sources: Sequence[Source], release: str) -> str:
    """Return the newest release of the same major version that can be had, itself if there is no newer one.

    Releases before a final one count only for a project that was written from one.

    >>> class Tags:
    ...     def releases(self): return ["v0.9.1", "v0.10.0", "v0.11.0-rc.1", "v0.12.0", "v1.0.0", "latest"]
    ...     def has(self, version): return version != "v0.12.0"
    >>> newest([Tags()], "v0.9.0"), newest([Tags()], "v0.10.0-rc.1"), newest([], "v0.9.0")
    ('v0.10.0', 'v0.11.0-rc.1', 'v0.9.0')
    """
    own = order(release)
    if own is None:
        return release
    names = {name: key for source in sources for name in source.releases() if (key := order(name))}
    newer = [name for name, key in names.items() if key > own and key[0] == own[0] and (key[3] or not own[3])]
    ranked = sorted(newer, key=lambda name: names[name], reverse=True)
    return next((name for name in ranked if any(source.has(name) for source in sources)), release)


def order(name: str) -> Order | None:
    """Return the place of a release among others, None for what is not the name of a release.

    >>> order("release-1.15.0"), order("v0.1.0-alpha.12-rc1"), order("1.9+07169cf"), order("stable")
    ((1, 15, 0, True, ()), (0, 1, 0, False, (12, 1)), (1, 9, 0, True, ()), None)
    """
    match = _RELEASE.fullmatch(name)
    if match is None:
        return None
    major, minor, patch, before = match.groups()
    return int(major), int(minor), int(patch or 0), not before, tuple(map(int, re.findall(r"\d+", before)))
